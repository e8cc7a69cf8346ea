/** Figures of the moment and of today, which the server counts over all runs. */
import { useMemo } from 'react';
import type { ReactNode } from 'react';
import type { RunSummary } from '../../business/ai/domain/types/RunViews';
import { useLastReady } from '../components/list/useLastReady';
import { useNow } from '../components/useNow';
import type { Loaded } from '../data/DashboardData';
import { formatCount, formatMoney, pluralize } from '../format/format';
import { useData } from '../hooks/BolideProvider';
import { linkTo } from '../shell/route';
import { today } from '../usage/usagePeriod';

const ACTIVE = ['queued', 'running', 'waiting'] as const;
const COUNTS_ONLY = { limit: 1 } as const;
const ACTIVE_FILTER = { state: ACTIVE } as const;

export function Tiles() {
  const data = useData();
  const { from } = today(useNow(60_000));
  const filter = useMemo(() => ({ from }), [from]);
  const inbox = useLastReady(data.useQuery('ai.inbox.list', COUNTS_ONLY)).shown;
  const active = useLastReady(data.useQuery('ai.runs.summary', ACTIVE_FILTER)).shown;
  const todays = useLastReady(data.useQuery('ai.runs.summary', filter)).shown;
  const since = { from: String(from) };
  return (
    <div className="tiles">
      <Tile
        name="Waiting for you"
        href={linkTo(['inbox'])}
        loaded={inbox}
        tone={({ counts }) => (counts.total > 0 ? 'amber' : 'grey')}
      >
        {({ counts }) => formatCount(counts.total)}
      </Tile>
      <Tile
        name="Active runs"
        href={linkTo(['runs'], { state: ACTIVE.join(',') })}
        loaded={active}
        tone={() => 'blue'}
        detail={({ states }) =>
          ACTIVE.flatMap((state) =>
            states[state] === undefined ? [] : [`${formatCount(states[state])} ${state}`],
          ).join(', ')
        }
      >
        {({ total }) => formatCount(total)}
      </Tile>
      <Tile
        name="Completed today"
        href={linkTo(['runs'], { state: 'completed', ...since })}
        loaded={todays}
        tone={() => 'green'}
        detail={({ total }) => `of ${pluralize(total, 'run')}`}
      >
        {({ states }) => formatCount(states.completed ?? 0)}
      </Tile>
      <Tile
        name="Failed today"
        href={linkTo(['runs'], { state: 'failed', ...since })}
        loaded={todays}
        tone={({ states }) => ((states.failed ?? 0) > 0 ? 'red' : 'grey')}
      >
        {({ states }) => formatCount(states.failed ?? 0)}
      </Tile>
      <Tile
        name="Tokens today"
        loaded={todays}
        tone={() => 'grey'}
        detail={({ usage }) => `${formatCount(usage.input_tokens)} in, ${formatCount(usage.output_tokens)} out`}
      >
        {({ usage }) => formatCount(usage.total_tokens)}
      </Tile>
      <Tile name="Cost today" loaded={todays} tone={() => 'grey'} detail={unknownCosts}>
        {costOf}
      </Tile>
    </div>
  );
}

/** A sum that lacks the runs of unknown cost is at least that much. */
function costOf({ total, cost, unpriced }: RunSummary): string {
  if (unpriced.runs === 0) return formatMoney(cost);
  return cost === 0 && unpriced.runs >= total ? 'unknown' : `≥ ${formatMoney(cost)}`;
}

function unknownCosts({ unpriced }: RunSummary): string | undefined {
  if (unpriced.runs === 0) return undefined;
  const why = unpriced.reasons.join('; ') || unpriced.models.join(', ');
  return `${pluralize(unpriced.runs, 'run')} of unknown cost: ${why}`;
}

function Tile<T>({
  name,
  href,
  loaded,
  tone,
  detail,
  children,
}: {
  readonly name: string;
  readonly href?: string;
  readonly loaded: Loaded<T>;
  readonly tone: (value: T) => string;
  readonly detail?: (value: T) => string | undefined;
  readonly children: (value: T) => ReactNode;
}) {
  const inner = (
    <>
      <span className="tile-name">{name}</span>
      <span className="tile-value numeric">{shownValue(loaded, children)}</span>
      <span className="tile-detail">{loaded.state === 'ready' ? detail?.(loaded.value) : undefined}</span>
    </>
  );
  const className = `tile tone-${loaded.state === 'ready' ? tone(loaded.value) : 'grey'}`;
  return href === undefined ? (
    <div className={className}>{inner}</div>
  ) : (
    <a className={className} href={href}>
      {inner}
    </a>
  );
}

function shownValue<T>(loaded: Loaded<T>, show: (value: T) => ReactNode): ReactNode {
  switch (loaded.state) {
    case 'loading':
      return '…';
    case 'failed':
      return <span title={loaded.error.message}>not loaded</span>;
    case 'ready':
      return show(loaded.value);
  }
}
