/** Reads limits of a budget: `{ day?, month? }`, each window `{ calls?, tokens?, money? }`. */
import { integer, numberBetween, optional, optionalValue, readObject } from '../../domain/arguments';
import type { ArgumentReader } from '../../domain/arguments';
import { BUDGET_WINDOWS } from '../../domain/entities/BudgetAccount';
import type { Amount, BudgetLimits } from '../../domain/entities/BudgetAccount';

const MAX_MONEY = 1_000_000_000;

export const readBudgetLimits: ArgumentReader<BudgetLimits> = (value, path) => {
  const fields = readObject(value, BUDGET_WINDOWS, path);
  const ofWindow: ArgumentReader<Partial<Amount>> = (amounts, at) => {
    const given = readObject(amounts, ['calls', 'tokens', 'money'], at);
    const count = integer(0, Number.MAX_SAFE_INTEGER);
    return {
      ...optional(given, 'calls', count, `${at}.calls`),
      ...optional(given, 'tokens', count, `${at}.tokens`),
      ...optional(given, 'money', numberBetween(0, MAX_MONEY), `${at}.money`),
    };
  };
  const windows = BUDGET_WINDOWS.map(
    (window) => [window, optionalValue(fields, window, ofWindow, `${path}.${window}`)] as const,
  );
  // A window without amounts limits nothing.
  return Object.fromEntries(windows.filter(([, amounts]) => Object.keys(amounts ?? {}).length > 0));
};
