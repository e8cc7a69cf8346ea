/**
 * Clients that speak the API of the vendor behind the gateway: unknown fields, events and tools, which the
 * recordings do not contain, must pass through.
 */
import { expect } from 'chai';
import { isObject } from '../../imports/business/ai/domain/util/json';
import type { JsonObject } from '../../imports/business/ai/domain/types/VendorTypes';
import type { SseMessage } from '../../imports/business/ai/infrastructure/converters/Wire';
import { simulatedRow, startGateway } from '../support/gateway';
import type { Gateway } from '../support/gateway';
import { missingFrom } from '../support/missingFrom';
import { RECORDINGS_ROOT, RECORDINGS, sseMessages } from '../support/recordings';
import type { Recording } from '../support/recordings';
import { itInVirtualTime } from '../support/itInVirtualTime';

// One word in camelCase, since Google treats snake_case as camelCase.
const UNKNOWN_FIELDS = { brandNew: { deep: [1, null, 'x'], flag: true } };

interface SameVendor {
  readonly name: string;
  readonly wire: Recording['wire'];
  readonly vendor: Recording['vendor'];
  readonly path: (stream: boolean) => string;
  /** Has an unknown field wherever a vendor may add one. */
  readonly request: JsonObject;
  /** Paths in the vendor's response that get unknown fields, besides its top level. */
  readonly places: readonly string[];
}

const CASES: readonly SameVendor[] = [
  {
    name: 'OpenAI by Responses',
    wire: 'responses',
    vendor: 'openai',
    path: () => '/v1/responses',
    request: {
      model: 'openai',
      input: [
        {
          type: 'message',
          role: 'user',
          content: [{ type: 'input_text', text: 'x', ...UNKNOWN_FIELDS }],
          ...UNKNOWN_FIELDS,
        },
        { type: 'brand_new_item', id: 'bn_1', ...UNKNOWN_FIELDS },
      ],
      tools: [
        {
          type: 'function',
          name: 'f',
          description: 'F.',
          parameters: { type: 'object', properties: {} },
          strict: false,
          ...UNKNOWN_FIELDS,
        },
        { type: 'brand_new_tool', ...UNKNOWN_FIELDS },
      ],
      text: { verbosity: 'low', ...UNKNOWN_FIELDS },
      reasoning: { effort: 'low', ...UNKNOWN_FIELDS },
      ...UNKNOWN_FIELDS,
    },
    places: ['output.0', 'output.0.content.0', 'usage'],
  },
  {
    name: 'OpenAI by chat completions',
    wire: 'chat_completions',
    vendor: 'openai',
    path: () => '/v1/chat/completions',
    request: {
      model: 'openai',
      messages: [
        { role: 'system', content: 's', ...UNKNOWN_FIELDS },
        {
          role: 'user',
          content: [
            { type: 'text', text: 'x', ...UNKNOWN_FIELDS },
            { type: 'brand_new_part', ...UNKNOWN_FIELDS },
          ],
          ...UNKNOWN_FIELDS,
        },
      ],
      tools: [
        {
          type: 'function',
          function: { name: 'f', description: 'F.', parameters: { type: 'object', properties: {} }, ...UNKNOWN_FIELDS },
          ...UNKNOWN_FIELDS,
        },
        { type: 'brand_new_tool', ...UNKNOWN_FIELDS },
      ],
      ...UNKNOWN_FIELDS,
    },
    places: ['choices.0', 'choices.0.message', 'usage'],
  },
  {
    name: 'Anthropic by Messages',
    wire: 'anthropic_messages',
    vendor: 'anthropic',
    path: () => '/v1/messages',
    request: {
      model: 'anthropic',
      max_tokens: 100,
      system: [{ type: 'text', text: 's', ...UNKNOWN_FIELDS }],
      messages: [
        {
          role: 'user',
          content: [
            { type: 'text', text: 'x', ...UNKNOWN_FIELDS },
            { type: 'brand_new_block', ...UNKNOWN_FIELDS },
          ],
        },
      ],
      tools: [
        { name: 'f', description: 'F.', input_schema: { type: 'object', properties: {} }, ...UNKNOWN_FIELDS },
        { type: 'brand_new_20990101', name: 'g', ...UNKNOWN_FIELDS },
      ],
      ...UNKNOWN_FIELDS,
    },
    places: ['content.0', 'usage'],
  },
  {
    name: 'Google by generateContent',
    wire: 'gemini',
    vendor: 'google',
    path: (stream) => `/v1beta/models/google:${stream ? 'streamGenerateContent?alt=sse' : 'generateContent'}`,
    request: {
      systemInstruction: { parts: [{ text: 's', ...UNKNOWN_FIELDS }] },
      contents: [
        {
          role: 'user',
          parts: [
            { text: 'x', ...UNKNOWN_FIELDS },
            { brandNewPart: {}, ...UNKNOWN_FIELDS },
          ],
        },
      ],
      tools: [
        {
          functionDeclarations: [
            {
              name: 'f',
              description: 'F.',
              parametersJsonSchema: { type: 'object', properties: {} },
              ...UNKNOWN_FIELDS,
            },
          ],
        },
        { brandNewTool: UNKNOWN_FIELDS },
      ],
      generationConfig: { temperature: 0.5, ...UNKNOWN_FIELDS },
      ...UNKNOWN_FIELDS,
    },
    places: ['candidates.0', 'candidates.0.content.parts.0', 'usageMetadata'],
  },
];

