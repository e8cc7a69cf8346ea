/**
 * Decodes the bytes of an SSE body into domain events, wherever the chunks split them, with a limit on event size and
 * an idle timeout that only data resets. https://html.spec.whatwg.org/multipage/server-sent-events.html
 */
import { StringDecoder } from 'node:string_decoder';
import { createParser } from 'eventsource-parser';
import type { EventSourceParser } from 'eventsource-parser';
import { readJson } from '../../domain/util/json';
import { EventStream } from '../../domain/events/EventStream';
import type { EventBatch, EventBatches } from '../../domain/events/EventBatches';
import { LLMStreamError, LLMTimeoutError } from '../../domain/errors/LLMErrors';
import type { MessageRun, RelayTarget } from '../../domain/types/RelayTarget';
import type { ResponseStreamEvent } from '../../domain/types/StreamEvents';
import type { WireName } from '../../domain/types/VendorTypes';
import type { SseMessage, StreamDecoder } from '../converters/Wire';
import { RelayScanner } from './RelayScanner';

export interface DecodeOptions {
  /** Longest time without data, in milliseconds; comments don't count as data. */
  readonly streamIdleTimeout: number;
  readonly maxEventBytes: number;
  /** Aborts the request that the body belongs to; the pending read then fails with this reason. */
  readonly abort: (reason: unknown) => void;
  /** Also emits every raw message, as a `wire.message` event of this wire. */
  readonly relay?: WireName | undefined;
  /** With `relay`: takes messages that need not be decoded. */
  readonly relayTo?: RelayTarget | undefined;
  /** Called once, when nothing more will be read from the body. */
  readonly onEnd?: () => void;
}

/**
 * The events of each chunk of the body are one batch. Those that arrived before a failure are emitted before it.
 * @throws LLMStreamError for a body that is truncated or violates the wire's format
 * @throws LLMTimeoutError when no data arrives for `streamIdleTimeout`
 */
export function decodeStream(
  body: AsyncIterable<Uint8Array>,
  decoder: StreamDecoder,
  options: DecodeOptions,
): EventStream {
  return new EventStream(new DecodedBody(body, decoder, options));
}

class DecodedBody implements EventBatches {
  private readonly chunks: AsyncIterator<Uint8Array>;
  private readonly decoder: StreamDecoder;
  private readonly options: DecodeOptions;
  private readonly parser: EventSourceParser;
  private readonly scanner: RelayScanner | undefined;
  /** Is written once the consumer has taken the events before it, and asks for more. */
  private run: MessageRun | undefined;
  /** Faster than TextDecoder by far, which it differs from in keeping a byte order mark. */
  private readonly utf8 = new StringDecoder('utf8');
  private idle: IdleTimer | undefined;
  private out: ResponseStreamEvent[] = [];
  private isFirstText = true;
  /** Messages so far. */
  private received = 0;
  /** Characters since the last message. */
  private pending = 0;
  /** The body so far; `undefined` once it can no longer be plain JSON instead of events. */
  private bareJson: string | undefined = '';
  private endsInCR = false;
  /** The body has ended, perhaps within an event. */
  private hasEnded = false;
  /** To be thrown once the events that arrived before it are read. */
  private failure: { readonly error: unknown } | undefined;
  private isDone = false;

  constructor(body: AsyncIterable<Uint8Array>, decoder: StreamDecoder, options: DecodeOptions) {
    this.chunks = body[Symbol.asyncIterator]();
    this.decoder = decoder;
    this.options = options;
    this.scanner = options.relayTo === undefined ? undefined : new RelayScanner();
    // Unknown fields and retry hints are ignored, as the SSE standard requires.
    this.parser = createParser({ onEvent: (message) => this.onMessage(message) });
  }

  async read(): Promise<EventBatch | undefined> {
    const { failure } = this;
    this.failure = undefined;
    if (failure !== undefined) throw failure.error;
    if (this.isDone) return undefined;
    this.idle ??= new IdleTimer(this.options.streamIdleTimeout, this.options.abort);
    this.idle.reset();
    try {
      while (this.out.length === 0) {
        if (this.run !== undefined) {
          const drained = this.writeRun(this.run);
          if (drained !== undefined) await drained;
          if (this.hasClosed()) return undefined;
          this.idle.reset();
          this.scan();
          continue;
        }
        const chunk = await this.chunks.next();
        // Closed while it waited.
        if (this.hasClosed()) return undefined;
        if (chunk.done === true) {
          this.finish();
          break;
        }
        if (this.scanner === undefined) this.feed(chunk.value);
        else {
          this.scanner.add(chunk.value);
          this.scan();
        }
      }
    } catch (error) {
      if (this.hasClosed()) return undefined;
      // The first error counts.
      await this.close().catch(() => undefined);
      if (this.out.length === 0) throw error;
      this.failure = { error };
    }
    // Time that the consumer takes is not the vendor's idle time.
    this.idle.pause();
    return this.takeBatch();
  }

