/** Writes a streamed Responses response: numbered events from `response.created` to `response.completed`. */
import type { JsonObject } from '../../../business/ai/domain/types/VendorTypes';
import { asString, objectsIn } from '../../json';
import { splitCharacters, splitWords } from '../splitText';
import type { TurnContext, SseEvent } from '../WireSimulator';
import { responsesProfile } from './responsesProfiles';
import { archiveResponse, createResponse, finishResponse } from './writeResponses';

type Event = JsonObject & { readonly type: string };

export function streamResponses(context: TurnContext): readonly SseEvent[] {
  const started = createResponse(context);
  const finished = finishResponse(context, started);
  archiveResponse(context, finished);
  const { sendsArgumentsAtOnce } = responsesProfile(context.vendor);
  const items = objectsIn(finished.output).flatMap((item, index) => itemEvents(item, index, sendsArgumentsAtOnce));
  const opening: Event[] = [
    { type: 'response.created', response: started },
    { type: 'response.in_progress', response: started },
  ];
  return [...opening, ...items, ...closing(context, finished)].map((event, sequence_number) => ({
    event: event.type,
    data: JSON.stringify({ ...event, sequence_number }),
  }));
}

/** A failure is sent twice: an `error` event, then the failed response (openai-resp-stream-error-failed-a). */
function closing(context: TurnContext, response: JsonObject): Event[] {
  const { failure } = context.turn;
  if (failure === undefined) return [{ type: `response.${asString(response.status)}`, response }];
  return [
    { type: 'error', error: { type: 'server_error', code: failure.code, message: failure.message, param: null } },
    { type: 'response.failed', response },
  ];
}

function itemEvents(item: JsonObject, output_index: number, wholeArguments: boolean): Event[] {
  const position = { item_id: item.id, output_index };
  return [
    { type: 'response.output_item.added', output_index, item: announcedItem(item) },
    ...contentEvents(item, position, wholeArguments),
    { type: 'response.output_item.done', output_index, item },
  ];
}

function contentEvents(item: JsonObject, position: JsonObject, wholeArguments: boolean): Event[] {
  switch (item.type) {
    case 'reasoning':
      return objectsIn(item.summary).flatMap((part, summary_index) =>
        summaryEvents(asString(part.text), { ...position, summary_index }),
      );
    case 'message':
      return objectsIn(item.content).flatMap((part, content_index) => partEvents(part, { ...position, content_index }));
    case 'function_call': {
      const text = asString(item.arguments);
      const deltas = wholeArguments ? [text] : splitCharacters(text, 7);
      return [
        ...deltas.map((delta) => ({ type: 'response.function_call_arguments.delta', ...position, delta })),
        { type: 'response.function_call_arguments.done', ...position, name: item.name, arguments: text },
      ];
    }
    default:
      return [];
  }
}

function summaryEvents(text: string, position: JsonObject): Event[] {
  return [
    { type: 'response.reasoning_summary_part.added', ...position, part: { type: 'summary_text', text: '' } },
    ...splitWords(text).map((delta) => ({ type: 'response.reasoning_summary_text.delta', ...position, delta })),
    { type: 'response.reasoning_summary_text.done', ...position, text },
    { type: 'response.reasoning_summary_part.done', ...position, part: { type: 'summary_text', text } },
  ];
}

function partEvents(part: JsonObject, position: JsonObject): Event[] {
  if (part.type === 'refusal') {
    const refusal = asString(part.refusal);
    return [
      { type: 'response.content_part.added', ...position, part: { type: 'refusal', refusal: '' } },
      ...splitWords(refusal).map((delta) => ({ type: 'response.refusal.delta', ...position, delta })),
      { type: 'response.refusal.done', ...position, refusal },
      { type: 'response.content_part.done', ...position, part },
    ];
  }
  const text = asString(part.text);
  return [
    { type: 'response.content_part.added', ...position, part: { ...part, text: '' } },
    ...splitWords(text).map((delta) => ({ type: 'response.output_text.delta', ...position, delta, logprobs: [] })),
    { type: 'response.output_text.done', ...position, text, logprobs: [] },
    { type: 'response.content_part.done', ...position, part },
  ];
}

/** The item as it is announced, without content. */
function announcedItem(item: JsonObject): JsonObject {
  switch (item.type) {
    case 'reasoning':
      return { ...item, summary: [], ...('status' in item ? { status: 'in_progress' } : {}) };
    case 'message':
      return { ...item, status: 'in_progress', content: [] };
    default:
      return { ...item, status: 'in_progress', arguments: '' };
  }
}