function recordedResponse({ wire, vendor }: SameVendor, stream: boolean): Recording {
  return RECORDINGS.find(
    (each) =>
      each.wire === wire && each.vendor === vendor && each.stream === stream && each.status === 200 && each.n === 1,
  )!;
}

function withUnknownFields(text: string, places: readonly string[]): JsonObject {
  const body = JSON.parse(text) as JsonObject;
  Object.assign(body, UNKNOWN_FIELDS);
  for (const place of places) {
    const found = place.split('.').reduce<unknown>((value, key) => (value as JsonObject | undefined)?.[key], body);
    expect(found, place).to.be.an('object');
    Object.assign(found as JsonObject, UNKNOWN_FIELDS);
  }
  return body;
}

describe('Passthrough of unknown fields', () => {
  let gateway: Gateway;
  beforeEach(async () => {
    gateway = await startGateway();
  });
  afterEach(async () => {
    await gateway.close();
    expect(gateway.unexpected).to.deep.equal([]);
  });

  for (const testCase of CASES) {
    const { name, path, request, places } = testCase;

    for (const stream of [false, true]) {
      it(`forwards a ${stream ? 'streaming ' : ''}request to ${name} as the client wrote it`, async () => {
        // The recorded response is played whatever the request contains.
        gateway.simulator.playRecording(recordedResponse(testCase, stream).caseId, { fixturesRoot: RECORDINGS_ROOT });
        const httpResponse = await gateway.request(
          path(stream),
          stream && !path(stream).includes('stream') ? { ...request, stream } : request,
        );
        expect(httpResponse.status, await httpResponse.text()).to.equal(200);
        const { model: _, ...sent } = request;
        expect(missingFrom(gateway.simulator.requests.at(-1)?.body, sent)).to.deep.equal([]);
      });
    }

    it(`returns a response of ${name} as the vendor wrote it`, async () => {
      const body = withUnknownFields(recordedResponse(testCase, false).text, places);
      gateway.simulator.enqueue({ status: 200, body, headers: { 'x-request-id': 'req_theirs' } });
      const httpResponse = await gateway.request(path(false), PLAIN[testCase.wire]);
      const ours = (await httpResponse.json()) as JsonObject;
      expect(httpResponse.headers.get('x-request-id')).to.equal('req_theirs');
      if (testCase.wire === 'responses') expect(missingFrom(ours, withoutNulls(body))).to.deep.equal([]);
      else expect(ours).to.deep.equal(body);
    });

    if (testCase.wire !== 'responses')
      it(`returns the text of a response of ${name}, byte by byte`, async () => {
        const raw = `${JSON.stringify(withUnknownFields(recordedResponse(testCase, false).text, places), null, 1)}\n`;
        gateway.simulator.enqueue({ raw, headers: { 'content-type': 'application/json' } });
        const httpResponse = await gateway.request(path(false), PLAIN[testCase.wire]);
        expect(await httpResponse.text()).to.equal(raw);
        expect(httpResponse.headers.get('content-type')).to.equal('application/json; charset=utf-8');
        expect(httpResponse.headers.get('content-length')).to.equal(String(Buffer.byteLength(raw)));
      });

    it(`relays a stream of ${name} as the vendor wrote it, including unknown events`, async () => {
      const [first, ...others] = sseMessages(recordedResponse(testCase, true).text).map((message) =>
        withUnknownFieldsInEvent(message, testCase.wire),
      );
      const event = {
        type: 'response.brand_new.happened',
        sequence_number: 1,
        output_index: 0,
        choices: [],
        ...UNKNOWN_FIELDS,
      };
      const news = { event: first?.event === undefined ? undefined : event.type, data: JSON.stringify(event) };
      const raw = [first!, news, ...others]
        .map((message) => `${message.event === undefined ? '' : `event: ${message.event}\n`}data: ${message.data}\n\n`)
        .join('');
      gateway.simulator.enqueue({ raw, headers: { 'content-type': 'text/event-stream' } });
      const text = await (
        await gateway.request(
          path(true),
          path(true).includes('stream')
            ? PLAIN[testCase.wire]
            : {
                ...PLAIN[testCase.wire],
                stream: true,
                ...(testCase.wire === 'chat_completions' ? { stream_options: { include_usage: true } } : {}),
              },
        )
      ).text();
      const ours = sseMessages(text);
      if (testCase.wire !== 'responses') {
        expect(ours).to.deep.equal(sseMessages(raw));
        return;
      }
      // The gateway renumbers these events, appends [DONE] and fills in the fields that a response repeats.
      expect(ours.map((message) => message.event ?? message.data)).to.deep.equal([
        ...sseMessages(raw).map((message) => message.event),
        '[DONE]',
      ]);
      sseMessages(raw).forEach((message, index) => {
        const {
          sequence_number: _,
          response,
          ...theirs
        } = JSON.parse(message.data) as JsonObject & { readonly response?: JsonObject };
        const event = JSON.parse(ours[index]!.data) as JsonObject;
        expect(event.sequence_number).to.equal(index);
        expect(
          missingFrom(event, response === undefined ? theirs : { ...theirs, response: withoutNulls(response) }),
        ).to.deep.equal([]);
      });
      const { response } = JSON.parse(ours.at(-2)!.data) as { readonly response: JsonObject };
      expect(response).to.deep.include(UNKNOWN_FIELDS);
      expect(await (await gateway.request(`/v1/responses/${String(response.id)}`)).json()).to.deep.equal(response);
    });
  }
});

