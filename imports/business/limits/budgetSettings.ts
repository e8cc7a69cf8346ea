/** Users' budgets, from `Meteor.settings.ai.budgets` and from variables. */
import * as v from 'valibot';
import type { Amount, BudgetSettings, BudgetWindow } from '../ai/domain/entities/BudgetAccount';
import { defineSettings, setting } from '../../host/settings/defineSettings';
import type { Setting } from '../../host/settings/defineSettings';
import { number, shaped } from '../../host/settings/settingReaders';
import { object } from '../../host/schemas';
import { budgetLimitsSchema } from './application/budgetLimitsSchema';

const UNITS: Readonly<Record<keyof Amount, string>> = { calls: 'Model calls', tokens: 'Tokens', money: 'US dollars' };

/** The budget of every user. */
export const budgetSettings = defineSettings({ budgets: { day: amountsIn('day'), month: amountsIn('month') } });

function amountsIn(window: BudgetWindow): Readonly<Record<keyof Amount, Setting<number>>> {
  const amount = (what: keyof Amount): Setting<number> =>
    setting(`LLM_BUDGET_${window}_${what}`.toUpperCase(), number({ min: 0 }), 'not limited').means(
      `${UNITS[what]} in a ${window}.`,
    );
  return { calls: amount('calls'), tokens: amount('tokens'), money: amount('money') };
}

const schema = object({
  ...budgetLimitsSchema.entries,
  users: v.exactOptional(v.record(v.string(), budgetLimitsSchema, 'must be an object')),
});

/** Reads `Meteor.settings.ai.budgets`. */
export function readBudgets(given: unknown, name: string): BudgetSettings {
  // Boundary: fields that are undefined are absent.
  return shaped(schema)(given, name) as BudgetSettings;
}
