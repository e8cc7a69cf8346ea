/** Turns a complete response into the events of a stream, for responses that were not, or may not be, streamed. */
import type { LLMResponse, OutputItem } from '../../../domain/types/ResponsesAPITypes';
import type { ResponseStreamEvent } from '../../../domain/types/StreamEvents';

/** Each text is one delta. */
export function* replayResponse(response: LLMResponse): Generator<ResponseStreamEvent, void, undefined> {
  yield { type: 'response.created', id: response.id, model: response.model };
  yield { type: 'response.usage', usage: response.usage };
  for (const [output_index, item] of response.output.entries()) {
    yield { type: 'response.output_item.added', output_index, item: initialForm(item) };
    yield* contentEvents(item, output_index);
    yield { type: 'response.output_item.done', output_index, item };
  }
  yield { type: 'response.completed', response };
}

function* contentEvents(item: OutputItem, output_index: number): Generator<ResponseStreamEvent, void, undefined> {
  switch (item.type) {
    case 'message':
      for (const [content_index, part] of item.content.entries()) {
        const at = { output_index, content_index };
        if (part.type === 'refusal') yield { type: 'response.refusal.delta', ...at, delta: part.refusal };
        if (part.type !== 'output_text') continue;
        if (part.text !== '') yield { type: 'response.output_text.delta', ...at, delta: part.text };
        for (const annotation of part.annotations) yield { type: 'response.annotation.added', ...at, annotation };
      }
      return;
    case 'reasoning':
      for (const parts of [item.summary, item.content ?? []])
        for (const [content_index, { type, text }] of parts.entries()) {
          if (text === '') continue;
          const summary = type === 'summary_text';
          yield { type: 'response.reasoning.delta', output_index, content_index, delta: text, summary };
        }
      return;
    case 'function_call':
      yield { type: 'response.tool_use.announced', output_index, call_id: item.call_id, name: item.name };
      yield { type: 'response.tool_use.done', output_index, item };
      return;
    default:
  }
}

/** The item before any of its content has arrived. */
function initialForm(item: OutputItem): OutputItem {
  switch (item.type) {
    case 'message':
      return { ...item, content: [], status: 'in_progress' };
    case 'reasoning': {
      const { content: _, encrypted_content: __, ...form } = item;
      return { ...form, summary: [], status: 'in_progress' };
    }
    case 'function_call':
      return { ...item, arguments: '', status: 'in_progress' };
    default:
      return item;
  }
}
