/** Bytes of an SSE body → domain events: correct on every split, bounded, with a clock that only data resets. */
import { createParser } from 'eventsource-parser';
import { LLMStreamError, LLMTimeoutError } from '../../domain/errors/LLMErrors';
import type { ResponseStreamEvent } from '../../domain/types/StreamEvents';
import type { WireName } from '../../domain/types/VendorTypes';
import type { StreamDecoder } from '../converters/Wire';

export interface DecodeOptions {
  /** Longest silence, in milliseconds; comments are silence. */
  readonly streamIdleTimeout: number;
  readonly maxEventBytes: number;
  /** Ends the request under the body, which makes the reading below fail with this reason. */
  readonly abort: (reason: unknown) => void;
  /** Tells the messages themselves, too, as this wire's. */
  readonly relay?: WireName | undefined;
}

/** One event after another. @throws as `decodeBatches` does */
export async function* decodeStream(
  body: AsyncIterable<Uint8Array>,
  decoder: StreamDecoder,
  options: DecodeOptions,
): AsyncGenerator<ResponseStreamEvent, void, undefined> {
  // One by one: delegating to a list costs an async generator twice as much.
  for await (const batch of decodeBatches(body, decoder, options)) for (const event of batch) yield event;
}

/**
 * What each piece of the body brought, in one step, for those who hand it on one by one themselves: an event costs
 * a promise at each hand that it passes.
 * @throws LLMStreamError for a body that breaks off or breaks the wire's rules, LLMTimeoutError for a stall
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
      // An error is told by what it means alone, so a message that was one never gets here.
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
      // Unknown fields and retry hints carry nothing for us; the SSE standard has them ignored.
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
      // A reader that takes its time is no stall of the host's.
      idle.pause();
      yield batch;
      idle.reset();
    }
    // A last CR could have been half of a CRLF; now it is known to end its line.
    if (endsInCR) parser.feed('\n');
    // Some hosts answer a stream's request with the JSON of an error, and status 200: the decoder knows its errors.
    if (isJson(bareJson)) decoder.push({ data: bareJson }, out);
    // What stands unfinished at the end is not an event: the blank line that ends one never came.
    decoder.end(out);
    yield out;
  } catch (error) {
    // Events that came before the break are the consumer's; the break comes after them.
    yield out;
    throw error;
  } finally {
    idle.stop();
  }
}

/** The body so far, as long as it may be JSON instead of events. */
function appendJsonText(unframed: string, piece: string, limit: number): string | undefined {
  const body = unframed + piece;
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
  return new LLMStreamError(`An event of the stream is larger than ${maxEventBytes} bytes.`, { cause });
}

/** One timer for the whole stream, re-armed only when it fires. */
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
    else this.abort(new LLMTimeoutError(`The stream was silent for ${this.limit} ms.`));
  };
}
