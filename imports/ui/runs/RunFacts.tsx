/** The key figures of a run in one strip. */
import type { ReactNode } from 'react';
import type { RequestView } from '../../business/ai/domain/types/RequestRecords';
import type { RunView } from '../../business/ai/domain/types/RunViews';
import { formatCount, formatDateTime, pluralize } from '../format/format';
import { formatRunCost } from '../format/formatCost';
import { Elapsed } from '../components/Elapsed';
import { UserLink } from '../components/User';
import { linkTo } from '../shell/route';
import { isLive } from './isLive';
import type { Budget } from '../../business/ai/domain/types/RunLimits';
import { BudgetBar } from '../budgets/BudgetBar';
import { AMOUNTS } from '../budgets/describeLimits';

export interface RunFactsProps {
  readonly run: RunView;
  readonly requests: readonly RequestView[];
}

export function RunFacts({ run, requests }: RunFactsProps) {
  const { usage } = run;
  const hasStarted = run.startedAt !== undefined || isLive(run.state);
  const models = run.models ?? [...new Set(requests.flatMap(({ model }) => (model === undefined ? [] : [model])))];
  return (
    <dl className="facts">
      <Fact name="Provider">
        <bdi>{run.providerId}</bdi>
      </Fact>
      <Fact name={models.length > 1 ? 'Models' : 'Model'}>
        <bdi>{models.join(', ') || (run.model ?? 'the provider’s default')}</bdi>
      </Fact>
      <Fact name="User">
        <UserLink userId={run.userId} />
      </Fact>
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
        <span className="numeric">{formatRunCost(run)}</span>
        {run.unpriced !== undefined && (
          <span className="fact-more">
            {pluralize(run.unpriced.calls, 'call')} of unknown cost: {run.unpriced.reasons.join('; ')}
          </span>
        )}
      </Fact>
      {run.conversationId !== undefined && (
        <Fact name="Conversation">
          <bdi className="mono">{run.conversationId}</bdi>
        </Fact>
      )}
      {run.parentExecutionId !== undefined && (
        <Fact name="Started by">
          <a className="mono" href={linkTo(['runs', run.parentExecutionId])}>
            {run.parentExecutionId}
          </a>
        </Fact>
      )}
      {run.budget !== undefined && (
        <Fact name="Budget of this run" isWide>
          <RunBudget run={run} budget={run.budget} />
        </Fact>
      )}
    </dl>
  );
}

function Fact({
  name,
  isWide = false,
  children,
}: {
  readonly name: string;
  readonly isWide?: boolean;
  readonly children: ReactNode;
}) {
  return (
    <div className={isWide ? 'fact fact-wide' : 'fact'}>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  );
}

/** What a run has used of its own budget. */
function RunBudget({ run, budget }: { readonly run: RunView; readonly budget: Budget }) {
  const used = { calls: run.iterations, tokens: run.usage.total_tokens, money: run.cost ?? 0 };
  return (
    <div className="run-budget">
      {AMOUNTS.map(
        (amount) =>
          budget[amount] !== undefined && (
            <BudgetBar key={amount} amount={amount} used={used[amount]} limit={budget[amount]} />
          ),
      )}
      {budget.money !== undefined && run.unpriced !== undefined && (
        <p className="muted budget-note">
          The cost of {pluralize(run.unpriced.calls, 'call')} is unknown and not in the money. The budget counts such
          calls at the price of the requested model.
        </p>
      )}
    </div>
  );
}
