/** Limits in words. */
import type { Amount, BudgetLimits, BudgetWindow } from '../../business/ai/domain/entities/BudgetAccount';
import type { BudgetSource } from '../../business/limits/domain/BudgetViews';
import { formatCount, formatMoney } from '../format/format';

export const SOURCES: Readonly<Record<BudgetSource, string>> = {
  settings: 'Set in the server’s settings',
  dashboard: 'Set here',
  none: 'None are set',
};

export const AMOUNTS = ['money', 'tokens', 'calls'] as const satisfies readonly (keyof Amount)[];
export const WINDOW_LABELS: Readonly<Record<BudgetWindow, string>> = { day: 'Today', month: 'This month' };

/** "$10.00 and 500 calls a day, $100.00 a month" */
export function describeLimits(limits: BudgetLimits): string {
  const windows = (['day', 'month'] as const).flatMap((window) => {
    const amounts = AMOUNTS.flatMap((amount) => {
      const limit = limits[window]?.[amount];
      return limit === undefined ? [] : [formatAmount(amount, limit)];
    });
    return amounts.length === 0 ? [] : [`${amounts.join(' and ')} a ${window}`];
  });
  return windows.length === 0 ? 'Unlimited' : windows.join(', ');
}

export function formatAmount(amount: keyof Amount, value: number): string {
  return amount === 'money' ? formatMoney(value) : `${formatCount(value)} ${amount}`;
}
