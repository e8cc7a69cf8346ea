/**
 * Every route × everything that can be wrong before a model answers: status and shape are those of the API that is
 * being spoken.
 */
import { once } from 'node:events';
import { connect } from 'node:net';
import { expect } from 'chai';
import type { JsonObject, VendorName, WireName } from '../../imports/business/ai/domain/types/VendorTypes';
import { startGateway, TOKENS } from '../support/gateway';
import type { Asking, Gateway } from '../support/gateway';
import { expectValid } from '../support/openResponses';

interface Door {
  readonly name: string;
  readonly path: string;
  readonly api: WireName;
  /** Whose API it is. */
  readonly vendor: VendorName;
  readonly body: (model: string) => JsonObject;
  /** For APIs that name the model in the path. */
  readonly pathOf?: (model: string) => string;
}

const DOORS: readonly Door[] = [
  {
    name: 'POST /v1/responses',
    path: '/v1/responses',
    api: 'responses',
    vendor: 'openai',
    body: (model) => ({ model, input: 'hi' }),
  },
  {
    name: 'POST /v1/responses, streaming',
    path: '/v1/responses',
    api: 'responses',
    vendor: 'openai',
    body: (model) => ({ model, input: 'hi', stream: true }),
  },
  {
    name: 'POST /v1/responses/compact',
    path: '/v1/responses/compact',
    api: 'responses',
    vendor: 'openai',
    body: (model) => ({ model, input: 'hi' }),
  },
  {
    name: 'POST /v1/chat/completions',
    path: '/v1/chat/completions',
    api: 'chat_completions',
    vendor: 'openai',
    body: (model) => ({ model, messages: [{ role: 'user', content: 'hi' }] }),
  },
  {
    name: 'POST /v1/chat/completions, streaming',
    path: '/v1/chat/completions',
    api: 'chat_completions',
    vendor: 'openai',
    body: (model) => ({ model, messages: [{ role: 'user', content: 'hi' }], stream: true }),
  },
  {
    name: 'POST /v1/messages',
    path: '/v1/messages',
    api: 'anthropic_messages',
    vendor: 'anthropic',
    body: (model) => ({ model, max_tokens: 50, messages: [{ role: 'user', content: 'hi' }] }),
  },
  {
    name: 'POST /v1/messages, streaming',
    path: '/v1/messages',
    api: 'anthropic_messages',
    vendor: 'anthropic',
    body: (model) => ({ model, max_tokens: 50, messages: [{ role: 'user', content: 'hi' }], stream: true }),
  },
  {
    name: 'POST :generateContent',
    path: '/v1beta/models/google:generateContent',
    api: 'gemini',
    vendor: 'google',
    pathOf: (model) => `/v1beta/models/${model}:generateContent`,
    body: () => ({ contents: [{ parts: [{ text: 'hi' }] }] }),
  },
  {
    name: 'POST :streamGenerateContent',
    path: '/v1beta/models/google:streamGenerateContent?alt=sse',
    api: 'gemini',
    vendor: 'google',
    pathOf: (model) => `/v1beta/models/${model}:streamGenerateContent?alt=sse`,
    body: () => ({ contents: [{ parts: [{ text: 'hi' }] }] }),
  },
];

interface Refusal {
  readonly status: number;
  readonly headers: Headers;
  readonly message: string;
  /** The word by which the API's SDK tells errors apart. */
  readonly word: unknown;
  readonly code: unknown;
}

/** @throws Error for a body that is not an error of the API */
async function refusalOf(answer: Response, api: WireName): Promise<Refusal> {
  const text = await answer.text();
  expect(answer.headers.get('content-type'), text).to.include('application/json');
  const body = JSON.parse(text) as { type?: unknown; request_id?: unknown; error: JsonObject & { message: string } };
  const { status, headers } = answer;
  const { error } = body;
  expect(error.message).to.be.a('string').and.not.equal('');
  switch (api) {
    case 'responses':
    case 'chat_completions':
      expectValid('error-response', body);
      return { status, headers, message: error.message, word: error['type'], code: error['code'] };
    case 'anthropic_messages':
      expect(body).to.have.all.keys('type', 'error', 'request_id');
      expect(body.type).to.equal('error');
      expect(body.request_id).to.equal(headers.get('request-id'));
      return { status, headers, message: error.message, word: error['type'], code: undefined };
    case 'gemini':
      expect(error['code']).to.equal(status);
      return { status, headers, message: error.message, word: error['status'], code: undefined };
  }
}

