/**
 * Replays the recordings through the gateway with the vendor's own API on both sides: the vendor must receive the
 * client's request, and the client the vendor's response, unchanged.
 */
import { expect } from 'chai';
import { createParser } from 'eventsource-parser';
import { LLMError } from '../../imports/business/ai/domain/errors/LLMErrors';
import { REQUEST_ID_HEADERS } from '../../imports/business/ai/domain/errors/vendorErrors';
import type { LLMResponse } from '../../imports/business/ai/domain/types/ResponsesAPITypes';
import { isObject } from '../../imports/business/ai/domain/util/json';
import type { JsonObject } from '../../imports/business/ai/domain/types/VendorTypes';
import { DEFAULT_FIELDS } from '../../imports/business/ai/infrastructure/converters/responses/gateway/ResponsesGateway';
import { startGateway } from '../support/gateway';
import type { Gateway } from '../support/gateway';
import { missingFrom } from '../support/missingFrom';
import { RECORDINGS_ROOT, modelOf, RECORDINGS } from '../support/recordings';
import type { Recording } from '../support/recordings';
import { meaningOfAnthropic } from '../support/sameMeaning/anthropic';
import { meaningOfChatRequest } from '../support/sameMeaning/chat';
import { meaningOfGoogle } from '../support/sameMeaning/google';
import { meaningOfRequest } from '../support/sameMeaning/responses';
import { completedIn, decodeText } from '../support/transcoding';
import { wireContext } from '../support/wireContexts';

/**
 * Requests that the vendor rejected for a malformed history. The gateway repairs one of them and rejects the other
 * itself.
 */
const REPAIRED: readonly string[] = ['llama-err500-a 2', 'openai-resp-err400-ctx-a 2'];

const counts = {
  exchanges: 0,
  requests: 0,
  recordedRequests: 0,
  responses: 0,
  streams: 0,
  errors: 0,
  ids: 0,
  headers: 0,
};

interface ErrorSummary {
  readonly message: unknown;
  readonly kind: unknown;
}

/** What SDKs build their errors from: the message, and the code, type or status that classifies it. */
function summarizeError({ error, ...others }: JsonObject): ErrorSummary {
  const { message, code, status, type } = (
    typeof error === 'object' && error !== null ? error : { message: error, ...others }
  ) as JsonObject;
  return { message, kind: typeof code === 'string' ? code : (status ?? type) };
}

/** Our message may be longer, and our error has a kind even if the vendor's has none. */
function expectSameError(ours: ErrorSummary, theirs: ErrorSummary, { name }: Recording): void {
  expect(String(ours.message), name).to.satisfy((message: string) => message.startsWith(String(theirs.message).trim()));
  if (theirs.kind !== undefined && theirs.kind !== null) expect(ours.kind, name).to.equal(theirs.kind);
}

/** SDKs show the request id to users, who report it to the vendor. */
function expectSameId(ours: Headers, { headers, name }: Recording): void {
  const id = REQUEST_ID_HEADERS.map((header) => headers[header]).find((value) => value !== undefined);
  if (id === undefined) return;
  counts.ids += 1;
  expect([ours.get('x-request-id'), ours.get('request-id')], name).to.deep.equal([id, id]);
}

/** Rate limits and timing are forwarded, but never headers that identify the account. */
function expectSameHeaders(ours: Headers, { headers, name }: Recording): void {
  for (const [header, value] of Object.entries(headers)) {
    const isShown =
      /^(?:x-ratelimit-|anthropic-ratelimit-|retry-after|x-should-retry|openai-processing-ms|openai-version)/.test(
        header,
      );
    if (isShown) counts.headers += 1;
    if (isShown || /organization|project|cookie/.test(header))
      expect(ours.get(header), `${name} ${header}`).to.equal(isShown ? value : null);
  }
}

/** Proxies in front of a vendor respond in plain text. */
function parsedError({ text }: Recording): JsonObject {
  try {
    return JSON.parse(text) as JsonObject;
  } catch {
    return { error: text };
  }
}

interface Sent {
  readonly path: string;
  readonly body: JsonObject;
}

function sent(recording: Recording): Sent {
  const { vendor, wire, request = DEFAULT_REQUESTS[wire], stream } = recording;
  const model = `${vendor}/${modelOf(recording)}`;
  switch (wire) {
    case 'responses':
      return { path: '/v1/responses', body: { ...request, model, ...(stream ? { stream } : {}) } };
    case 'chat_completions':
      return { path: '/v1/chat/completions', body: { ...request, model, ...(stream ? { stream } : {}) } };
    case 'anthropic_messages':
      return { path: '/v1/messages', body: { ...request, model, ...(stream ? { stream } : {}) } };
    case 'gemini':
      return {
        path: `/v1beta/models/${model}:${stream ? 'streamGenerateContent?alt=sse' : 'generateContent'}`,
        body: request,
      };
  }
}

