/** Limits of a budget: `{ day?, month? }`, each window `{ calls?, tokens?, money? }`. */
import * as v from 'valibot';
import { integer, numberBetween, object } from '../../../host/schemas';
import type { BudgetLimits } from '../../ai/domain/entities/BudgetAccount';

const MAX_MONEY = 1_000_000_000;

const count = v.optional(integer(0, Number.MAX_SAFE_INTEGER));
const amounts = v.optional(object({ calls: count, tokens: count, money: v.optional(numberBetween(0, MAX_MONEY)) }));

export const budgetLimitsSchema = v.pipe(
  object({ day: amounts, month: amounts }),
  v.transform((windows): BudgetLimits => {
    // A window without amounts limits nothing.
    const limiting = Object.entries(windows).filter(([, given = {}]) => Object.keys(given).length > 0);
    return Object.fromEntries(limiting);
  }),
);
