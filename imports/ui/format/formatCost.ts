/** The cost of a call or run, which may be unknown, or known in part. */
import type { RunView } from '../../business/ai/domain/types/RunViews';
import { formatMoney } from './format';
import { RUN_STATE_STYLES } from './stateStyles';

export function formatCost({ cost, unpriced }: { readonly cost?: number; readonly unpriced?: unknown }): string {
  if (cost === undefined) return 'unknown';
  return unpriced === undefined ? formatMoney(cost) : `at least ${formatMoney(cost)}`;
}

/** A run whose calls were refused, or have not been made yet, has cost nothing. */
export function formatRunCost(
  run: Pick<RunView, 'state' | 'cost' | 'unpriced'> & { readonly usage: Pick<RunView['usage'], 'total_tokens'> },
): string {
  if (run.cost !== undefined || run.unpriced !== undefined || run.usage.total_tokens > 0) return formatCost(run);
  return RUN_STATE_STYLES[run.state].isLive ? 'none yet' : 'none';
}