/** For exchanges of which only the response was recorded. */
const DEFAULT_REQUESTS = {
  responses: { input: 'hello' },
  chat_completions: { messages: [{ role: 'user', content: 'hello' }], stream_options: { include_usage: true } },
  anthropic_messages: { max_tokens: 100, messages: [{ role: 'user', content: 'hello' }] },
  gemini: { contents: [{ parts: [{ text: 'hello' }] }] },
} as const satisfies Record<Recording['wire'], JsonObject>;

const MEANING: Readonly<Record<Recording['wire'], (body: JsonObject, recording: Recording) => JsonObject>> = {
  responses: meaningOfRequest,
  chat_completions: (body, { vendor }) => meaningOfChatRequest(body, wireContext(vendor, '').quirks),
  anthropic_messages: meaningOfAnthropic,
  gemini: meaningOfGoogle,
};

/** Removes fields that the gateway adds and that don't affect the response. */
function comparable(ours: JsonObject, theirs: JsonObject): JsonObject {
  const surplus = ['stream_options', 'model'].filter((field) => !(field in theirs));
  return Object.fromEntries(Object.entries(ours).filter(([field]) => !surplus.includes(field)));
}

/**
 * Removes the only differences that are allowed: Open Responses requires fields that some vendors omit or set to null,
 * and does not repeat a schema.
 */
function asOpenResponses(body: JsonObject): JsonObject {
  const fields = Object.fromEntries(
    Object.entries(body).filter(([field, value]) => value !== null || !(field in DEFAULT_FIELDS)),
  );
  const text = body['text'] as { format?: JsonObject } | undefined;
  if (text?.format?.['type'] === 'json_schema') fields['text'] = { ...text, format: { ...text.format, schema: null } };
  return fields;
}

