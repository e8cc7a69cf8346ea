import type { UsedAmount } from '../../ai/domain/entities/BudgetAccount';
import { costOf } from '../../ai/domain/entities/CallCost';
import type { ModelPrice } from '../../ai/domain/types/ModelPrice';
import type { Usage } from '../../ai/domain/types/ResponsesAPITypes';

/** What one call is charged with. Without a price, it counts as unpriced. */
export function amountOf(usage: Usage, price: ModelPrice | undefined): UsedAmount {
  const counted = { calls: 1, tokens: usage.total_tokens };
  return price === undefined ? { ...counted, money: 0, unpriced: 1 } : { ...counted, money: costOf(usage, price) };
}
