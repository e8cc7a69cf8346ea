/**
 * What lists show of an event: which run, what happened, how much it used. Texts, arguments and results are most of
 * its length, and for a run's own page.
 */
import type { AgentEvent, AgentEventType } from '../../business/ai/domain/types/AgentEvents';
import type { LLMResponse } from '../../business/ai/domain/types/ResponsesAPITypes';

/** Most of what happens, and in no list. */
export const LEFT_OUT: ReadonlySet<AgentEventType> = new Set(['llm:delta', 'tool:progress']);

/** @param data an event's JSON @returns JSON of the same event without what only its run's page shows */
export function briefEvent(type: AgentEventType, data: string): string {
  if (!LONG.has(type)) return data;
  // It was an event when it was written.
  const event = JSON.parse(data) as AgentEvent;
  return JSON.stringify(
    'response' in event
      ? { ...event, response: briefResponse(event.response) }
      : { ...event, arguments: undefined, result: undefined },
  );
}

const LONG: ReadonlySet<AgentEventType> = new Set([
  'llm:response',
  'nonblocking:llm_response',
  'run:completed',
  'tool:pending',
  'tool:approval_required',
  'tool:completed',
  'tool:late',
]);

/** Whether it asks for tools is told by the kinds of its items. */
function briefResponse({ id, model, status, usage, output }: LLMResponse): object {
  return { id, model, status, usage, output: output.map(({ type }) => ({ type })) };
}
