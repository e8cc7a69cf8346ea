/** The key figures of a run in one strip. */
import type { ReactNode } from 'react';
import type { RunView } from '../../business/ai/domain/types/RunViews';
import { formatCount, formatDateTime, formatMoney } from '../format/format';
import { Elapsed } from '../components/Elapsed';
import { isLive } from './isLive';

export function RunFacts({ run }: { readonly run: RunView }) {
  const { usage } = run;
  const hasStarted = run.startedAt !== undefined || isLive(run.state);
  return (
    <dl className="facts">
      <Fact name="Provider">{run.model === undefined ? run.providerId : `${run.providerId} / ${run.model}`}</Fact>
      <Fact name="Started">
        <time dateTime={new Date(run.startedAt ?? run.createdAt).toISOString()}>
          {formatDateTime(run.startedAt ?? run.createdAt)}
        </time>
      </Fact>
      <Fact name="Duration">
        {hasStarted ? <Elapsed start={run.startedAt ?? run.createdAt} end={run.endedAt} /> : '–'}
      </Fact>
      <Fact name="Turns">
        <span className="numeric">{run.iterations}</span>
      </Fact>
      <Fact name="Tokens in / out">
        <span className="numeric">
          {formatCount(usage.input_tokens)} / {formatCount(usage.output_tokens)}
        </span>
        {(usage.cached_tokens > 0 || usage.reasoning_tokens > 0) && (
          <span className="fact-more numeric">
            {[
              usage.cached_tokens > 0 ? `${formatCount(usage.cached_tokens)} cached` : '',
              usage.reasoning_tokens > 0 ? `${formatCount(usage.reasoning_tokens)} reasoning` : '',
            ]
              .filter((part) => part !== '')
              .join(', ')}
          </span>
        )}
      </Fact>
      <Fact name="Cost">
        <span className="numeric">{run.cost === undefined ? 'Unknown' : formatMoney(run.cost)}</span>
      </Fact>
    </dl>
  );
}

function Fact({ name, children }: { readonly name: string; readonly children: ReactNode }) {
  return (
    <div className="fact">
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  );
}
