/** Refuses budgets that are misspelt: they would limit nothing. */
import type { Amount, BudgetSettings, BudgetWindow } from '../../ai/domain/entities/BudgetAccount';
import { fieldsOf } from '../../ai/domain/util/json';
import { numberBetween, optionalValue, readObject } from '../../ai/domain/util/arguments';

const WINDOWS: readonly BudgetWindow[] = ['day', 'month'];
const AMOUNTS: readonly (keyof Amount)[] = ['calls', 'tokens', 'money'];
const amount = numberBetween(0, Infinity);

/** @throws LLMInvalidRequestError for a window or an amount that there is not, and for an amount that is no number */
export function checkBudgets(budgets: unknown, path: string): void {
  const { users, ...limits } = readObject(budgets, [...WINDOWS, 'users' satisfies keyof BudgetSettings], path);
  checkLimits(limits, path);
  for (const [userId, own] of Object.entries(fieldsOf(users))) checkLimits(own, `${path}.users.${userId}`);
}

function checkLimits(limits: unknown, path: string): void {
  const windows = readObject(limits, WINDOWS, path);
  for (const window of WINDOWS) optionalValue(windows, window, checkAmounts, `${path}.${window}`);
}

function checkAmounts(amounts: unknown, path: string): void {
  const fields = readObject(amounts, AMOUNTS, path);
  for (const name of AMOUNTS) optionalValue(fields, name, amount, `${path}.${name}`);
}
