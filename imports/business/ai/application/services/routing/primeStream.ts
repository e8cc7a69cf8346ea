/** A stream that has begun to answer: up to here it may be tried again, from here on it may not. */
import { LLMStreamError } from '../../../domain/errors/LLMErrors';
import type { ResponseStreamEvent } from '../../../domain/types/StreamEvents';

export interface PrimedStream {
  /** What came so far: its announcement, and the first event that says something. */
  readonly head: readonly ResponseStreamEvent[];
  readonly rest: AsyncIterator<ResponseStreamEvent, unknown, undefined>;
}

/** An announcement, and what only repeats what other events say. */
const PREAMBLE_EVENTS: ReadonlySet<string> = new Set<ResponseStreamEvent['type']>(['response.created', 'wire.message']);

/**
 * Reads up to the first event that says something. What comes before it is held back, since a host that fails right
 * after its announcement has given nothing yet.
 * @throws what the stream throws, the error of `response.failed`, LLMStreamError for a stream that ends before it
 *   says anything
 */
export async function primeStream(events: AsyncIterable<ResponseStreamEvent>): Promise<PrimedStream> {
  const rest = events[Symbol.asyncIterator]() as PrimedStream['rest'];
  const head: ResponseStreamEvent[] = [];
  for (;;) {
    const next = await rest.next();
    if (next.done === true) throw new LLMStreamError('The stream ended without an answer.');
    if (next.value.type === 'response.failed') {
      await rest.return?.();
      throw next.value.error;
    }
    head.push(next.value);
    if (!PREAMBLE_EVENTS.has(next.value.type)) return { head, rest };
  }
}

/**
 * The whole stream. A consumer that leaves early takes the upstream request with it.
 * @throws what the stream throws, the error of `response.failed`, LLMStreamError for a stream without
 *   `response.completed`
 */
export async function* eventsOf({ head, rest }: PrimedStream): AsyncGenerator<ResponseStreamEvent, void, undefined> {
  let completed = false;
  let open = true;
  try {
    for (const event of head) {
      completed ||= event.type === 'response.completed';
      yield event;
    }
    for (;;) {
      open = false;
      const next = await rest.next();
      if (next.done === true) break;
      open = true;
      if (next.value.type === 'response.failed') throw next.value.error;
      completed ||= next.value.type === 'response.completed';
      yield next.value;
    }
  } finally {
    if (open) await rest.return?.();
  }
  if (!completed) throw new LLMStreamError('The stream ended before its answer was complete.', { retryable: false });
}
