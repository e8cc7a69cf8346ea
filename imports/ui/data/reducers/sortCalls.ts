/** Sorts tool calls into the order in which the model requested them; stores return them in any order. */
import type { Item } from '../../../business/ai/domain/types/ResponsesAPITypes';
import type { ToolCallView } from '../../../business/ai/domain/types/RunViews';

/** Calls that the transcript does not contain yet come last, in their given order. */
export function sortCalls(calls: readonly ToolCallView[], items: readonly Item[]): readonly ToolCallView[] {
  return sortByRequest(calls, items, ({ callId }) => callId);
}

/** @param idOf the call's id within its run */
export function sortByRequest<C>(calls: readonly C[], items: readonly Item[], idOf: (call: C) => string): readonly C[] {
  const requested = items.flatMap((item) => (item.type === 'function_call' ? [item.call_id] : []));
  const positions = new Map(requested.map((callId, position) => [callId, position]));
  const positionOf = (call: C): number => positions.get(idOf(call)) ?? requested.length;
  return calls.toSorted((a, b) => positionOf(a) - positionOf(b));
}
