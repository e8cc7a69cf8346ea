/**
 * A stateless model, which therefore behaves the same after a crash: three turns with tools of every kind, then an
 * answer.
 */
import type { Item, LLMResponse } from '../../../imports/business/ai/domain/types/ResponsesAPITypes';
import { answer, callItem, response } from '../../../imports/testing/responses';

/** The calls of each turn: the tool, and the call's id. */
export const TURNS = [
  [
    ['note', 'n1'],
    ['charge', 'c1'],
    ['job', 'j1'],
    ['pay', 'p1'],
  ],
  [
    ['mail', 'm1'],
    ['webhook', 'w1'],
    ['note', 'n2'],
  ],
  [
    ['charge', 'c2'],
    ['note', 'n3'],
  ],
] as const;
/** The tool, and the call's id. */
type Call = readonly [tool: string, callId: string];
export const CALLS: readonly Call[] = TURNS.flat();

export function mixedAnswer(items: readonly Item[], turns: readonly (readonly Call[])[] = TURNS): LLMResponse {
  const callCount = items.filter(({ type }) => type === 'function_call').length;
  let before = 0;
  for (const turn of turns) {
    if (callCount === before)
      return response({
        output: turn.map(([name, call_id]) => callItem({ name, call_id, arguments: { id: call_id } })),
      });
    before += turn.length;
  }
  const resultCount = items.filter(
    (item) => item.type === 'function_call_output' && item.status !== 'in_progress',
  ).length;
  return answer(`received ${resultCount}`);
}
