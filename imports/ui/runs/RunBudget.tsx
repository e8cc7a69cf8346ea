/** What a run has used of its own budget. */
import type { Budget } from '../../business/ai/domain/types/RunLimits';
import type { RunView } from '../../business/ai/domain/types/RunViews';
import { BudgetBar } from '../budgets/BudgetBar';
import { AMOUNTS } from '../budgets/describeLimits';
import { pluralize } from '../format/format';

export function RunBudget({ run, budget }: { readonly run: RunView; readonly budget: Budget }) {
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
