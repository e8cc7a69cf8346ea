/** Where each limit of a run is, to the call, the token and the cent. */
import { expect } from 'chai';
import { NO_USAGE } from '../../../../../imports/business/ai/domain/entities/Response';
import { BudgetError, MaxIterationsError } from '../../../../../imports/business/ai/domain/errors/LLMErrors';
import { newRun } from '../../../../../imports/business/ai/domain/run/ActiveRun';
import type { RunRules } from '../../../../../imports/business/ai/domain/run/ActiveRun';
import { exceededLimit } from '../../../../../imports/business/ai/domain/run/runLimits';
import type { Spending } from '../../../../../imports/business/ai/domain/run/runLimits';
import type { ModelPrice } from '../../../../../imports/business/ai/domain/types/ModelPrice';
import type { Budget } from '../../../../../imports/business/ai/domain/types/RunLimits';
import type { RunSums } from '../../../../../imports/business/ai/domain/types/RunTotals';

/** A million tokens cost a dollar, and two in a long prompt. */
const PRICE: ModelPrice = {
  asOf: '2026-01-01',
  input: 1,
  output: 1,
  longPrompt: { above: 600_000, input: 2, output: 2 },
};
const BELOW = { calls: 2, tokens: 30, money: 0.25 };
const USAGE = { ...NO_USAGE, input_tokens: 1_000_000, total_tokens: 1_000_000 };
const UNPRICED = { calls: 1, models: ['other'], reasons: ['no price for model "other"'] };
/** Sums of calls of which each, or only the cheapest, has a price. */
const PRICED: RunSums = { usage: USAGE, cost: 0.125 };
const PARTLY_PRICED: RunSums = { ...PRICED, unpriced: UNPRICED };

interface Case {
  readonly budget?: Budget;
  readonly isDelivery?: boolean;
  readonly iterations?: number;
  readonly deliveries?: number;
  readonly totals?: RunSums;
  readonly spending?: Spending;
}

/** What ends a run with at most two model calls, which has made one of them, if another one would exceed a limit. */
function limitOf({ budget, isDelivery = false, iterations = 1, deliveries = 0, totals, spending }: Case) {
  const rules = { model: 'm', limits: { maxIterations: 2, budget } } as unknown as RunRules;
  const run = { ...newRun(rules, [], totals ?? PRICED), iterations, deliveries };
  return exceededLimit(run, isDelivery, { nextTokens: 500_000, price: PRICE, ...spending });
}

type Refusal = typeof BudgetError | typeof MaxIterationsError;

const TABLE: readonly (readonly [what: string, error: Refusal, admitted: Case, refused: Case])[] = [
  ['model calls', MaxIterationsError, { iterations: 1 }, { iterations: 2 }],
  [
    'model calls beside deliveries',
    MaxIterationsError,
    { iterations: 9, deliveries: 8 },
    { iterations: 9, deliveries: 7 },
  ],
  [
    'ten deliveries for each model call',
    MaxIterationsError,
    { isDelivery: true, iterations: 21, deliveries: 19 },
    { isDelivery: true, iterations: 21, deliveries: 20 },
  ],
  ['a budget of calls', BudgetError, { budget: { calls: 2 } }, { budget: { calls: 1 } }],
  [
    'a budget of calls that runs below share',
    BudgetError,
    { budget: { calls: 4 }, spending: { below: BELOW } },
    { budget: { calls: 3 }, spending: { below: BELOW } },
  ],
  [
    'a budget of tokens, with those of the next request',
    BudgetError,
    { budget: { tokens: 1_500_000 } },
    { budget: { tokens: 1_499_999 } },
  ],
  [
    'a budget of tokens that runs below share',
    BudgetError,
    { budget: { tokens: 1_500_030 }, spending: { below: BELOW } },
    { budget: { tokens: 1_500_029 }, spending: { below: BELOW } },
  ],
  [
    'a budget of money, with the cost of the next request',
    BudgetError,
    { budget: { money: 0.625 } },
    { budget: { money: 0.6249 } },
  ],
  [
    'a budget of money that runs below share',
    BudgetError,
    { budget: { money: 0.875 }, spending: { below: BELOW } },
    { budget: { money: 0.8749 }, spending: { below: BELOW } },
  ],
  [
    'a budget of money, with the price of a long request',
    BudgetError,
    { budget: { money: 1.525 }, spending: { nextTokens: 700_000 } },
    { budget: { money: 1.5249 }, spending: { nextTokens: 700_000 } },
  ],
  [
    'a budget of money at the price of the model, without that of long prompts, where a call has no price',
    BudgetError,
    { budget: { money: 1.5 }, totals: PARTLY_PRICED },
    { budget: { money: 1.4999 }, totals: PARTLY_PRICED },
  ],
  [
    'a budget of money that dearer models have spent',
    BudgetError,
    { budget: { money: 3.5 }, totals: { ...PARTLY_PRICED, cost: 3 } },
    { budget: { money: 3.4999 }, totals: { ...PARTLY_PRICED, cost: 3 } },
  ],
  [
    'a budget of money before the first call',
    BudgetError,
    { budget: { money: 0.5 }, totals: { usage: NO_USAGE } },
    { budget: { money: 0.4999 }, totals: { usage: NO_USAGE } },
  ],
  [
    'a budget of money by refusing a model without a price',
    BudgetError,
    { budget: { tokens: 1_500_000 }, spending: { price: undefined } },
    { budget: { money: 1_000 }, spending: { price: undefined } },
  ],
];

describe('The limits of a run', () => {
  for (const [what, error, admitted, refused] of TABLE)
    it(`are exact: ${what}`, () => {
      expect(limitOf(admitted)).to.equal(undefined);
      expect(limitOf(refused)).to.be.instanceOf(error);
    });
});
