/** What models may call here, and how it went so far. */
import type { CSSProperties } from 'react';
import { ToolCallState } from '../../business/ai/domain/entities/Tool';
import { useData } from '../data/DataContext';
import type { ToolOffer } from '../data/DashboardData';
import { count, plural } from '../format/format';
import { CALL_STATE_STYLES } from '../format/stateStyles';
import { EmptyState, WhenLoaded } from '../components/Placeholders';
import { PageTitle } from '../components/PageTitle';
import { ToolMarks } from './ToolMarks';

export function ToolsPage() {
  const loaded = useData().useTools();
  return (
    <>
      <PageTitle title="Tools" />
      <WhenLoaded loaded={loaded} what="tools">
        {(tools) =>
          tools.length === 0 ? (
            <EmptyState icon="tools" title="No tools are registered">
              Register functions in the server’s tool registry, and models may call them.
            </EmptyState>
          ) : (
            <ul className="tool-grid">
              {tools.map((tool) => (
                <ToolCard key={tool.name} tool={tool} />
              ))}
            </ul>
          )
        }
      </WhenLoaded>
    </>
  );
}

function ToolCard({ tool }: { readonly tool: ToolOffer }) {
  const states = STATES.flatMap((state) => {
    const amount = tool.counts[state] ?? 0;
    return amount === 0 ? [] : [{ state, amount }];
  });
  const total = states.reduce((sum, { amount }) => sum + amount, 0);
  const ended = (tool.counts.completed ?? 0) + (tool.counts.failed ?? 0) + (tool.counts.timeout ?? 0);
  return (
    <li className="card tool-card" data-tool={tool.name}>
      <div className="tool-head">
        <h2 className="mono">{tool.name}</h2>
        <ToolMarks tool={tool} />
      </div>
      <p className="muted tool-text">{tool.description}</p>
      {total === 0 ? (
        <p className="tool-none muted">Not called yet</p>
      ) : (
        <>
          <div
            className="share"
            role="img"
            aria-label={states.map(({ state, amount }) => `${amount} ${CALL_STATE_STYLES[state].label}`).join(', ')}
          >
            {states.map(({ state, amount }) => (
              <span
                key={state}
                className={`share-part tone-${CALL_STATE_STYLES[state].tone}`}
                style={{ '--share': amount } as CSSProperties}
              />
            ))}
          </div>
          <ul className="legend">
            {states.map(({ state, amount }) => (
              <li key={state} className={`tone-${CALL_STATE_STYLES[state].tone}`}>
                <span className="legend-dot" aria-hidden="true" /> {CALL_STATE_STYLES[state].label}{' '}
                <span className="numeric">{count(amount)}</span>
              </li>
            ))}
          </ul>
          <p className="tool-sum">
            <span className="numeric">{plural(total, 'call')}</span>
            {ended > 0 && (
              <span className="muted">
                {' '}
                · {Math.round((100 * (tool.counts.completed ?? 0)) / ended)}% of those that ran succeeded
              </span>
            )}
          </p>
        </>
      )}
    </li>
  );
}

const STATES = Object.values(ToolCallState);
