/** An answer in the Responses wire as events, each numbered, from `response.created` to `response.completed`. */
import type { JsonObject } from '../../../business/ai/domain/types/VendorTypes';
import { asString, objectsIn } from '../../json';
import { pieces, words } from '../pieces';
import type { Answer, SseEvent } from '../WireSimulator';
import { responseHost } from './responseHosts';
import { archive, emptyResponse, finishedResponse } from './writeResponses';

type Event = JsonObject & { readonly type: string };

export function streamResponses(answer: Answer): readonly SseEvent[] {
  const started = emptyResponse(answer);
  const finished = finishedResponse(answer, started);
  archive(answer, finished);
  const { wholeArguments } = responseHost(answer.vendor);
  const items = objectsIn(finished.output).flatMap((item, index) => itemEvents(item, index, wholeArguments));
  const opening: Event[] = [
    { type: 'response.created', response: started },
    { type: 'response.in_progress', response: started },
  ];
  return [...opening, ...items, ...closing(answer, finished)].map((event, sequence_number) => ({
    event: event.type,
    data: JSON.stringify({ ...event, sequence_number }),
  }));
}

/** A failure is told twice: an `error` event, then the failed response (openai-resp-stream-error-failed-a). */
function closing(answer: Answer, response: JsonObject): Event[] {
  const { failure } = answer.turn;
  if (failure === undefined) return [{ type: `response.${asString(response.status)}`, response }];
  return [
    { type: 'error', error: { type: 'server_error', code: failure.code, message: failure.message, param: null } },
    { type: 'response.failed', response },
  ];
}

function itemEvents(item: JsonObject, output_index: number, wholeArguments: boolean): Event[] {
  const place = { item_id: item.id, output_index };
  return [
    { type: 'response.output_item.added', output_index, item: begun(item) },
    ...innerEvents(item, place, wholeArguments),
    { type: 'response.output_item.done', output_index, item },
  ];
}

function innerEvents(item: JsonObject, place: JsonObject, wholeArguments: boolean): Event[] {
  switch (item.type) {
    case 'reasoning':
      return objectsIn(item.summary).flatMap((part, summary_index) =>
        summaryEvents(asString(part.text), { ...place, summary_index }),
      );
    case 'message':
      return objectsIn(item.content).flatMap((part, content_index) => partEvents(part, { ...place, content_index }));
    case 'function_call': {
      const text = asString(item.arguments);
      const deltas = wholeArguments ? [text] : pieces(text, 7);
      return [
        ...deltas.map((delta) => ({ type: 'response.function_call_arguments.delta', ...place, delta })),
        { type: 'response.function_call_arguments.done', ...place, name: item.name, arguments: text },
      ];
    }
    default:
      return [];
  }
}

function summaryEvents(text: string, place: JsonObject): Event[] {
  return [
    { type: 'response.reasoning_summary_part.added', ...place, part: { type: 'summary_text', text: '' } },
    ...words(text).map((delta) => ({ type: 'response.reasoning_summary_text.delta', ...place, delta })),
    { type: 'response.reasoning_summary_text.done', ...place, text },
    { type: 'response.reasoning_summary_part.done', ...place, part: { type: 'summary_text', text } },
  ];
}

function partEvents(part: JsonObject, place: JsonObject): Event[] {
  if (part.type === 'refusal') {
    const refusal = asString(part.refusal);
    return [
      { type: 'response.content_part.added', ...place, part: { type: 'refusal', refusal: '' } },
      ...words(refusal).map((delta) => ({ type: 'response.refusal.delta', ...place, delta })),
      { type: 'response.refusal.done', ...place, refusal },
      { type: 'response.content_part.done', ...place, part },
    ];
  }
  const text = asString(part.text);
  return [
    { type: 'response.content_part.added', ...place, part: { ...part, text: '' } },
    ...words(text).map((delta) => ({ type: 'response.output_text.delta', ...place, delta, logprobs: [] })),
    { type: 'response.output_text.done', ...place, text, logprobs: [] },
    { type: 'response.content_part.done', ...place, part },
  ];
}

/** The item as it is announced: named, and empty. */
function begun(item: JsonObject): JsonObject {
  switch (item.type) {
    case 'reasoning':
      return { ...item, summary: [], ...('status' in item ? { status: 'in_progress' } : {}) };
    case 'message':
      return { ...item, status: 'in_progress', content: [] };
    default:
      return { ...item, status: 'in_progress', arguments: '' };
  }
}