/** The words for what is wrong, by API: https://www.openresponses.org, OpenAI's, Anthropic's and google.rpc's. */
const WORDS: Readonly<Record<WireName, Readonly<Record<number, string>>>> = {
  responses: {
    400: 'invalid_request',
    401: 'authentication_error',
    403: 'permission_error',
    404: 'not_found',
    405: 'invalid_request',
    413: 'invalid_request',
    415: 'invalid_request',
    429: 'too_many_requests',
    500: 'server_error',
    502: 'model_error',
    503: 'model_error',
    504: 'model_error',
  },
  chat_completions: {
    400: 'invalid_request_error',
    401: 'authentication_error',
    403: 'permission_error',
    404: 'invalid_request_error',
    405: 'invalid_request_error',
    413: 'invalid_request_error',
    415: 'invalid_request_error',
    429: 'rate_limit_error',
    500: 'server_error',
    502: 'server_error',
    503: 'server_error',
    504: 'server_error',
  },
  anthropic_messages: {
    400: 'invalid_request_error',
    401: 'authentication_error',
    403: 'permission_error',
    404: 'not_found_error',
    405: 'invalid_request_error',
    413: 'request_too_large',
    415: 'invalid_request_error',
    429: 'rate_limit_error',
    500: 'api_error',
    504: 'timeout_error',
    529: 'overloaded_error',
  },
  gemini: {
    400: 'INVALID_ARGUMENT',
    401: 'UNAUTHENTICATED',
    403: 'PERMISSION_DENIED',
    404: 'NOT_FOUND',
    405: 'INVALID_ARGUMENT',
    413: 'INVALID_ARGUMENT',
    415: 'INVALID_ARGUMENT',
    429: 'RESOURCE_EXHAUSTED',
    500: 'INTERNAL',
    503: 'UNAVAILABLE',
    504: 'DEADLINE_EXCEEDED',
  },
};

