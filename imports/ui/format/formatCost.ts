/** The cost of a call or run, which may be unknown, or known in part. */
import { formatMoney } from './format';

/** @param mayFollow no cost does not mean that it is unknown: there may have been no calls yet */
export function formatCost(
  { cost, unpriced }: { readonly cost?: number; readonly unpriced?: unknown },
  mayFollow = false,
): string {
  if (cost === undefined) return mayFollow && unpriced === undefined ? 'none yet' : 'unknown';
  return unpriced === undefined ? formatMoney(cost) : `at least ${formatMoney(cost)}`;
}