describe('A response of the client’s own API that must not be relayed as it is', () => {
  it('calls a custom tool that was offered to the vendor as a function', async () => {
    const gateway = await startGateway();
    const call = { id: 'call_1', type: 'function', function: { name: 'run', arguments: '{"input":"ls -l"}' } };
    gateway.simulator.enqueue({
      status: 200,
      body: {
        id: 'chatcmpl-1',
        object: 'chat.completion',
        created: 1,
        model: 'json',
        choices: [
          { index: 0, message: { role: 'assistant', content: null, tool_calls: [call] }, finish_reason: 'tool_calls' },
        ],
        usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
      },
    });
    const httpResponse = await gateway.request('/v1/chat/completions', {
      model: 'groq',
      messages: [{ role: 'user', content: 'List the files.' }],
      tools: [{ type: 'custom', custom: { name: 'run', description: 'Runs a command.' } }],
    });
    const body = (await httpResponse.json()) as { readonly choices: readonly { readonly message: JsonObject }[] };
    await gateway.close();
    expect(body.choices[0]?.message['tool_calls']).to.deep.equal([
      { id: 'call_1', type: 'custom', custom: { name: 'run', input: 'ls -l' } },
    ]);
  });
});

describe("A vendor's response headers", () => {
  const SHOWN = {
    'x-ratelimit-remaining-requests': '3',
    'anthropic-ratelimit-tokens-reset': '2026-01-01T00:00:00Z',
    'x-ratelimit-new-kind': '1s',
    'openai-processing-ms': '12',
  };
  const OTHERS = {
    'openai-organization': 'org-1',
    'anthropic-organization-id': 'o',
    'openai-project': 'p',
    'set-cookie': 'a=b',
    'x-ratelimit-long': 'x'.repeat(300),
    'cf-ray': 'r',
  };
  const HEADERS = { ...SHOWN, ...OTHERS, 'x-request-id': 'req_theirs' };

  function expectShown(httpResponse: Response, isShown: boolean): void {
    for (const [name, value] of Object.entries(SHOWN))
      expect(httpResponse.headers.get(name), name).to.equal(isShown ? value : null);
    for (const name of Object.keys(OTHERS)) expect(httpResponse.headers.get(name), name).to.equal(null);
    const ids = [httpResponse.headers.get('x-request-id'), httpResponse.headers.get('request-id')];
    if (isShown) expect(ids).to.deep.equal(['req_theirs', 'req_theirs']);
    else expect(ids[0]).to.match(/^req_[0-9a-f]{24}$/);
  }

  for (const testCase of CASES) {
    for (const stream of [false, true]) {
      itInVirtualTime(
        `reach only clients of its own API if they are relevant to clients (${testCase.name}${stream ? ', streaming' : ''})`,
        async () => {
          const gateway = await startGateway({ attempts: 2 });
          const requestBody = (model: string): JsonObject => ({
            ...PLAIN[testCase.wire],
            ...(testCase.wire === 'gemini' ? {} : { model, ...(stream ? { stream } : {}) }),
          });
          const path = (model: string): string => testCase.path(stream).replace('/google:', `/${model}:`);
          // The headers of the last attempt count.
          gateway.simulator.enqueue(
            {
              raw: ' ',
              headers: {
                'content-type': stream ? 'text/event-stream' : 'application/json',
                'x-ratelimit-remaining-tokens': '1',
              },
            },
            { text: 'Hi', headers: HEADERS },
          );
          const httpResponse = await gateway.request(path(testCase.vendor), requestBody(testCase.vendor));
          expect(httpResponse.status, await httpResponse.text()).to.equal(200);
          expectShown(httpResponse, true);
          expect(httpResponse.headers.get('x-ratelimit-remaining-tokens')).to.equal(null);

          gateway.simulator.enqueue({
            status: 400,
            body: { error: { message: 'x' } },
            headers: { ...HEADERS, 'retry-after': '7' },
          });
          const refused = await gateway.request(path(testCase.vendor), requestBody(testCase.vendor));
          expect(refused.status, await refused.text()).to.equal(400);
          expectShown(refused, true);
          expect(refused.headers.get('retry-after')).to.equal('7');

          const other = testCase.vendor === 'anthropic' ? 'google' : 'anthropic';
          gateway.simulator.enqueue({ text: 'Hi', headers: HEADERS });
          const foreign = await gateway.request(path(other), requestBody(other));
          expect(foreign.status, await foreign.text()).to.equal(200);
          expectShown(foreign, false);
          await gateway.close();
        },
      );
    }
  }
});

