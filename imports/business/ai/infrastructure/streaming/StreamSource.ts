/** A vendor's response body, pulled chunk by chunk, limited in size, and cancelled as soon as its reader stops. */
import { LLMStreamError, LLMTimeoutError } from '../../domain/errors/LLMErrors';

/** A web stream, as fetch returns it, or any other async iterable of bytes. */
export type ByteSource = ReadableStream<Uint8Array> | AsyncIterable<Uint8Array>;

export interface StreamSourceOptions {
  readonly maxResponseBytes: number;
  /** Milliseconds; enforced here only after `enforceIdleTimeout`. */
  readonly streamIdleTimeout: number;
  readonly signal: AbortSignal | undefined;
}

interface PendingRead {
  readonly resolve: (result: IteratorResult<Uint8Array, undefined>) => void;
  readonly reject: (reason: Error) => void;
}

interface ChunkReader {
  next(): Promise<IteratorResult<Uint8Array, unknown>>;
  cancel(): Promise<unknown>;
}

/**
 * Can be read once. `next` rejects with LLMStreamError, LLMTimeoutError, the signal's reason or the source's own
 * error.
 */
export class StreamSource implements AsyncIterableIterator<Uint8Array, undefined> {
  private readonly options: StreamSourceOptions;
  private readonly reader: ChunkReader;
  private received = 0;
  private isDone = false;
  private failure: { readonly reason: unknown } | undefined;
  private pending: PendingRead | undefined;
  private enforcesIdleTimeout = false;
  private timer: ReturnType<typeof setTimeout> | undefined;

  constructor(source: ByteSource, options: StreamSourceOptions) {
    this.options = options;
    this.reader = readerOf(source);
    const { signal } = options;
    if (signal?.aborted === true) this.fail(signal.reason);
    else signal?.addEventListener('abort', this.onAbort, { once: true });
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  next(): Promise<IteratorResult<Uint8Array, undefined>> {
    return new Promise((resolve, reject) => {
      if (this.failure !== undefined) reject(asError(this.failure.reason));
      else if (this.isDone) resolve(END);
      else this.read({ resolve, reject });
    });
  }

  /** Cancels the body in this tick, even while a read is pending. */
  return(): Promise<IteratorResult<Uint8Array, undefined>> {
    const { pending } = this;
    this.cancel();
    pending?.resolve(END);
    return Promise.resolve(END);
  }

  /**
   * Called when no data arrived for too long. Fails the pending read; if no read is pending, the consumer is the
   * slow one, and the timeout starts with its next read.
   */
  failOnIdle(reason: unknown): void {
    if (this.pending === undefined) this.enforceIdleTimeout();
    else this.fail(reason);
  }

  /** From now on, every read is limited to `streamIdleTimeout`. */
  enforceIdleTimeout(): void {
    this.enforcesIdleTimeout = true;
  }

  private read(pending: PendingRead): void {
    const { streamIdleTimeout } = this.options;
    this.pending = pending;
    if (this.enforcesIdleTimeout)
      this.timer = setTimeout(() => this.fail(idleTimeoutError(streamIdleTimeout)), streamIdleTimeout);
    this.reader.next().then(
      (result) => this.deliver(pending, result),
      (error: unknown) => {
        if (this.isDone) return;
        this.close();
        pending.reject(asError(error));
      },
    );
  }

  private deliver(pending: PendingRead, result: IteratorResult<Uint8Array, unknown>): void {
    if (this.isDone) return;
    if (result.done === true) {
      this.close();
      pending.resolve(END);
      return;
    }
    this.received += result.value.byteLength;
    if (this.received > this.options.maxResponseBytes) {
      this.fail(tooLargeError(this.options.maxResponseBytes));
      return;
    }
    this.clearPending();
    pending.resolve({ value: result.value, done: false });
  }

  private fail(reason: unknown): void {
    if (this.isDone) return;
    const { pending } = this;
    this.failure = { reason };
    this.cancel();
    pending?.reject(asError(reason));
  }

  private readonly onAbort = (): void => {
    this.fail(this.options.signal?.reason);
  };

  private cancel(): void {
    if (this.isDone) return;
    this.close();
    this.reader.cancel().catch(() => {
      // The body is no longer needed, so a failure to cancel it changes nothing.
    });
  }

  private clearPending(): void {
    this.pending = undefined;
    clearTimeout(this.timer);
  }

  private close(): void {
    this.isDone = true;
    this.clearPending();
    this.options.signal?.removeEventListener('abort', this.onAbort);
  }
}

const END: IteratorReturnResult<undefined> = { value: undefined, done: true };

/** A web stream's iterator waits for the pending read before it cancels; its reader cancels at once. */
function readerOf(source: ByteSource): ChunkReader {
  if ('getReader' in source) {
    const reader = source.getReader();
    return { next: () => reader.read(), cancel: () => reader.cancel() };
  }
  const iterator = source[Symbol.asyncIterator]();
  return { next: () => iterator.next(), cancel: () => Promise.resolve(iterator.return?.()) };
}

function idleTimeoutError(limit: number): LLMTimeoutError {
  return new LLMTimeoutError(`The stream sent no data for ${limit} ms.`);
}

function tooLargeError(limit: number): LLMStreamError {
  return new LLMStreamError(`The response is larger than ${limit} bytes.`, { retryable: false });
}

/** A signal's reason can be any value. The caller recognizes it by identity, so it is passed on unchanged. */
function asError(reason: unknown): Error {
  return reason as Error;
}
