/** Frames of a stream as the body of an HTTP answer. */
import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import type { FrameSink } from './FrameSink';

export interface StreamForm {
  readonly contentType: string;
  /** A frame as it stands in the body. */
  readonly shape: (frame: string, isFirst: boolean) => string;
  readonly keepAlive: string;
  /** What closes the body, when it was begun. */
  readonly ending: string;
  /**
   * After an error the connection is cut: Google's SDK takes an error between answers for one more of them, and a
   * clean end for success.
   */
  readonly cutsFailures: boolean;
}

/** https://html.spec.whatwg.org/multipage/server-sent-events.html */
export const SERVER_SENT_EVENTS: StreamForm = {
  contentType: 'text/event-stream; charset=utf-8',
  shape: (frame) => frame,
  keepAlive: ': keep-alive\n\n',
  ending: '',
  cutsFailures: false,
};

export const GOOGLE_EVENTS: StreamForm = { ...SERVER_SENT_EVENTS, cutsFailures: true };

/** Google's form without `alt=sse`: one array whose elements come as they are made. */
export const JSON_ARRAY: StreamForm = {
  contentType: 'application/json; charset=utf-8',
  shape: (frame, isFirst) => `${isFirst ? '[' : ',\r\n'}${frame.slice('data: '.length).trimEnd()}`,
  keepAlive: '\n',
  ending: ']',
  cutsFailures: true,
};

/** Proxies must neither keep, compress nor collect a stream. */
export const STREAM_HEADERS = { 'cache-control': 'no-cache, no-transform', 'x-accel-buffering': 'no' };

export class ResponseSink implements FrameSink {
  private readonly response: ServerResponse;
  private readonly form: StreamForm;
  private readonly signal: AbortSignal;
  private wrote = false;

  /** @param signal fires when the reader leaves */
  constructor(response: ServerResponse, form: StreamForm, signal: AbortSignal) {
    this.response = response;
    this.form = form;
    this.signal = signal;
  }

  get hasBegun(): boolean {
    return this.response.headersSent;
  }

  write(frame: string): Promise<void> | undefined {
    this.begin();
    const text = this.form.shape(frame, !this.wrote);
    this.wrote = true;
    return this.response.write(text) ? undefined : this.room();
  }

  keepAlive(): void {
    // What waits to be sent keeps the connection busy enough.
    if (this.response.writableNeedDrain || this.response.writableEnded || this.response.destroyed) return;
    this.begin();
    this.response.write(this.form.keepAlive);
  }

  end(): void {
    this.begin();
    this.response.end(this.wrote ? this.form.ending : this.form.shape('', true) + this.form.ending);
  }

  fail(): void {
    if (!this.form.cutsFailures) {
      this.end();
      return;
    }
    // What was said before is still sent.
    this.response.write(this.form.keepAlive, () => this.response.destroy());
  }

  private begin(): void {
    if (!this.response.headersSent)
      this.response.writeHead(200, { ...STREAM_HEADERS, 'content-type': this.form.contentType });
  }

  private async room(): Promise<void> {
    this.signal.throwIfAborted();
    await once(this.response, 'drain', { signal: this.signal }).catch((error: unknown) => {
      this.signal.throwIfAborted();
      throw error;
    });
  }
}
