/** Reads a stream up to its first substantial event: until then a failed attempt may be retried, afterwards not. */
import { EventStream } from '../../../domain/events/EventStream';
import { LLMStreamError, LLMTimeoutError } from '../../../domain/errors/LLMErrors';
import { isList } from '../../../domain/util/json';
import type { ResponseStreamEvent } from '../../../domain/types/StreamEvents';

/** Announcements, events that only repeat what others carry, and counts, which Anthropic sends before any content. */
const PREAMBLE_EVENTS: ReadonlySet<string> = new Set<ResponseStreamEvent['type']>([
  'response.created',
  'response.usage',
  'wire.message',
]);

/**
 * Holds the preamble back, since a provider that fails right after it has delivered nothing yet.
 * @returns the entire stream, whose first events have arrived
 * @throws whatever the stream throws, the error of `response.failed`, LLMStreamError for a stream that ends within
 *   its preamble
 */
export async function primeStream(given: AsyncIterable<ResponseStreamEvent>): Promise<EventStream> {
  const events = EventStream.of(given);
  const head: ResponseStreamEvent[] = [];
  for (;;) {
    const batch = await events.read();
    if (batch === undefined) throw new LLMStreamError('The stream ended without a response.');
    head.push(...batch);
    const first = batch.find((event) => !isPreamble(event));
    if (first === undefined) continue;
    if (first.type === 'response.failed') {
      await events.close();
      throw first.error;
    }
    events.unread(head);
    return events;
  }
}

/**
 * A text that has begun is no content yet. The start of another item may be all that is seen of it for minutes. Azure's
 * first chunk of chat completions has no choices, but the filter's verdict on the prompt:
 * https://learn.microsoft.com/azure/foundry/openai/concepts/content-streaming
 */
function isPreamble(event: ResponseStreamEvent): boolean {
  if (event.type === 'vendor.event') return isList(event.raw.choices) && event.raw.choices.length === 0;
  if (event.type !== 'response.output_item.added') return PREAMBLE_EVENTS.has(event.type);
  return event.item.type === 'message' && event.item.content.length === 0;
}

/**
 * @param milliseconds from the request to the first substantial event
 * @param open sends the request; its signal ends it
 * @throws LLMTimeoutError, or as `primeStream` does
 */
export async function primeStreamWithin(
  milliseconds: number,
  signal: AbortSignal | undefined,
  open: (signal: AbortSignal) => AsyncIterable<ResponseStreamEvent>,
): Promise<EventStream> {
  const controller = new AbortController();
  const combined = signal === undefined ? controller.signal : AbortSignal.any([signal, controller.signal]);
  const primed = primeStream(open(combined));
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => {
      const error = new LLMTimeoutError(`There was no output within ${milliseconds} ms.`);
      reject(error);
      // A provider that ignores the signal is closed when it answers.
      primed.then((events) => events.close()).catch(() => undefined);
      controller.abort(error);
    }, milliseconds);
  });
  try {
    return await Promise.race([primed, late]);
  } finally {
    clearTimeout(timer);
  }
}
