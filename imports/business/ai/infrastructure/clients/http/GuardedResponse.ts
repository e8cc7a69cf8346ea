/** A response whose status and headers have arrived; the body is still to be read. */
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import { REDACTED } from '../../../domain/errors/safeText';
import { REQUEST_ID_HEADERS } from '../../../domain/errors/vendorErrors';
import { ResponseBody } from './ResponseBody';
import type { ResponseBodyOptions } from './ResponseBody';
import type { VendorHttpResponse } from '../VendorClient';

export class GuardedResponse implements VendorHttpResponse {
  readonly status: number;
  readonly statusText: string;
  readonly ok: boolean;
  readonly url: string;
  readonly headers: GuardedHeaders;
  readonly body: ResponseBody;

  constructor(url: string, message: IncomingMessage, options: ResponseBodyOptions) {
    this.status = message.statusCode ?? 0;
    this.statusText = message.statusMessage ?? '';
    this.ok = this.status >= 200 && this.status < 300;
    this.url = url;
    this.headers = new GuardedHeaders(message.headers);
    this.body = new ResponseBody(message, options);
  }

  /** From now on, no header quotes it. */
  maskInHeaders(secret: string): void {
    this.headers.secret = secret;
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

  get passthroughHeaders(): Readonly<Record<string, string>> {
    return passthroughHeaders(this.headers);
  }

  text(): Promise<string> {
    return this.body.text();
  }

  async json(): Promise<unknown> {
    return JSON.parse(await this.text());
  }
}

/** Read-only. Names are case-insensitive. */
class GuardedHeaders implements Iterable<[string, string]> {
  /** What the values must not quote. */
  secret: string | undefined;
  private readonly headers: IncomingHttpHeaders;

  constructor(headers: IncomingHttpHeaders) {
    this.headers = headers;
  }

  get(name: string): string | null {
    const value = this.headers[name.toLowerCase()];
    if (value === undefined) return null;
    const text = typeof value === 'string' ? value : value.join(', ');
    return this.secret === undefined ? text : text.replaceAll(this.secret, REDACTED);
  }

  has(name: string): boolean {
    return this.headers[name.toLowerCase()] !== undefined;
  }

  names(): readonly string[] {
    return Object.keys(this.headers);
  }

  *entries(): IterableIterator<[string, string]> {
    for (const name of this.names()) {
      const value = this.get(name);
      if (value !== null) yield [name, value];
    }
  }

  [Symbol.iterator](): IterableIterator<[string, string]> {
    return this.entries();
  }
}

/**
 * Rate limits, retry hints and processing times. Left out are headers that identify the account
 * (`openai-organization`, `anthropic-organization-id`, …) or the network path, and cookies.
 * https://platform.openai.com/docs/api-reference/debugging-requests,
 * https://platform.claude.com/docs/en/api/rate-limits#response-headers
 */
const PASSED_THROUGH =
  /^(?:x-ratelimit-[\w-]+|anthropic-(?:ratelimit|priority)-[\w-]+|retry-after(?:-ms)?|x-should-retry|openai-(?:processing-ms|version))$/;

/** Excludes values that would not fit in a response header, or that no vendor sends. */
const PLAIN_VALUE = /^[\x20-\x7e]{1,200}$/;

function passthroughHeaders(headers: GuardedHeaders): Readonly<Record<string, string>> {
  const passed: Record<string, string> = {};
  for (const name of headers.names()) {
    const value = PASSED_THROUGH.test(name) ? headers.get(name) : null;
    if (value !== null && PLAIN_VALUE.test(value)) passed[name] = value;
  }
  return passed;
}
