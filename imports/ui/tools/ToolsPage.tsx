/** The registered tools, and how their calls have ended so far. */
import type { CSSProperties } from 'react';
import { ToolCallState } from '../../business/ai/domain/entities/Tool';
import { useData } from '../hooks/BolideProvider';
import type { ToolSummary } from '../../business/ai/domain/types/ToolSummary';
import { formatCount, pluralize } from '../format/format';
import { CALL_STATE_STYLES } from '../format/stateStyles';
import { EmptyState } from '../components/EmptyState';
import { WhenLoaded } from '../components/WhenLoaded';
import { FoldedText } from '../components/FoldedText';
import { PageTitle } from '../components/PageTitle';
import { ToolTags } from './ToolTags';

export function ToolsPage() {
  const loaded = useData().useQuery('ai.tools.list', {});
  return (
    <>
      <PageTitle title="Tools" />
      <WhenLoaded loaded={loaded} what="tools">
        {(tools) =>
          tools.length === 0 ? (
            <EmptyState icon="tools" title="No tools registered">
              Register functions in the server’s tool registry to let models call them.
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

function ToolCard({ tool }: { readonly tool: ToolSummary }) {
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
        <ToolTags tool={tool} />
      </div>
      <FoldedText
        text={tool.description}
        length={400}
        lines={6}
        label={`the description of ${tool.name}`}
        className="muted tool-text"
      />
      {total === 0 ? (
        <p className="tool-unused muted">No calls yet</p>
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
                <span className="numeric">{formatCount(amount)}</span>
              </li>
            ))}
          </ul>
          <p className="tool-total">
            <span className="numeric">{pluralize(total, 'call')}</span>
            {ended > 0 && (
              <span className="muted"> · {Math.round((100 * (tool.counts.completed ?? 0)) / ended)}% successful</span>
            )}
          </p>
        </>
      )}
    </li>
  );
}

const STATES = Object.values(ToolCallState);
