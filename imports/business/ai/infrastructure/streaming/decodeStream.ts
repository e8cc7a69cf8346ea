/**
 * Decodes the bytes of an SSE body into domain events, wherever the chunks split them, with a limit on event size and
 * an idle timeout that only data resets. https://html.spec.whatwg.org/multipage/server-sent-events.html
 */
import { createParser } from 'eventsource-parser';
import { LLMStreamError, LLMTimeoutError } from '../../domain/errors/LLMErrors';
import type { ResponseStreamEvent } from '../../domain/types/StreamEvents';
import type { WireName } from '../../domain/types/VendorTypes';
import type { StreamDecoder } from '../converters/Wire';

export interface DecodeOptions {
  /** Longest time without data, in milliseconds; comments don't count as data. */
  readonly streamIdleTimeout: number;
  readonly maxEventBytes: number;
  /** Aborts the request that the body belongs to; the pending read then fails with this reason. */
  readonly abort: (reason: unknown) => void;
  /** Also emits every raw message, as a `wire.message` event of this wire. */
  readonly relay?: WireName | undefined;
}

/** Yields events one at a time. @throws as `decodeBatches` does */
export async function* decodeStream(
  body: AsyncIterable<Uint8Array>,
  decoder: StreamDecoder,
  options: DecodeOptions,
): AsyncGenerator<ResponseStreamEvent, void, undefined> {
  // `yield*` on an array costs an async generator twice as much.
  for await (const batch of decodeBatches(body, decoder, options)) for (const event of batch) yield event;
}

/**
 * Yields the events of each chunk of the body as one batch, which saves a promise per event and generator.
 * @throws LLMStreamError for a body that is truncated or violates the wire's format
 * @throws LLMTimeoutError when no data arrives for `streamIdleTimeout`
 */
export async function* decodeBatches(
  body: AsyncIterable<Uint8Array>,
  decoder: StreamDecoder,
  options: DecodeOptions,
): AsyncGenerator<readonly ResponseStreamEvent[], void, undefined> {
  let out: ResponseStreamEvent[] = [];
  const idle = new IdleTimer(options.streamIdleTimeout, options.abort);
  const parser = createParser({
    maxBufferSize: options.maxEventBytes,
    onEvent: (message) => {
      idle.reset();
      if (message.data.length > options.maxEventBytes) throw tooLargeError(options.maxEventBytes);
      const firstIndex = out.length;
      decoder.push(message, out);
      // The decoder throws for a message that reports an error, so such a message is never relayed.
      if (options.relay !== undefined)
        out.splice(firstIndex, 0, {
          type: 'wire.message',
          wire: options.relay,
          event: message.event,
          data: message.data,
        });
    },
    onError: (error) => {
      if (error.type === 'max-buffer-size-exceeded') throw tooLargeError(options.maxEventBytes, error);
      // Unknown fields and retry hints are ignored, as the SSE standard requires.
    },
  });
  const text = new TextDecoder();
  let bareJson: string | undefined = '';
  let endsInCR = false;
  try {
    for await (const chunk of body) {
      const chunkText = text.decode(chunk, { stream: true });
      if (chunkText !== '') endsInCR = chunkText.endsWith('\r');
      if (bareJson !== undefined) bareJson = appendJsonText(bareJson, chunkText, options.maxEventBytes);
      parser.feed(chunkText);
      if (out.length === 0) continue;
      const batch = out;
      out = [];
      // Time that the consumer takes is not the vendor's idle time.
      idle.pause();
      yield batch;
      idle.reset();
    }
    // A final CR could have been the first half of a CRLF; at the end of the body it ends its line.
    if (endsInCR) parser.feed('\n');
    // Some vendors respond to a streaming request with status 200 and an error as plain JSON, which the decoder throws.
    if (isJson(bareJson)) decoder.push({ data: bareJson }, out);
    // An event without its closing blank line is incomplete and is dropped, as the SSE standard requires.
    decoder.end(out);
    yield out;
  } catch (error) {
    // The consumer still receives the events that arrived before the failure.
    yield out;
    throw error;
  } finally {
    idle.stop();
  }
}

/** The body so far; `undefined` once it can no longer be plain JSON instead of events. */
function appendJsonText(bareJson: string, chunkText: string, limit: number): string | undefined {
  const body = bareJson + chunkText;
  return body.length > limit || !/^\s*(?:[{[]|$)/.test(body) ? undefined : body;
}

function isJson(body: string | undefined): body is string {
  if (body === undefined) return false;
  try {
    JSON.parse(body);
    return true;
  } catch {
    return false;
  }
}

function tooLargeError(maxEventBytes: number, cause?: unknown): LLMStreamError {
  return new LLMStreamError(`The stream sent an event larger than ${maxEventBytes} bytes.`, { cause });
}

/** One timer for the entire stream. It is re-armed only when it fires, so that an event costs no new timer. */
class IdleTimer {
  private lastActivity = performance.now();
  private isPaused = false;
  private timer: ReturnType<typeof setTimeout>;
  private readonly limit: number;
  private readonly abort: (reason: unknown) => void;

  constructor(limit: number, abort: (reason: unknown) => void) {
    this.limit = limit;
    this.abort = abort;
    this.timer = setTimeout(this.check, limit);
  }

  reset(): void {
    this.lastActivity = performance.now();
    this.isPaused = false;
  }

  pause(): void {
    this.isPaused = true;
  }

  stop(): void {
    clearTimeout(this.timer);
  }

  private readonly check = (): void => {
    const left = this.isPaused ? this.limit : this.lastActivity + this.limit - performance.now();
    if (left > 0) this.timer = setTimeout(this.check, left);
    else this.abort(new LLMTimeoutError(`The stream sent no data for ${this.limit} ms.`));
  };
}