/** The gateway also adds a status to reasoning, which OpenAI omits and all other vendors' items have. */
function withStatuses({ wire, text, stream }: Recording): string {
  if (wire !== 'responses') return text;
  const complete = (json: string): string => {
    const status = json.includes('"type":"response.output_item.added"') ? 'in_progress' : 'completed';
    return JSON.stringify(JSON.parse(json), (_key, value: unknown) =>
      isObject(value) && value['type'] === 'reasoning' && Array.isArray(value['summary']) && !('status' in value)
        ? { ...value, status }
        : value,
    );
  };
  return stream
    ? text.replace(/^(data: ?)(\{.*)$/gm, (_line, start: string, json: string) => start + complete(json))
    : complete(text);
}

function expectSameBody(ours: JsonObject, theirs: JsonObject, recording: Recording): void {
  if (recording.wire !== 'responses') {
    expect(ours, recording.name).to.deep.equal(theirs);
    return;
  }
  const surplus = Object.keys(ours).filter((field) => !(field in theirs));
  expect(
    surplus.filter((field) => !(field in DEFAULT_FIELDS) && !['completed_at', 'usage', 'reasoning'].includes(field)),
    recording.name,
  ).to.deep.equal([]);
  const expected = asOpenResponses(theirs);
  expect(Object.fromEntries(Object.entries(ours).filter(([field]) => field in expected)), recording.name).to.deep.equal(
    expected,
  );
}

function withRole(data: string, index: number): string {
  const lacksRole = index === 1 && data.startsWith('{"choices":[{"content_filter_results":{},"finish_reason":null');
  if (!lacksRole) return data;
  const chunk = JSON.parse(data) as { choices: JsonObject[] };
  return JSON.stringify({
    ...chunk,
    choices: chunk.choices.map((choice) => ({ ...choice, delta: { role: 'assistant' } })),
  });
}

function payloads(text: string): readonly string[] {
  const data: string[] = [];
  createParser({ onEvent: (message) => data.push(message.data) }).feed(text);
  return data;
}

/** Expects every event in order and complete. The gateway numbers the events and appends an end marker. */
function expectSameEvents(ours: readonly string[], theirs: readonly string[], { name }: Recording): void {
  expect(ours.at(-1), name).to.equal('[DONE]');
  expect(ours.length, name).to.equal(theirs.length + 1);
  theirs.forEach((data, index) => {
    const {
      sequence_number: _,
      response,
      ...event
    } = JSON.parse(data) as JsonObject & { readonly response?: JsonObject };
    const received = JSON.parse(ours[index]!) as JsonObject;
    expect(received['sequence_number'], name).to.equal(index);
    expect(
      missingFrom(received, response === undefined ? event : { ...event, response: asOpenResponses(response) }),
      name,
    ).to.deep.equal([]);
  });
}

/** The complete response without what depends on when and how it was decoded, or the error that ends the stream. */
async function meaningOfStream(text: string, { wire, vendor }: Recording, model: string): Promise<unknown> {
  let response: LLMResponse;
  try {
    response = completedIn(await decodeText(wire, text, vendor, model));
  } catch (error) {
    return error;
  }
  const { created_at: _, vendor: vendorDetails, ...content } = response;
  const { warnings: __, losses: ___, fields, ...rest } = vendorDetails;
  return { ...content, vendor: { ...rest, fields: wire === 'responses' ? withoutAssumed(fields) : fields } };
}

function withoutAssumed(fields: JsonObject | undefined): JsonObject {
  const { text, completed_at: _, ...rest } = asOpenResponses(fields ?? {});
  return {
    ...Object.fromEntries(
      Object.entries(rest).filter(
        ([field, value]) =>
          JSON.stringify(DEFAULT_FIELDS[field as keyof typeof DEFAULT_FIELDS]) !== JSON.stringify(value) &&
          value !== null,
      ),
    ),
    text,
  };
}

describe('The gateway between a client and the vendor whose API it speaks', () => {
  let gateway: Gateway;
  beforeEach(async () => {
    // The recordings name objects of the account that they were made with.
    gateway = await startGateway({ row: { sharedObjects: ['*'] } });
  });
  afterEach(() => gateway.close());

  const cases = new Map<string, Recording[]>();
  for (const recording of RECORDINGS) cases.set(recording.caseId, [...(cases.get(recording.caseId) ?? []), recording]);

  for (const [caseId, exchanges] of cases) {
    it(caseId, async () => {
      gateway.simulator.playRecording(caseId, { fixturesRoot: RECORDINGS_ROOT });
      for (const recording of exchanges) {
        counts.exchanges += 1;
        const { path, body } = sent(recording);
        const httpResponse = await gateway.request(path, body);
        const text = await httpResponse.text();

        expectSameId(httpResponse.headers, recording);
        expectSameHeaders(httpResponse.headers, recording);
        if (recording.status >= 400) {
          expect(httpResponse.status, recording.name).to.equal(recording.status);
          const [ours, theirs] = [JSON.parse(text) as JsonObject, parsedError(recording)];
          expectSameError(summarizeError(ours), summarizeError(theirs), recording);
          // Open Responses has its own error types.
          if (recording.wire !== 'responses' && typeof theirs['error'] === 'object')
            expect(missingFrom(ours, theirs), recording.name).to.deep.equal([]);
          counts.errors += 1;
        } else if (recording.stream) {
          const model = modelOf(recording);
          const theirs = await meaningOfStream(withStatuses(recording), recording, model);
          if (httpResponse.status === 200) {
            expect(httpResponse.headers.get('content-type')).to.match(/^text\/event-stream/);
            const ours = await meaningOfStream(text, recording, model);
            if (theirs instanceof LLMError)
              expect([(ours as LLMError).code, (ours as LLMError).message.split('\n')[0]]).to.deep.equal([
                theirs.code,
                theirs.message.split('\n')[0],
              ]);
            else {
              expect(ours, recording.name).to.deep.equal(theirs);
              // On stateless wires, messages are forwarded unchanged, except that a role omitted by Azure is added.
              if (recording.wire === 'responses')
                expectSameEvents(payloads(text), payloads(withStatuses(recording)), recording);
              else expect(payloads(text), recording.name).to.deep.equal(payloads(recording.text).map(withRole));
            }
          } else {
            // The stream started with an error. Nothing had been sent yet, so it becomes an ordinary error response.
            expect(theirs, text.slice(0, 300)).to.be.instanceOf(LLMError);
            expect(summarizeError(JSON.parse(text) as JsonObject).message).to.equal((theirs as LLMError).message);
          }
          counts.streams += 1;
        } else {
          expect(httpResponse.status, text.slice(0, 300)).to.equal(200);
          expectSameBody(JSON.parse(text) as JsonObject, JSON.parse(withStatuses(recording)) as JsonObject, recording);
          counts.responses += 1;
        }

        if (recording.request === undefined) continue;
        counts.recordedRequests += 1;
        const seen = gateway.simulator.requests.at(-1)!.body as JsonObject;
        const theirs = recording.request;
        const [ours, recorded] = [
          MEANING[recording.wire](comparable(seen, theirs), recording),
          MEANING[recording.wire](theirs, recording),
        ];
        if (REPAIRED.includes(recording.name)) continue;
        expect(ours, recording.name).to.deep.equal(recorded);
        counts.requests += 1;
      }
      gateway.simulator.assertDone();
      expect(gateway.unexpected).to.deep.equal([]);
    });
  }

  it('covers every recording', () => {
    console.log(`      ${JSON.stringify(counts)}`);
    expect(counts.exchanges).to.equal(RECORDINGS.length);
    expect(counts.ids).to.be.greaterThan(0);
    expect(counts.headers).to.be.greaterThan(0);
    expect(counts.responses + counts.streams + counts.errors).to.equal(RECORDINGS.length);
  });
});