describe('every door', () => {
  let gateway: Gateway;
  before(async () => {
    gateway = await startGateway();
  });
  after(() => gateway.close());
  afterEach(() => {
    expect(gateway.unexpected).to.deep.equal([]);
  });

  async function knock({ path, api }: Door, body: unknown, init: Asking = {}): Promise<Refusal> {
    const asked = gateway.simulator.requests.length;
    const refusal = await refusalOf(await gateway.ask(path, body, init), api);
    expect(refusal.word, refusal.message).to.equal(WORDS[api][refusal.status]);
    expect(gateway.simulator.requests.length, 'nothing is asked of a vendor').to.equal(asked);
    return refusal;
  }

  for (const door of DOORS) {
    const { name, api, vendor } = door;
    const body = door.body(vendor);

    describe(name, () => {
      it('opens with a token in each of the places where clients put it', async () => {
        for (const headers of [
          { authorization: `Bearer ${TOKENS.ann}` },
          { authorization: '', 'x-api-key': TOKENS.ann },
          { authorization: '', 'x-goog-api-key': TOKENS.ann },
        ]) {
          const answer = await gateway.ask(door.path, body, { headers });
          expect(answer.status, await answer.text()).to.equal(200);
        }
      });

      it('refuses a request without a token, with a wrong one, and one that merely begins well', async () => {
        for (const headers of [
          { authorization: '' },
          { authorization: 'Bearer wrong' },
          { authorization: `Bearer ${TOKENS.ann}x` },
          { authorization: `Basic ${TOKENS.ann}` },
          { authorization: '', 'x-api-key': 'wrong' },
          { authorization: `Bearer ${TOKENS.ann.slice(0, -1)}` },
        ]) {
          expect((await knock(door, body, { headers })).status).to.equal(401);
        }
      });

      it('refuses a token that only reads', async () => {
        expect((await knock(door, body, { headers: { authorization: `Bearer ${TOKENS.reader}` } })).status).to.equal(
          403,
        );
      });

      it('refuses what is no JSON, and no object', async () => {
        for (const wrong of ['{"model":', 'hello', '', '"text"', '[]', '17', 'null', '\ufffe']) {
          expect((await knock(door, wrong, { method: 'POST' })).status, wrong).to.equal(400);
        }
        expect((await knock(door, undefined, { method: 'POST' })).status).to.equal(400);
      });

      it('refuses bytes that are no UTF-8', async () => {
        const bytes = Buffer.concat([Buffer.from('{"model":"'), Buffer.from([0xc3, 0x28]), Buffer.from('"}')]);
        const answer = await fetch(gateway.url + door.path, {
          method: 'POST',
          headers: { authorization: `Bearer ${TOKENS.ann}`, 'content-type': 'application/json' },
          body: bytes,
        });
        expect((await refusalOf(answer, api)).status).to.equal(400);
      });

      it('refuses other content types and charsets', async () => {
        for (const type of [
          'text/plain',
          'application/x-www-form-urlencoded',
          'multipart/form-data; boundary=x',
          'application/json; charset=utf-16',
        ]) {
          expect((await knock(door, body, { headers: { 'content-type': type } })).status, type).to.equal(415);
        }
        const answer = await gateway.ask(door.path, body, {
          headers: { 'content-type': 'application/json; charset="UTF-8"' },
        });
        expect(answer.status).to.equal(200);
        await answer.text();
      });

      it('refuses a body over 10 MB', async () => {
        expect((await knock(door, { ...body, padding: 'x'.repeat(10 * 1024 * 1024) })).status).to.equal(413);
      });

      it('refuses a body that nests too deep, however small', async () => {
        for (const depth of [80, 100_000]) {
          const { status, message } = await knock(door, `{"input":${'['.repeat(depth)}${']'.repeat(depth)}}`);
          expect(status).to.equal(400);
          expect(message).to.match(/nested deeper/);
        }
      });

      it('takes brackets inside texts for what they are', async () => {
        const deep = {
          ...body,
          ...(api === 'gemini' ? { contents: [{ parts: [{ text: '["{'.repeat(500) }] }] } : {}),
          ...(api === 'responses' ? { input: '["{\\"'.repeat(500) } : {}),
        };
        const answer = await gateway.ask(door.path, deep);
        expect(answer.status, await answer.text()).to.equal(200);
      });

      it('names the candidates for a model that it does not know', async () => {
        const model = 'no-such-thing';
        const { status, message } = await knock({ ...door, path: door.pathOf?.(model) ?? door.path }, door.body(model));
        expect(status).to.equal(404);
        for (const candidate of ['openai/no-such-thing', 'anthropic/no-such-thing'])
          expect(message).to.include(candidate);
      });

      it('passes on what the vendor says to a model that it does not have', async () => {
        const model = `${vendor}/no-such-model`;
        const answer = await gateway.ask(door.pathOf?.(model) ?? door.path, door.body(model));
        const refusal = await refusalOf(answer, api);
        expect(refusal.status).to.equal(404);
        expect(refusal.message).to.include('no-such-model');
      });

      it('has no other methods', async () => {
        for (const method of ['GET', 'PUT', 'DELETE', 'PATCH']) {
          const answer = await gateway.ask(door.path, undefined, { method });
          const refusal = await refusalOf(answer, api);
          expect(refusal.status, method).to.equal(405);
          expect(refusal.headers.get('allow')).to.equal('POST');
        }
      });

      // What the vendor behind says, and what the client of its own API hears: the same.
      for (const [status, told, code] of [
        [400, { type: 'invalid_request_error', message: 'That is wrong.' }, 400],
        [401, { type: 'authentication_error', message: 'Bad key.' }, 401],
        [403, { type: 'permission_error', message: 'Not for you.' }, 403],
        [429, { type: 'rate_limit_error', message: 'Slow down.' }, 429],
        [500, { type: 'api_error', message: 'Oops.' }, 500],
        [503, { type: 'api_error', message: 'Gone fishing.' }, 503],
        [529, { type: 'overloaded_error', message: 'Overloaded.' }, 529],
      ] as const) {
        it(`passes on a ${status} of the vendor whose API it is`, async () => {
          const error = vendor === 'google' ? { code: status, message: told.message, status: 'UNKNOWN' } : told;
          gateway.simulator.enqueue({ status, body: { error }, headers: { 'retry-after': '7' } });
          const answer = await gateway.ask(door.path, body);
          const refusal = await refusalOf(answer, api);
          expect(refusal.status).to.equal(code);
          expect(refusal.message).to.equal(told.message);
          expect(refusal.headers.get('retry-after')).to.equal('7');
        });
      }

      it("says another vendor's errors in its own words", async () => {
        const other: VendorName = vendor === 'anthropic' ? 'groq' : 'anthropic';
        const path = door.pathOf?.(other) ?? door.path;
        const statuses: Readonly<
          Record<string, readonly [status: number, error: JsonObject, expected: Readonly<Record<WireName, number>>]>
        > = {
          overloaded: [
            529,
            { type: 'overloaded_error', message: 'Overloaded.' },
            { responses: 503, chat_completions: 503, anthropic_messages: 529, gemini: 503 },
          ],
          'too long': [
            400,
            { type: 'invalid_request_error', message: 'prompt is too long: 300000 tokens > 200000 maximum' },
            { responses: 400, chat_completions: 400, anthropic_messages: 400, gemini: 400 },
          ],
          broken: [
            500,
            { type: 'api_error', message: 'Internal server error' },
            { responses: 502, chat_completions: 502, anthropic_messages: 500, gemini: 500 },
          ],
          throttled: [
            429,
            { type: 'rate_limit_error', message: 'Slow down.' },
            { responses: 429, chat_completions: 429, anthropic_messages: 429, gemini: 429 },
          ],
        };
        for (const [what, [status, error, expected]] of Object.entries(statuses)) {
          gateway.simulator.enqueue({ status, body: { type: 'error', error } });
          const refusal = await refusalOf(await gateway.ask(path, door.body(other)), api);
          expect(refusal.status, what).to.equal(expected[api]);
          expect(refusal.word, what).to.equal(WORDS[api][refusal.status]);
          if (what === 'too long' && (api === 'responses' || api === 'chat_completions'))
            expect(refusal.code).to.equal('context_length_exceeded');
        }
      });

      for (const [fault, expected] of [
        [
          { kind: 'reset', after: 'nothing' },
          { responses: 502, chat_completions: 502, anthropic_messages: 500, gemini: 503 },
        ],
        [{ kind: 'html' }, { responses: 502, chat_completions: 502, anthropic_messages: 500, gemini: 500 }],
      ] as const) {
        it(`answers ${fault.kind} upstream with its own error, before a stream begins too`, async () => {
          gateway.simulator.enqueue({ vendor, fault });
          const refusal = await refusalOf(await gateway.ask(door.path, body), api);
          expect(refusal.word, `${refusal.status} ${refusal.message}`).to.equal(WORDS[api][refusal.status]);
          expect(refusal.status).to.be.oneOf([expected[api], api === 'gemini' ? 500 : expected[api]]);
        });
      }
    });
  }

  it('answers a host that says nothing with a timeout', async () => {
    const slow = await startGateway({ row: { limits: { streamIdleTimeout: 100, totalTimeout: 100 } } });
    for (const door of DOORS) {
      slow.simulator.enqueue({ fault: { kind: 'stall', after: 'nothing' } });
      const refusal = await refusalOf(await slow.ask(door.path, door.body(door.vendor)), door.api);
      expect([refusal.status, refusal.word], door.name).to.deep.equal([504, WORDS[door.api][504]]);
    }
    await slow.close();
  });

  it('is not opened by a token in the URL, but for Google clients', async () => {
    expect((await knock(DOORS[0]!, DOORS[0]!.body('openai'), { headers: { authorization: '' } })).status).to.equal(401);
    const inUrl = await gateway.ask(
      `/v1/responses?key=${TOKENS.ann}`,
      { input: 'hi' },
      { headers: { authorization: '' } },
    );
    expect((await refusalOf(inUrl, 'responses')).status).to.equal(401);
    const google = await gateway.ask(
      `/v1beta/models/google:generateContent?key=${TOKENS.ann}`,
      { contents: [{ parts: [{ text: 'hi' }] }] },
      { headers: { authorization: '' } },
    );
    expect(google.status, await google.text()).to.equal(200);
  });

  it('never hands a token of ours upstream', async () => {
    const from = gateway.simulator.requests.length;
    await (
      await gateway.ask(
        `/v1beta/models/google:generateContent?key=${TOKENS.ann}`,
        { contents: [{ parts: [{ text: 'hi' }] }] },
        { headers: { authorization: '', 'x-goog-api-key': TOKENS.ann, 'x-api-key': TOKENS.ann } },
      )
    ).text();
    await (
      await gateway.ask(
        '/v1/messages',
        { model: 'anthropic', max_tokens: 10, messages: [{ role: 'user', content: 'hi' }] },
        { headers: { 'x-api-key': TOKENS.bob } },
      )
    ).text();
    const seen = gateway.simulator.requests.slice(from);
    expect(seen).to.have.length(2);
    const keys = new Set(seen.map(({ keyHash }) => keyHash));
    // One key for both: the provider's own.
    expect(keys.size).to.equal(1);
    expect(JSON.stringify(seen)).not.to.include(TOKENS.ann).and.not.to.include(TOKENS.bob);
  });

  it('ends in a 404 of its API for every other path, with a token or without', async () => {
    for (const [path, api] of [
      ['/v1', 'responses'],
      ['/v1/', 'responses'],
      ['/v1/unknown', 'responses'],
      ['/v1/responses/a/b/c', 'responses'],
      ['/v1/chat/unknown', 'chat_completions'],
      ['/v1/messages/unknown', 'anthropic_messages'],
      ['/v1/messages/count_tokens', 'anthropic_messages'],
      ['/v1beta/unknown', 'gemini'],
      ['/v1beta/models/x:unknownVerb', 'gemini'],
    ] as const) {
      for (const headers of [{}, { authorization: '' }]) {
        const refusal = await refusalOf(await gateway.ask(path, {}, { headers }), api);
        expect(refusal.status, path).to.equal(404);
      }
    }
  });

  it('names no field where the whole body is wrong', async () => {
    for (const path of ['/v1/chat/completions', '/v1/responses']) {
      for (const body of ['{"model":', '[]', '']) {
        const answer = await gateway.ask(path, body, {
          method: 'POST',
          headers: { 'content-type': 'application/json' },
        });
        expect(
          [answer.status, ((await answer.json()) as { error: JsonObject }).error['param']],
          `${path} ${body}`,
        ).to.deep.equal([400, null]);
      }
    }
  });

  it('answers a health check to anybody, and metrics to admins', async () => {
    const health = await gateway.ask('/health', undefined, { headers: { authorization: '' } });
    expect([health.status, await health.json()]).to.deep.equal([200, { status: 'ok' }]);
    expect((await gateway.ask('/metrics', undefined, { headers: { authorization: '' } })).status).to.equal(401);
    expect((await gateway.ask('/metrics')).status).to.equal(403);
    await (await gateway.ask('/v1/responses', { model: 'openai', input: 'hi' })).text();
    await (await gateway.ask('/v1/responses', {}, { headers: { authorization: '' } })).text();
    await (
      await gateway.ask('/v1/messages', {
        model: 'anthropic',
        max_tokens: 10,
        messages: [{ role: 'user', content: 'hi' }],
      })
    ).text();
    const metrics = await gateway.ask('/metrics', undefined, { headers: { authorization: `Bearer ${TOKENS.admin}` } });
    expect(metrics.headers.get('content-type')).to.match(/^text\/plain/);
    const text = await metrics.text();
    expect(text).to.match(
      /bolide_http_requests_total\{route="POST \/v1\/responses",provider="openai",status="200"\} \d+/,
    );
    expect(text).to.match(/bolide_http_requests_total\{route="POST \/v1\/responses",provider="",status="401"\} \d+/);
    expect(text).to.match(/bolide_tokens_total\{provider="anthropic",kind="input"\} [1-9]/);
    expect(text).to.match(/bolide_http_request_seconds_bucket/);
    expect(text).to.match(/bolide_http_requests_running 1\n/);
    for (const token of Object.values(TOKENS)) expect(text).not.to.include(token);
  });

  it('lists models that can be asked for, in the shape that each client knows', async () => {
    const openai = (await (await gateway.ask('/v1/models')).json()) as {
      object: string;
      data: { id: string; object: string; created: number; owned_by: string }[];
    };
    expect(openai.object).to.equal('list');
    expect(openai.data.map(({ id }) => id)).to.include('openai/default-model');
    const anthropic = (await (
      await gateway.ask('/v1/models', undefined, { headers: { 'anthropic-version': '2023-06-01' } })
    ).json()) as { data: { type: string }[]; has_more: boolean };
    expect(anthropic).to.include({ has_more: false });
    expect(anthropic.data[0]).to.include({ type: 'model', id: 'openai/default-model' });
    const google = (await (await gateway.ask('/v1beta/models')).json()) as { models: { name: string }[] };
    expect(google.models.map(({ name }) => name)).to.include('models/google/default-model');
    expect(await (await gateway.ask('/v1beta/models/google/default-model')).json()).to.deep.equal(
      google.models.find(({ name }) => name === 'models/google/default-model'),
    );
    expect((await refusalOf(await gateway.ask('/v1beta/models/nothing'), 'gemini')).status).to.equal(404);
    for (const { id } of openai.data) {
      const one = await gateway.ask(`/v1/models/${id}`);
      expect(await one.json()).to.include({ id, object: 'model' });
      const answer = await gateway.ask('/v1/responses', { model: id, input: 'hi' });
      expect(answer.status, await answer.text()).to.equal(200);
    }
    expect((await refusalOf(await gateway.ask('/v1/models/nothing'), 'chat_completions')).status).to.equal(404);
  });

  it('stops although a client has promised a body that never comes, and tells it why', async () => {
    const stopping = await startGateway({ api: { limits: { shutdownGrace: 30 } } });
    const begun = once(stopping.server, 'request');
    const socket = connect(Number(new URL(stopping.url).port), '127.0.0.1', () => {
      socket.write(
        `POST /v1/responses HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${TOKENS.ann}\r\ncontent-type: application/json\r\ncontent-length: 1000\r\n\r\n{"model":`,
      );
    });
    const told = once(socket, 'data');
    await begun;
    await stopping.api.close();
    expect(String((await told)[0])).to.match(/^HTTP\/1\.1 503 [^]*shutting down/);
    socket.destroy();
    await stopping.close();
    expect(stopping.unexpected).to.deep.equal([]);
  });

  it('survives a client that promises a body and leaves', async () => {
    const { port } = new URL(gateway.url);
    const closed = new Promise<void>((resolve) => {
      const socket = connect(Number(port), '127.0.0.1', () => {
        socket.write(
          `POST /v1/responses HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${TOKENS.ann}\r\ncontent-type: application/json\r\ncontent-length: 1000\r\n\r\n{"model":`,
          () => socket.destroy(),
        );
      });
      socket.once('close', () => resolve());
    });
    await closed;
    const answer = await gateway.ask('/health');
    expect(answer.status).to.equal(200);
  });
});
