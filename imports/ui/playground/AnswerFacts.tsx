/** What an answer has cost and taken. Each value has a place of its own, so that nothing moves as values arrive. */
import type { ReactNode } from 'react';
import { isFinished } from '../../business/ai/domain/entities/Run';
import type { RunDetailView, RunView } from '../../business/ai/domain/types/RunViews';
import { Elapsed } from '../components/Elapsed';
import { StateBadge } from '../components/StateBadge';
import { formatCount, formatDuration } from '../format/format';
import { formatRunCost } from '../format/formatCost';
import { RUN_STATE_STYLES } from '../format/stateStyles';
import { linkTo } from '../shell/route';
import { useEffect, useState } from 'react';
import { useData } from '../hooks/BolideProvider';

export interface AnswerFactsProps {
  readonly run: RunDetailView;
  /** Milliseconds, as this page measured them. */
  readonly firstText: number | undefined;
}

const PENDING = '…';

export function AnswerFacts({ run, firstText }: AnswerFactsProps) {
  const { usage, cost, unpriced } = run;
  const isEnded = isFinished(run.state);
  const firstToken = useTimeToFirstToken(run) ?? firstText;
  return (
    <div className="answer-facts">
      <p className="answer-state">
        <StateBadge style={RUN_STATE_STYLES[run.state]} />
        <span className="answer-model muted">
          <bdi>{run.models?.at(-1) ?? run.model ?? run.providerId}</bdi>
        </span>
        <a href={linkTo(['runs', run._id])}>Open run</a>
      </p>
      <dl>
        <Fact label="Cost" title={unpriced === undefined ? 'US dollars' : unpriced.reasons.join('; ')}>
          {cost === undefined && unpriced === undefined && !isEnded ? PENDING : formatRunCost(run)}
        </Fact>
        <Fact
          label="Tokens"
          title={`${formatCount(usage.input_tokens)} in, ${formatCount(usage.output_tokens)} out, of which ${formatCount(usage.reasoning_tokens)} reasoning`}
        >
          {usage.total_tokens === 0 && !isEnded
            ? PENDING
            : `${formatCount(usage.input_tokens)} + ${formatCount(usage.output_tokens)}`}
        </Fact>
        <Fact label="First token" title="Until the first token of the first model call">
          {firstToken === undefined ? (isEnded ? 'not measured' : PENDING) : formatDuration(firstToken)}
        </Fact>
        <Fact label="Time" title="From the start of the run to its end">
          <Elapsed start={run.startedAt ?? run.createdAt} end={run.endedAt} />
        </Fact>
      </dl>
    </div>
  );
}

function Fact({
  label,
  title,
  children,
}: {
  readonly label: string;
  readonly title: string;
  readonly children: ReactNode;
}) {
  return (
    <div title={title}>
      <dt>{label}</dt>
      <dd className="numeric">{children}</dd>
    </div>
  );
}

/** @returns undefined until the run has ended, where the log is off, and for calls that were not streamed */
function useTimeToFirstToken({ _id: executionId, state }: RunView): number | undefined {
  const [stored, setStored] = useState<{ readonly milliseconds: number | undefined }>();
  // What is logged does not change, so that it is asked for only until it is known.
  const isAsked = isFinished(state) && stored === undefined;
  const loaded = useData().useQuery('ai.requests.list', isAsked ? { executionId, order: 'asc', limit: 1 } : undefined);
  const first = loaded.state === 'ready' ? loaded.value.requests[0] : undefined;
  useEffect(() => {
    if (first !== undefined) setStored({ milliseconds: first.timeToFirstToken });
  }, [first]);
  return stored?.milliseconds;
}
