/** Writes the frames of a stream to the body of an HTTP response. */
import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import type { FrameSink } from './FrameSink';

export interface StreamFormat {
  readonly contentType: string;
  /** A frame as it is written to the body. */
  readonly formatFrame: (frame: string, isFirst: boolean) => string;
  readonly keepAlive: string;
  /** Written at the end of a body that has at least one frame. */
  readonly suffix: string;
  /**
   * Destroy the connection after an error. Google's SDK takes an error object in the stream for one more chunk, and a
   * clean end for success.
   */
  readonly destroysOnError: boolean;
}

/** https://html.spec.whatwg.org/multipage/server-sent-events.html */
export const SERVER_SENT_EVENTS: StreamFormat = {
  contentType: 'text/event-stream; charset=utf-8',
  formatFrame: (frame) => frame,
  keepAlive: ': keep-alive\n\n',
  suffix: '',
  destroysOnError: false,
};

export const GOOGLE_EVENTS: StreamFormat = { ...SERVER_SENT_EVENTS, destroysOnError: true };

/** Google's format without `alt=sse`: one JSON array, streamed element by element. */
export const JSON_ARRAY: StreamFormat = {
  contentType: 'application/json; charset=utf-8',
  formatFrame: (frame, isFirst) => `${isFirst ? '[' : ',\r\n'}${frame.slice('data: '.length).trimEnd()}`,
  keepAlive: '\n',
  suffix: ']',
  destroysOnError: true,
};

/** Keeps proxies from caching, compressing or buffering a stream. */
export const STREAM_HEADERS = { 'cache-control': 'no-cache, no-transform', 'x-accel-buffering': 'no' };

export class ResponseSink implements FrameSink {
  private readonly response: ServerResponse;
  private readonly format: StreamFormat;
  private readonly signal: AbortSignal;
  private hasWritten = false;
  private mayStart = false;

  /** @param signal fires when the client disconnects */
  constructor(response: ServerResponse, format: StreamFormat, signal: AbortSignal) {
    this.response = response;
    this.format = format;
    this.signal = signal;
  }

  get hasStarted(): boolean {
    return this.response.headersSent;
  }

  write(frames: readonly string[]): Promise<void> | undefined {
    this.start();
    let text = '';
    for (const frame of frames) {
      text += this.format.formatFrame(frame, !this.hasWritten);
      this.hasWritten = true;
    }
    return this.response.write(text) ? undefined : this.waitForDrain();
  }

  /** Writes complete frames of Server-Sent Events. The promise is that of `write`. */
  writeBytes(frames: Uint8Array): Promise<void> | undefined {
    this.start();
    this.hasWritten = true;
    return this.response.write(frames) ? undefined : this.waitForDrain();
  }

  /** The vendor has accepted the request: from now on, keep-alive messages may send the status line. */
  accept(): void {
    this.mayStart = true;
  }

  keepAlive(): void {
    // Until the vendor has accepted the request, its status may still become the client's.
    if (!this.response.headersSent && !this.mayStart) return;
    // Buffered data keeps the connection busy already.
    if (this.response.writableNeedDrain || this.response.writableEnded || this.response.destroyed) return;
    this.start();
    this.response.write(this.format.keepAlive);
  }

  end(): void {
    this.start();
    this.response.end(this.hasWritten ? this.format.suffix : this.format.formatFrame('', true) + this.format.suffix);
  }

  fail(): void {
    if (!this.format.destroysOnError) {
      this.end();
      return;
    }
    // Everything written before is still sent.
    this.response.write(this.format.keepAlive, () => this.response.destroy());
  }

  private start(): void {
    if (!this.response.headersSent)
      this.response.writeHead(200, { ...STREAM_HEADERS, 'content-type': this.format.contentType });
  }

  private async waitForDrain(): Promise<void> {
    this.signal.throwIfAborted();
    await once(this.response, 'drain', { signal: this.signal }).catch((error: unknown) => {
      this.signal.throwIfAborted();
      throw error;
    });
  }
}
