/** Calls as the model asked for them; stores keep them in any order. */
import type { Item } from '../../../business/ai/domain/types/ResponsesAPITypes';
import type { ToolCallView } from '../../../business/ai/domain/types/RunViews';

/** Calls that the transcript does not hold yet come last, as they were. */
export function sortCalls(calls: readonly ToolCallView[], items: readonly Item[]): readonly ToolCallView[] {
  const asked = items.flatMap((item) => (item.type === 'function_call' ? [item.call_id] : []));
  const places = new Map(asked.map((callId, place) => [callId, place]));
  const placeOf = ({ callId }: ToolCallView): number => places.get(callId) ?? asked.length;
  return calls.toSorted((a, b) => placeOf(a) - placeOf(b));
}