  async close(): Promise<void> {
    if (this.isDone) return;
    this.stop();
    await this.chunks.return?.();
  }

  /** While the caller waited. */
  private hasClosed(): boolean {
    return this.isDone;
  }

  private takeBatch(): EventBatch | undefined {
    if (this.out.length === 0) return undefined;
    const batch = this.out;
    this.out = [];
    return batch;
  }

  private stop(): void {
    this.isDone = true;
    this.idle?.stop();
    this.options.onEnd?.();
  }

  private writeRun(run: MessageRun): Promise<void> | undefined {
    this.run = undefined;
    const { relayTo } = this.options;
    if (relayTo?.isOpen !== true) {
      this.scanner?.refuse(run);
      return undefined;
    }
    this.idle?.pause();
    return relayTo.write(run);
  }

  /** Decodes up to the next run. */
  private scan(): void {
    const { scanner } = this;
    if (scanner === undefined) return;
    for (;;) {
      this.run = scanner.takeRun();
      if (this.run !== undefined) return;
      const message = scanner.takeMessage();
      if (message === undefined) return;
      this.feed(message);
    }
  }

  private feed(chunk: Uint8Array): void {
    let text = this.utf8.write(chunk);
    if (text === '') return;
    if (this.isFirstText && text.startsWith('\uFEFF')) text = text.slice(1);
    this.isFirstText = false;
    this.endsInCR = text.endsWith('\r');
    if (this.bareJson !== undefined) this.bareJson = appendJsonText(this.bareJson, text, this.options.maxEventBytes);
    const before = this.received;
    this.pending += text.length;
    this.parser.feed(text);
    if (this.received > before) this.idle?.reset();
    if (this.pending > this.options.maxEventBytes) throw tooLargeError(this.options.maxEventBytes);
  }

  private onMessage(message: SseMessage): void {
    const { relay, maxEventBytes } = this.options;
    if (this.hasEnded && !isWhole(message.data)) return;
    this.received += 1;
    this.pending = 0;
    if (message.data.length > maxEventBytes) throw tooLargeError(maxEventBytes);
    const firstIndex = this.out.length;
    this.decoder.push(message, this.out);
    this.scanner?.decoded(isOnlyText(this.out, firstIndex));
    // The decoder throws for a message that reports an error, so such a message is never relayed.
    if (relay !== undefined)
      this.out.splice(firstIndex, 0, {
        type: 'wire.message',
        wire: relay,
        event: message.event,
        data: message.data,
      });
  }

  private finish(): void {
    if (this.scanner !== undefined) this.feed(this.scanner.takeRest());
    // An event without its closing blank line is incomplete by the SSE standard. One that is whole all the same comes
    // from a host, or a file, that trims its stream. A final CR could have been the first half of a CRLF.
    this.hasEnded = true;
    this.parser.feed(this.endsInCR ? '\n\n' : '\n\n\n');
    // Some vendors respond to a streaming request with status 200 and an error as plain JSON, which the decoder throws.
    if (isJson(this.bareJson)) this.decoder.push({ data: this.bareJson }, this.out);
    this.decoder.end(this.out);
    this.stop();
  }
}

/** Whether a message is a piece of text and nothing else, by the events that it became. */
function isOnlyText(out: readonly ResponseStreamEvent[], first: number): boolean {
  const type = out.length === first + 1 ? out[first]?.type : undefined;
  return type === 'response.output_text.delta' || type === 'response.reasoning.delta';
}

/** The body so far; `undefined` once it can no longer be plain JSON instead of events. */
function appendJsonText(bareJson: string, chunkText: string, limit: number): string | undefined {
  const body = bareJson + chunkText;
  return body.length > limit || !/^\s*(?:[{[]|$)/.test(body) ? undefined : body;
}

/** Whether the data of the last event is not cut: no beginning of a JSON object is JSON. */
function isWhole(data: string): boolean {
  return data.trim() === '[DONE]' || isJson(data);
}

function isJson(body: string | undefined): body is string {
  return body !== undefined && readJson(body) !== undefined;
}

function tooLargeError(maxEventBytes: number): LLMStreamError {
  return new LLMStreamError(`The stream sent an event larger than ${maxEventBytes} bytes.`);
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
