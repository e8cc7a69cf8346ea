/**
 * A response body that is pulled: back-pressure reaches the socket, leaving destroys it, and an early end is an
 * error.
 */
import type { IncomingMessage } from 'node:http';
import type { Readable } from 'node:stream';
import { isLLMError, LLMStreamError } from '../../../domain/errors/LLMErrors';
import type { LLMError, LLMErrorDetails } from '../../../domain/errors/LLMErrors';
import { decodedBody } from '../contentEncoding';

export interface BodyStreamOptions {
  /** Cap on the decoded body, in bytes. */
  readonly maxBytes: number;
  readonly signal: AbortSignal | undefined;
  readonly host: string;
  readonly details: LLMErrorDetails;
}

/** Bytes that may wait here for the consumer before the socket is paused. */
const MAX_BUFFERED = 64 * 1024;

interface Waiting {
  readonly resolve: (result: IteratorResult<Uint8Array, undefined> | Promise<never>) => void;
}

/** Can be read once. Throws LLMStreamError, LLMTimeoutError or the signal's reason from `next`. */
export class ResponseBody implements AsyncIterableIterator<Uint8Array, undefined> {
  private readonly message: IncomingMessage;
  private readonly source: Readable;
  private readonly options: BodyStreamOptions;
  private chunks: Uint8Array[] = [];
  private buffered = 0;
  private received = 0;
  private waiting: Waiting | undefined;
  private started = false;
  private state: 'open' | 'ended' | 'left' = 'open';
  private error: LLMError | undefined;
  private collectedText: Promise<string> | undefined;

  constructor(message: IncomingMessage, options: BodyStreamOptions) {
    this.message = message;
    this.options = options;
    this.source = decodedBody(message, options.details);
    this.source.on('error', (error) => this.breakOff(error));
    // A body that was destroyed without a word has neither `end` nor `error`.
    this.source.on('close', () => this.breakOff());
    this.source.on('end', () => this.end());
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  next(): Promise<IteratorResult<Uint8Array, undefined>> {
    if (!this.started) this.start();
    const chunk = this.take();
    if (chunk !== undefined) return Promise.resolve({ value: chunk, done: false });
    if (this.error !== undefined) return this.refuse(this.error);
    if (this.state !== 'open') return Promise.resolve({ value: undefined, done: true });
    return new Promise((resolve) => {
      this.waiting = { resolve };
    });
  }

  /** Leaves the body: unless its end has come, the request is aborted in this tick. */
  return(): Promise<IteratorResult<Uint8Array, undefined>> {
    if (this.state === 'open') {
      this.state = 'left';
      this.chunks = [];
      this.destroy();
    }
    return Promise.resolve({ value: undefined, done: true });
  }

  /** Ends the body from this side: the reader gets the failure (or the signal's reason) at once, whatever had come. */
  stop(failure: LLMError): void {
    if (this.state === 'open') this.chunks = [];
    this.fail(failure);
  }

  /** The whole body as UTF-8, without a byte order mark; may be asked for again. */
  text(): Promise<string> {
    this.collectedText ??= this.collect();
    return this.collectedText;
  }

  private async collect(): Promise<string> {
    const chunks: Uint8Array[] = [];
    for await (const chunk of this) chunks.push(chunk);
    const bytes = Buffer.concat(chunks);
    const start = bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf ? 3 : 0;
    return bytes.toString('utf8', start);
  }

  private start(): void {
    this.started = true;
    const declared = Number(this.message.headers['content-length'] ?? 0);
    if (declared > this.options.maxBytes) this.tooLarge();
    else this.source.on('data', (chunk: Uint8Array) => this.push(chunk));
  }

  /** All that waits, at once: hosts send many small pieces, and each hand-over costs a promise. */
  private take(): Uint8Array | undefined {
    const chunks = this.chunks;
    if (chunks.length === 0) return undefined;
    this.chunks = [];
    this.buffered = 0;
    if (this.source.isPaused()) this.source.resume();
    return chunks.length === 1 ? chunks[0] : Buffer.concat(chunks);
  }

  private push(chunk: Uint8Array): void {
    if (this.state !== 'open') return;
    this.received += chunk.byteLength;
    if (this.received > this.options.maxBytes) {
      this.tooLarge();
      return;
    }
    const waiting = this.waiting;
    if (waiting !== undefined) {
      this.waiting = undefined;
      waiting.resolve({ value: chunk, done: false });
      return;
    }
    this.chunks.push(chunk);
    this.buffered += chunk.byteLength;
    if (this.buffered >= MAX_BUFFERED) this.source.pause();
  }

  private end(): void {
    if (this.state !== 'open') return;
    this.state = 'ended';
    this.waiting?.resolve({ value: undefined, done: true });
    this.waiting = undefined;
  }

  /** What came before the fault is still read. */
  private fail(error: LLMError): void {
    if (this.state !== 'open') return;
    this.state = 'ended';
    this.error = error;
    this.destroy();
    this.waiting?.resolve(this.refuse(error));
    this.waiting = undefined;
  }

  /** The signal's own reason wins: callers recognise their abort by it. */
  private refuse(error: LLMError): Promise<never> {
    return new Promise((_resolve, reject) => {
      this.options.signal?.throwIfAborted();
      reject(error);
    });
  }

  private tooLarge(): void {
    this.stop(
      new LLMStreamError(`the answer of ${this.options.host} is larger than ${this.options.maxBytes} bytes`, {
        ...this.options.details,
        retryable: false,
      }),
    );
  }

  private breakOff(cause?: Error): void {
    if (this.state !== 'open') return;
    const details = { ...this.options.details, ...(cause === undefined ? {} : { cause }) };
    this.fail(isLLMError(cause) ? cause : new LLMStreamError(`the answer of ${this.options.host} broke off`, details));
  }

  /** Takes the socket down in this tick; only a body that was read to its end gives it back. */
  private destroy(): void {
    this.message.destroy();
    this.source.destroy();
  }
}
