/** An answer: status and headers are here, the body is still on its way. */
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import { REQUEST_ID_HEADERS } from '../../../domain/errors/vendorErrors';
import { ResponseBody } from './ResponseBody';
import type { BodyStreamOptions } from './ResponseBody';
import { passthroughHeaders } from '../shownHeaders';
import type { VendorReply } from '../VendorClient';

export class GuardedResponse implements VendorReply {
  readonly status: number;
  readonly statusText: string;
  readonly ok: boolean;
  readonly url: string;
  readonly headers: GuardedHeaders;
  readonly body: ResponseBody;

  constructor(url: string, message: IncomingMessage, options: BodyStreamOptions) {
    this.status = message.statusCode ?? 0;
    this.statusText = message.statusMessage ?? '';
    this.ok = this.status >= 200 && this.status < 300;
    this.url = url;
    this.headers = new GuardedHeaders(message.headers);
    this.body = new ResponseBody(message, options);
  }

  header(name: string): string | null {
    return this.headers.get(name);
  }

  get requestId(): string | undefined {
    for (const name of REQUEST_ID_HEADERS) {
      const id = this.headers.get(name);
      if (id !== null) return id;
    }
    return undefined;
  }

  get shownHeaders(): Readonly<Record<string, string>> {
    return passthroughHeaders(this.headers);
  }

  text(): Promise<string> {
    return this.body.text();
  }

  async json(): Promise<unknown> {
    return JSON.parse(await this.text());
  }
}

/** Read-only; names in any case. */
class GuardedHeaders implements Iterable<[string, string]> {
  private readonly headers: IncomingHttpHeaders;

  constructor(headers: IncomingHttpHeaders) {
    this.headers = headers;
  }

  get(name: string): string | null {
    const value = this.headers[name.toLowerCase()];
    if (value === undefined) return null;
    return typeof value === 'string' ? value : value.join(', ');
  }

  has(name: string): boolean {
    return this.headers[name.toLowerCase()] !== undefined;
  }

  *entries(): IterableIterator<[string, string]> {
    for (const name of Object.keys(this.headers)) {
      const value = this.get(name);
      if (value !== null) yield [name, value];
    }
  }

  [Symbol.iterator](): IterableIterator<[string, string]> {
    return this.entries();
  }
}
