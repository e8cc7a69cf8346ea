/** What one attempt sends to a vendor and receives, as on the wire, while it goes on: for the request log. */
import { createParser } from 'eventsource-parser';
import { readJson } from '../../domain/util/json';
import { REDACTED } from '../../domain/errors/safeText';
import { isLLMError } from '../../domain/errors/LLMErrors';
import type { Credential } from '../../domain/interfaces/CredentialSource';
import type { VendorExchange } from '../../domain/types/RequestRecords';
import type { JsonObject, WireName } from '../../domain/types/VendorTypes';
import type { VendorHttpResponse } from './VendorClient';

/** Characters of a streamed body that are recorded. */
export const MAX_RECORDED_LENGTH = 1_024 * 1_024;
/** Shorter credentials could be ordinary words. */
const MIN_CREDENTIAL_LENGTH = 8;

export class RecordedExchange implements VendorExchange {
  readonly providerId: string;
  readonly wire: WireName;
  readonly request: JsonObject;
  status: number | undefined;
  private body = '';
  private hasMore = false;
  private failure: JsonObject | undefined;
  private readonly credentials = new Set<string>();

  constructor({ providerId, wire, request }: Pick<VendorExchange, 'providerId' | 'wire' | 'request'>) {
    this.providerId = providerId;
    this.wire = wire;
    this.request = request;
  }

  /** The credential must not appear in what is recorded, even if the vendor repeats it. */
  sentWith(credential: Credential | undefined): void {
    if (credential !== undefined && credential.token.length >= MIN_CREDENTIAL_LENGTH)
      this.credentials.add(credential.token);
  }

  failed(error: unknown): void {
    if (!isLLMError(error)) return;
    this.status = error.status;
    this.failure = error.vendorBody;
  }

  /** @returns the same response, whose body is recorded as it is read */
  received(response: VendorHttpResponse): VendorHttpResponse {
    this.status = response.status;
    return {
      status: response.status,
      header: (name) => response.header(name),
      requestId: response.requestId,
      passthroughHeaders: response.passthroughHeaders,
      text: async () => (this.body = await response.text()),
      body: this.recorded(response.body),
    };
  }

  get response(): unknown {
    if (this.failure !== undefined) return this.failure;
    const body = [...this.credentials].reduce((text, token) => text.replaceAll(token, REDACTED), this.body);
    return body === '' ? undefined : readBody(body, this.hasMore);
  }

  private async *recorded(body: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array, void, undefined> {
    const decoder = new TextDecoder();
    for await (const chunk of body) {
      if (this.body.length < MAX_RECORDED_LENGTH) this.body += decoder.decode(chunk, { stream: true });
      else this.hasMore = true;
      yield chunk;
    }
  }
}

/** JSON as its value, server-sent events as a list of their data, anything else as text. */
function readBody(body: string, hasMore: boolean): unknown {
  const json = readJson(body);
  if (json !== undefined) return json;
  const events: unknown[] = [];
  // Events are separated by blank lines, which only the last, incomplete one may lack.
  const parser = createParser({
    onEvent: ({ event, data }) => {
      const parsed = readJson(data) ?? data;
      events.push(event === undefined ? parsed : { event, data: parsed });
    },
  });
  parser.feed(body);
  if (events.length === 0) return body;
  return hasMore ? [...events, '… The rest was not recorded.'] : events;
}