describe('A key that a vendor quotes in headers', () => {
  // No planted secret: those must not leave the simulator either.
  const KEY = 'key-that-is-quoted';
  const QUOTING = { 'x-ratelimit-limit-requests': `9 for ${KEY}`, 'x-request-id': KEY, 'openai-version': KEY };
  const GET = { method: 'GET' } as const;

  for (const testCase of CASES)
    for (const stream of [false, true])
      it(`is masked where it answers, too (${testCase.name}${stream ? ', streaming' : ''})`, async () => {
        const gateway = await startGateway({ row: { apiKey: KEY } });
        const body = {
          ...PLAIN[testCase.wire],
          ...(testCase.wire === 'gemini' ? {} : { model: testCase.vendor, stream }),
        };
        gateway.simulator.enqueue({ text: 'Hi', headers: QUOTING });
        const answer = await gateway.request(testCase.path(stream), body);
        expect(answer.status, await answer.text()).to.equal(200);
        expect(answer.headers.get('x-ratelimit-limit-requests')).to.equal('9 for [redacted]');
        expect(answer.headers.get('x-request-id')).to.equal('[redacted]');
        expect(JSON.stringify([...answer.headers])).not.to.include(KEY);
        expect(JSON.stringify(gateway.requestLog.entries)).not.to.include(KEY);
        await gateway.close();
      });

  it('is masked in what is relayed: embeddings, files, images', async () => {
    const gateway = await startGateway({ row: { apiKey: KEY } });
    const calls = [
      () => gateway.request('/v1/embeddings', { model: 'openai/text-embedding-3-small', input: 'x' }),
      () => gateway.request('/v1/files', undefined, GET),
      () => gateway.request('/v1/images/generations', { model: 'openai/gpt-image-1', prompt: 'x' }),
    ];
    const bodies = [
      { object: 'list', model: 'm', data: [{ index: 0, object: 'embedding', embedding: [1] }], usage: {} },
      { object: 'list', data: [] },
      { created: 1, data: [] },
    ];
    for (const [index, call] of calls.entries()) {
      gateway.simulator.enqueue({ status: 200, body: bodies[index]!, headers: QUOTING });
      const answer = await call();
      expect(answer.status, await answer.text()).to.equal(200);
      expect(answer.headers.get('x-ratelimit-limit-requests'), String(index)).to.equal('9 for [redacted]');
      expect(JSON.stringify([...answer.headers])).not.to.include(KEY);
    }
    expect(JSON.stringify(gateway.requestLog.entries)).not.to.include(KEY);
    await gateway.close();
  });
});

