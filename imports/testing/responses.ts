/** Builders of responses for `ScriptedProvider`, so that a test states only what matters to it. */
import { NO_USAGE, outputTextOf } from '../business/ai/domain/entities/Response';
import type { FunctionCallItem, LLMResponse, OutputItem, Usage } from '../business/ai/domain/types/ResponsesAPITypes';
import type { ResponseStreamEvent } from '../business/ai/domain/types/StreamEvents';

let created = 0;

/** A response with the given fields; `output_text` is derived from `output`, and ids are unique. */
export function response(fields: Partial<LLMResponse> = {}): LLMResponse {
  created += 1;
  const output = fields.output ?? [];
  return {
    id: `resp_${created}`,
    object: 'response',
    created_at: 1_750_000_000,
    status: 'completed',
    model: 'scripted-model',
    output,
    output_text: outputTextOf(output),
    usage: usage(10, 5),
    vendor: { name: 'scripted', wire: 'responses', finish_reason: 'completed', warnings: [], losses: [] },
    ...fields,
  };
}

/** The model answers in text. */
export function answer(text: string, fields: Partial<LLMResponse> = {}): LLMResponse {
  return response({ output: [textItem(text)], ...fields });
}

/** The model calls tools. `arguments` that are not a string are serialized as JSON. */
export function calling(
  ...calls: readonly (Pick<FunctionCallItem, 'name'> & { readonly arguments?: unknown; readonly call_id?: string })[]
): LLMResponse {
  return response({ output: calls.map(callItem) });
}

export function callItem(
  call: Pick<FunctionCallItem, 'name'> & { readonly arguments?: unknown; readonly call_id?: string },
): FunctionCallItem {
  created += 1;
  const args = call.arguments ?? {};
  return {
    type: 'function_call',
    call_id: call.call_id ?? `call_${created}`,
    name: call.name,
    arguments: typeof args === 'string' ? args : JSON.stringify(args),
    status: 'completed',
  };
}

export function textItem(text: string): OutputItem {
  return {
    type: 'message',
    role: 'assistant',
    status: 'completed',
    content: [{ type: 'output_text', text, annotations: [] }],
  };
}

/** The answer stopped early: `max_output_tokens`, `content_filter`, or a vendor's own reason. */
export function incomplete(reason: string, text = '', fields: Partial<LLMResponse> = {}): LLMResponse {
  return response({
    status: 'incomplete',
    incomplete_details: { reason },
    output: text === '' ? [] : [textItem(text)],
    ...fields,
  });
}

/** The model declined in a refusal part of a completed response. */
export function refusing(refusal: string, fields: Partial<LLMResponse> = {}): LLMResponse {
  return response({
    output: [{ type: 'message', role: 'assistant', status: 'completed', content: [{ type: 'refusal', refusal }] }],
    ...fields,
  });
}

export function usage(input_tokens: number, output_tokens: number): Usage {
  return { ...NO_USAGE, input_tokens, output_tokens, total_tokens: input_tokens + output_tokens };
}

/** The events that a stream of this response consists of: one delta per word. */
export function eventsOf(complete: LLMResponse): readonly ResponseStreamEvent[] {
  const events: ResponseStreamEvent[] = [{ type: 'response.created', id: complete.id, model: complete.model }];
  complete.output.forEach((item, output_index) => {
    events.push({ type: 'response.output_item.added', output_index, item });
    if (item.type === 'message') {
      for (const part of item.content) {
        if (part.type === 'output_text') {
          for (const delta of part.text.split(/(?<= )/))
            events.push({ type: 'response.output_text.delta', output_index, delta });
        }
        if (part.type === 'refusal') events.push({ type: 'response.refusal.delta', output_index, delta: part.refusal });
      }
    }
    if (item.type === 'function_call') {
      events.push({ type: 'response.tool_use.announced', output_index, call_id: item.call_id, name: item.name });
      events.push({ type: 'response.tool_use.done', output_index, item });
    }
    events.push({ type: 'response.output_item.done', output_index, item });
  });
  events.push({ type: 'response.usage', usage: complete.usage }, { type: 'response.completed', response: complete });
  return events;
}
