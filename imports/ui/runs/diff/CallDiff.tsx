/** The tool calls of two runs, aligned: calls of the same tool are in one row. */
import { useMemo } from 'react';
import type { ToolCall } from '../../../business/ai/domain/entities/Tool';
import { formatDuration } from '../../format/format';
import { CALL_STATE_STYLES } from '../../format/stateStyles';
import { JsonTree } from '../../components/JsonTree';
import { StateBadge } from '../../components/StateBadge';
import { alignCalls } from './alignCalls';

export function CallDiff({ left, right }: { readonly left: readonly ToolCall[]; readonly right: readonly ToolCall[] }) {
  const pairs = useMemo(() => alignCalls(left, right), [left, right]);
  if (pairs.length === 0) return <p className="muted">Neither run called a tool.</p>;
  return (
    <ol className="call-pairs">
      {pairs.map((pair, index) => {
        const isSame = pair.left?.arguments === pair.right?.arguments;
        const name = pair.left?.name ?? pair.right?.name ?? '';
        return (
          <li key={index} data-pair={pairKind(pair)}>
            <details className="call">
              <summary>
                <span className="call-title">
                  <bdi className="call-name mono">{name}</bdi>
                  <span className="call-kind">{isSame ? 'the same arguments' : PAIR_LABELS[pairKind(pair)]}</span>
                </span>
                <span className="pair-states">
                  <CallState call={pair.left} side="A" />
                  <CallState call={pair.right} side="B" />
                </span>
              </summary>
              <div className="diff-pair">
                <CallSide call={pair.left} side="A" />
                <CallSide call={pair.right} side="B" />
              </div>
            </details>
          </li>
        );
      })}
    </ol>
  );
}

const PAIR_LABELS = { both: 'different arguments', left: 'only in A', right: 'only in B' } as const;

function pairKind({ left, right }: { readonly left?: ToolCall; readonly right?: ToolCall }): keyof typeof PAIR_LABELS {
  if (left === undefined) return 'right';
  return right === undefined ? 'left' : 'both';
}

function CallState({ call, side }: { readonly call: ToolCall | undefined; readonly side: string }) {
  return (
    <span className="pair-state">
      <span className="diff-mark">{side}</span>
      {call === undefined ? (
        <span className="muted">not called</span>
      ) : (
        <StateBadge style={CALL_STATE_STYLES[call.state]} />
      )}
    </span>
  );
}

function CallSide({ call, side }: { readonly call: ToolCall | undefined; readonly side: string }) {
  if (call === undefined) return <div className="diff-side muted">Not called in {side}</div>;
  return (
    <div className="diff-side" role="group" aria-label={`${call.name} in ${side}`}>
      <h3>Arguments in {side}</h3>
      <JsonTree text={call.arguments === '' ? '{}' : call.arguments} label={`arguments of ${call.name} in ${side}`} />
      {'result' in call && (
        <>
          <h3>Result in {side}</h3>
          <JsonTree text={call.result} label={`result of ${call.name} in ${side}`} />
        </>
      )}
      {'error' in call && <p className="call-error plain-text">{call.error.message}</p>}
      {'executionTime' in call && <p className="muted">{formatDuration(call.executionTime)}</p>}
    </div>
  );
}
