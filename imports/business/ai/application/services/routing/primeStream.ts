/** Reads a stream up to its first substantial event: until then a failed attempt may be retried, afterwards not. */
import { LLMStreamError, LLMTimeoutError } from '../../../domain/errors/LLMErrors';
import type { ResponseStreamEvent } from '../../../domain/types/StreamEvents';

export interface PrimedStream {
  /** The events read so far: the preamble and the first substantial event. */
  readonly head: readonly ResponseStreamEvent[];
  readonly rest: AsyncIterator<ResponseStreamEvent, unknown, undefined>;
}

/** Announcements, and events that only repeat what others carry. */
const PREAMBLE_EVENTS: ReadonlySet<string> = new Set<ResponseStreamEvent['type']>(['response.created', 'wire.message']);

/**
 * Holds the preamble back, since a provider that fails right after it has delivered nothing yet.
 * @throws whatever the stream throws, the error of `response.failed`, LLMStreamError for a stream that ends within
 *   its preamble
 */
export async function primeStream(events: AsyncIterable<ResponseStreamEvent>): Promise<PrimedStream> {
  const rest = events[Symbol.asyncIterator]() as PrimedStream['rest'];
  const head: ResponseStreamEvent[] = [];
  for (;;) {
    const next = await rest.next();
    if (next.done === true) throw new LLMStreamError('The stream ended without a response.');
    if (next.value.type === 'response.failed') {
      await rest.return?.();
      throw next.value.error;
    }
    head.push(next.value);
    if (!PREAMBLE_EVENTS.has(next.value.type)) return { head, rest };
  }
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
): Promise<PrimedStream> {
  const controller = new AbortController();
  const combined = signal === undefined ? controller.signal : AbortSignal.any([signal, controller.signal]);
  const primed = primeStream(open(combined));
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => {
      const error = new LLMTimeoutError(`There was no output within ${milliseconds} ms.`);
      reject(error);
      // A provider that ignores the signal is closed when it answers.
      primed.then(({ rest }) => rest.return?.()).catch(() => undefined);
      controller.abort(error);
    }, milliseconds);
  });
  try {
    return await Promise.race([primed, late]);
  } finally {
    clearTimeout(timer);
  }
}

/**
 * The entire stream. A consumer that leaves early closes the upstream request.
 * @throws whatever the stream throws, the error of `response.failed`, LLMStreamError for a stream without
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
  if (!completed) throw new LLMStreamError('The stream ended before its response was complete.', { retryable: false });
}
