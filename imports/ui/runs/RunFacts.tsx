/** The numbers of a run in one strip. */
import type { ReactNode } from 'react';
import type { RunView } from '../../business/ai/domain/types/RunViews';
import { count, dateTime, money } from '../format/format';
import { Elapsed } from '../components/Elapsed';
import { isLive } from './filterRuns';

export function RunFacts({ run }: { readonly run: RunView }) {
  const { usage } = run;
  const hasStarted = run.startedAt !== undefined || isLive(run.state);
  return (
    <dl className="facts">
      <Fact name="Provider">{run.model === undefined ? run.providerId : `${run.providerId} / ${run.model}`}</Fact>
      <Fact name="Started">
        <time dateTime={new Date(run.startedAt ?? run.createdAt).toISOString()}>
          {dateTime(run.startedAt ?? run.createdAt)}
        </time>
      </Fact>
      <Fact name="Took">{hasStarted ? <Elapsed start={run.startedAt ?? run.createdAt} end={run.endedAt} /> : '–'}</Fact>
      <Fact name="Turns">
        <span className="numeric">{run.iterations}</span>
      </Fact>
      <Fact name="Tokens in / out">
        <span className="numeric">
          {count(usage.input_tokens)} / {count(usage.output_tokens)}
        </span>
        {(usage.cached_tokens > 0 || usage.reasoning_tokens > 0) && (
          <span className="fact-more numeric">
            {[
              usage.cached_tokens > 0 ? `${count(usage.cached_tokens)} cached` : '',
              usage.reasoning_tokens > 0 ? `${count(usage.reasoning_tokens)} reasoning` : '',
            ]
              .filter((part) => part !== '')
              .join(', ')}
          </span>
        )}
      </Fact>
      <Fact name="Cost">
        <span className="numeric">{run.cost === undefined ? 'unknown' : money(run.cost)}</span>
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