describe("The version of Anthropic's API", () => {
  it("is the client's if it is known, and otherwise the gateway's", async () => {
    const gateway = await startGateway();
    const seen: unknown[] = [];
    for (const version of ['2026-10-21', '2023-06-01', 'latest', undefined]) {
      const httpResponse = await gateway.request('/v1/messages', PLAIN.anthropic_messages, {
        headers: version === undefined ? {} : { 'anthropic-version': version },
      });
      expect(httpResponse.status, await httpResponse.text()).to.equal(200);
      seen.push(gateway.simulator.requests.at(-1)?.headers['anthropic-version']);
    }
    expect(seen).to.deep.equal(['2026-10-21', '2023-06-01', '2023-06-01', '2023-06-01']);
    // The latest version has no sampling parameters. Clients that did not request it may still use them.
    const warm = { ...PLAIN.anthropic_messages, temperature: 0.5 };
    expect(
      (await gateway.request('/v1/messages', warm, { headers: { 'anthropic-version': '2026-10-21' } })).status,
    ).to.equal(400);
    expect((await gateway.request('/v1/messages', warm)).status).to.equal(200);
    expect(
      (
        await gateway.request('/v1/chat/completions', {
          ...PLAIN.chat_completions,
          model: 'anthropic',
          temperature: 0.5,
        })
      ).status,
    ).to.equal(200);
    await gateway.close();
  });
});

describe('Fields that exist only in chat completions', () => {
  it('are not sent to an OpenAI provider that uses the Responses API', async () => {
    const gateway = await startGateway({
      providers: (simulator) => [{ ...simulatedRow(simulator, 'openai'), wire: 'responses' }],
    });
    const httpResponse = await gateway.request('/v1/chat/completions', {
      ...PLAIN.chat_completions,
      seed: 7,
      logit_bias: { 1: 1 },
    });
    expect(httpResponse.status, await httpResponse.text()).to.equal(200);
    expect(gateway.simulator.requests.at(-1)).to.include({ wire: 'responses' });
    expect(gateway.simulator.requests.at(-1)?.body).not.to.have.any.keys('seed', 'logit_bias');
    await gateway.close();
  });
});

const PLAIN = {
  responses: { model: 'openai', input: 'x' },
  chat_completions: { model: 'openai', messages: [{ role: 'user', content: 'x' }] },
  anthropic_messages: { model: 'anthropic', max_tokens: 100, messages: [{ role: 'user', content: 'x' }] },
  gemini: { contents: [{ role: 'user', parts: [{ text: 'x' }] }] },
} as const satisfies Record<Recording['wire'], JsonObject>;

/** Adds unknown fields to an event and to each object in it. */
function withUnknownFieldsInEvent({ event, data }: SseMessage, wire: Recording['wire']): SseMessage {
  if (wire !== 'responses' || data === '[DONE]') return { event, data };
  const payload = JSON.parse(data) as JsonObject;
  const news = Object.fromEntries(
    Object.entries(payload).map(([field, value]) => [field, isObject(value) ? { ...value, ...UNKNOWN_FIELDS } : value]),
  );
  return { event, data: JSON.stringify({ ...news, ...UNKNOWN_FIELDS, obfuscation: 'x7' }) };
}

/** Open Responses requires some fields that vendors may set to null. */
function withoutNulls(body: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(body).filter(([, value]) => value !== null));
}
