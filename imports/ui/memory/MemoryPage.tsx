/** What is remembered about the user: searched, added and deleted. */
import { useState } from 'react';
import type { MemoryEntry } from '../../business/ai/domain/interfaces/Memory';
import { omitUndefined } from '../../business/ai/domain/util/omitUndefined';
import { ConfirmDialog } from '../components/ConfirmDialog';
import { EmptyState } from '../components/EmptyState';
import { Icon } from '../components/Icon';
import { PageTitle } from '../components/PageTitle';
import { WhenLoaded } from '../components/WhenLoaded';
import { Paging } from '../components/list/Paging';
import { SearchField } from '../components/list/SearchField';
import { useLastReady } from '../components/list/useLastReady';
import { pluralize } from '../format/format';
import { useData } from '../hooks/BolideProvider';
import { changeFilters, placeOf } from '../shell/queryParameters';
import type { Route } from '../shell/route';
import { MemoryDialog } from './MemoryDialog';
import { MemoryRow } from './MemoryRow';
import { linkTo } from '../shell/route';

const LIMIT = 50;

export function MemoryPage({ route }: { readonly route: Route }) {
  const search = route.query.get('search') ?? '';
  const [isAdding, setAdding] = useState(false);
  return (
    <>
      <PageTitle title="Memory">
        <button type="button" className="button button-primary" onClick={() => setAdding(true)}>
          <Icon name="plus" /> New memory
        </button>
      </PageTitle>
      <div className="inbox-tools">
        <p className="muted">What assistants know about you in later conversations. Nobody else can read it.</p>
        <SearchField
          value={search}
          label="Search memories"
          placeholder="Search"
          onSearch={(text) => changeFilters(route, { search: text })}
        />
      </div>
      {search === '' ? <AllMemories route={route} /> : <FoundMemories query={search} />}
      {isAdding && <MemoryDialog onClose={() => setAdding(false)} />}
    </>
  );
}

function AllMemories({ route }: { readonly route: Route }) {
  const data = useData();
  const { after } = placeOf(route);
  const { shown, isStale } = useLastReady(data.useQuery('ai.memory.list', omitUndefined({ limit: LIMIT, after })));
  const [isForgetting, setForgetting] = useState(false);
  return (
    <WhenLoaded loaded={shown} what="memories">
      {({ memories, total, next }) =>
        memories.length === 0 && after === undefined ? (
          <EmptyState icon="bookmark" title="Nothing is remembered yet">
            Assistants save here what you tell them about yourself, if the server offers it to them.
          </EmptyState>
        ) : (
          <div className="stack" aria-busy={isStale}>
            <MemoryList memories={memories} />
            {(next !== undefined || after !== undefined) && (
              <Paging route={route} limit={LIMIT} count={memories.length} total={total} next={next} what="memories" />
            )}
            <div className="buttons">
              <button type="button" className="button button-danger" onClick={() => setForgetting(true)}>
                Delete all
              </button>
            </div>
            {isForgetting && (
              <ConfirmDialog
                title="Delete all memories?"
                action="Delete all"
                onConfirm={() => data.call('ai.memory.forget', { all: true })}
                onClose={() => setForgetting(false)}
              >
                <p>{pluralize(total, 'memory', 'memories')} will be deleted for good.</p>
              </ConfirmDialog>
            )}
          </div>
        )
      }
    </WhenLoaded>
  );
}

function FoundMemories({ query }: { readonly query: string }) {
  const { shown, isStale } = useLastReady(useData().useQuery('ai.memory.search', { query, limit: LIMIT }));
  return (
    <WhenLoaded loaded={shown} what="memories">
      {({ memories, notice }) => (
        <div className="stack" aria-busy={isStale}>
          {notice !== undefined && <p className="muted">{notice}</p>}
          {memories.length === 0 ? (
            <EmptyState icon="search" title="Nothing found">
              <a href={linkTo(['memory'])}>Show all memories</a>
            </EmptyState>
          ) : (
            <MemoryList memories={memories} />
          )}
        </div>
      )}
    </WhenLoaded>
  );
}

function MemoryList({ memories }: { readonly memories: readonly MemoryEntry[] }) {
  const data = useData();
  const [forgotten, setForgotten] = useState<MemoryEntry>();
  return (
    <>
      <ul className="entry-list card">
        {memories.map((memory) => (
          <MemoryRow key={memory.id} memory={memory} onForget={() => setForgotten(memory)} />
        ))}
      </ul>
      {forgotten !== undefined && (
        <ConfirmDialog
          title="Delete this memory?"
          action="Delete memory"
          onConfirm={() => data.call('ai.memory.forget', { memoryId: forgotten.id })}
          onClose={() => setForgotten(undefined)}
        >
          <p>
            <bdi>{forgotten.text}</bdi>
          </p>
        </ConfirmDialog>
      )}
    </>
  );
}
