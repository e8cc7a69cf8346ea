/**
 * Every route of the gateway with every kind of failure before a model responds. Status and body must be those of the
 * route's API.
 */
import { once } from 'node:events';
import { connect } from 'node:net';
import { expect } from 'chai';
import { DEFAULT_HTTP_LIMITS } from '../../imports/api/createHttpApi';
import type { JsonObject, VendorName, ServedWire } from '../../imports/business/ai/domain/types/VendorTypes';
import { startGateway, TOKENS } from '../support/gateway';
import type { GatewayRequestInit, Gateway } from '../support/gateway';
import { expectValid } from '../support/openResponses';
import { allInSoak } from '../support/soak';
import { itInVirtualTime } from '../support/itInVirtualTime';

interface GenerationRoute {
  readonly name: string;
  readonly path: string;
  readonly api: ServedWire;
  /** The vendor that defines the API. */
  readonly vendor: VendorName;
  readonly body: (model: string) => JsonObject;
  /** For APIs that name the model in the path. */
  readonly pathOf?: (model: string) => string;
}

const GENERATION_ROUTES: readonly GenerationRoute[] = [
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

interface ErrorResponse {
  readonly status: number;
  readonly headers: Headers;
  readonly message: string;
  /** The field by which the API's SDK classifies errors. */
  readonly type: unknown;
  readonly code: unknown;
}

/** @throws Error for a body that is not an error of the API */
async function readError(response: Response, api: ServedWire): Promise<ErrorResponse> {
  const text = await response.text();
  expect(response.headers.get('content-type'), text).to.include('application/json');
  const body = JSON.parse(text) as { type?: unknown; request_id?: unknown; error: JsonObject & { message: string } };
  const { status, headers } = response;
  const { error } = body;
  expect(error.message).to.be.a('string').and.not.equal('');
  switch (api) {
    case 'responses':
    case 'chat_completions':
      expectValid('error-response', body);
      return { status, headers, message: error.message, type: error['type'], code: error['code'] };
    case 'anthropic_messages':
      expect(body).to.have.all.keys('type', 'error', 'request_id');
      expect(body.type).to.equal('error');
      expect(body.request_id).to.equal(headers.get('request-id'));
      return { status, headers, message: error.message, type: error['type'], code: undefined };
    case 'gemini':
      expect(error['code']).to.equal(status);
      return { status, headers, message: error.message, type: error['status'], code: undefined };
  }
}

/** Error types by API and status: https://www.openresponses.org, OpenAI's, Anthropic's and google.rpc's. */
const ERROR_TYPES: Readonly<Record<ServedWire, Readonly<Record<number, string>>>> = {
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

describe('Gateway routes', () => {
  let gateway: Gateway;
  before(async () => {
    gateway = await startGateway();
  });
  after(() => gateway.close());
  afterEach(() => {
    expect(gateway.unexpected).to.deep.equal([]);
  });

  async function rejected(
    { path, api }: GenerationRoute,
    body: unknown,
    init: GatewayRequestInit = {},
  ): Promise<ErrorResponse> {
    const requestsBefore = gateway.simulator.requests.length;
    const error = await readError(await gateway.request(path, body, init), api);
    expect(error.type, error.message).to.equal(ERROR_TYPES[api][error.status]);
    expect(gateway.simulator.requests.length, 'no request was sent to a vendor').to.equal(requestsBefore);
    return error;
  }

  for (const route of allInSoak(GENERATION_ROUTES, 3)) {
    const { name, api, vendor } = route;
    const body = route.body(vendor);

    describe(name, () => {
      it('accepts a token in every header that clients send it in', async () => {
        for (const headers of [
          { authorization: `Bearer ${TOKENS.ann}` },
          { authorization: '', 'x-api-key': TOKENS.ann },
          { authorization: '', 'x-goog-api-key': TOKENS.ann },
        ]) {
          const response = await gateway.request(route.path, body, { headers });
          expect(response.status, await response.text()).to.equal(200);
        }
      });

      it('rejects requests with a missing, wrong, truncated or extended token', async () => {
        for (const headers of [
          { authorization: '' },
          { authorization: 'Bearer wrong' },
          { authorization: `Bearer ${TOKENS.ann}x` },
          { authorization: `Basic ${TOKENS.ann}` },
          { authorization: '', 'x-api-key': 'wrong' },
          { authorization: `Bearer ${TOKENS.ann.slice(0, -1)}` },
        ]) {
          expect((await rejected(route, body, { headers })).status).to.equal(401);
        }
      });

      it('rejects a token that has only the scope read', async () => {
        expect(
          (await rejected(route, body, { headers: { authorization: `Bearer ${TOKENS.reader}` } })).status,
        ).to.equal(403);
      });

      it('rejects a body that is not a JSON object', async () => {
        for (const wrong of ['{"model":', 'hello', '', '"text"', '[]', '17', 'null', '\ufffe']) {
          expect((await rejected(route, wrong, { method: 'POST' })).status, wrong).to.equal(400);
        }
        expect((await rejected(route, undefined, { method: 'POST' })).status).to.equal(400);
      });

      it('rejects invalid UTF-8', async () => {
        const bytes = Buffer.concat([Buffer.from('{"model":"'), Buffer.from([0xc3, 0x28]), Buffer.from('"}')]);
        const response = await fetch(gateway.url + route.path, {
          method: 'POST',
          headers: { authorization: `Bearer ${TOKENS.ann}`, 'content-type': 'application/json' },
          body: bytes,
        });
        expect((await readError(response, api)).status).to.equal(400);
      });

      it('rejects other content types and charsets', async () => {
        for (const type of [
          'text/plain',
          'application/x-www-form-urlencoded',
          'multipart/form-data; boundary=x',
          'application/json; charset=utf-16',
        ]) {
          expect((await rejected(route, body, { headers: { 'content-type': type } })).status, type).to.equal(415);
        }
        const response = await gateway.request(route.path, body, {
          headers: { 'content-type': 'application/json; charset="UTF-8"' },
        });
        expect(response.status).to.equal(200);
        await response.text();
      });

      it('rejects a body over the limit', async () => {
        const padding = 'x'.repeat(DEFAULT_HTTP_LIMITS.maxBodyBytes);
        expect((await rejected(route, { ...body, padding })).status).to.equal(413);
      });

      it('rejects a small body that is nested too deeply', async () => {
        for (const depth of [80, 100_000]) {
          const { status, message } = await rejected(route, `{"input":${'['.repeat(depth)}${']'.repeat(depth)}}`);
          expect(status).to.equal(400);
          expect(message).to.match(/nested deeper/);
        }
      });

      it('does not count brackets inside strings as nesting', async () => {
        const deep = {
          ...body,
          ...(api === 'gemini' ? { contents: [{ parts: [{ text: '["{'.repeat(500) }] }] } : {}),
          ...(api === 'responses' ? { input: '["{\\"'.repeat(500) } : {}),
        };
        const response = await gateway.request(route.path, deep);
        expect(response.status, await response.text()).to.equal(200);
      });

      it('lists the candidates for a model that matches no provider', async () => {
        const model = 'no-such-thing';
        const { status, message } = await rejected(
          { ...route, path: route.pathOf?.(model) ?? route.path },
          route.body(model),
        );
        expect(status).to.equal(404);
        for (const candidate of ['openai/no-such-thing', 'anthropic/no-such-thing'])
          expect(message).to.include(candidate);
      });

      it("forwards the vendor's error for an unknown model", async () => {
        const model = `${vendor}/no-such-model`;
        const response = await gateway.request(route.pathOf?.(model) ?? route.path, route.body(model));
        const error = await readError(response, api);
        expect(error.status).to.equal(404);
        expect(error.message).to.include('no-such-model');
      });

      it('rejects other methods', async () => {
        for (const method of ['GET', 'PUT', 'DELETE', 'PATCH']) {
          const response = await gateway.request(route.path, undefined, { method });
          const error = await readError(response, api);
          expect(error.status, method).to.equal(405);
          expect(error.headers.get('allow')).to.equal('POST');
        }
      });

      // A client of the vendor's own API receives the vendor's status and message unchanged.
      for (const [status, vendorError, code] of [
        [400, { type: 'invalid_request_error', message: 'That is wrong.' }, 400],
        [401, { type: 'authentication_error', message: 'Bad key.' }, 401],
        [403, { type: 'permission_error', message: 'Not for you.' }, 403],
        [429, { type: 'rate_limit_error', message: 'Slow down.' }, 429],
        [500, { type: 'api_error', message: 'Oops.' }, 500],
        [503, { type: 'api_error', message: 'Gone fishing.' }, 503],
        [529, { type: 'overloaded_error', message: 'Overloaded.' }, 529],
      ] as const) {
        it(`forwards a ${status} of the vendor that defines the API`, async () => {
          const upstreamError =
            vendor === 'google' ? { code: status, message: vendorError.message, status: 'UNKNOWN' } : vendorError;
          gateway.simulator.enqueue({ status, body: { error: upstreamError }, headers: { 'retry-after': '7' } });
          const response = await gateway.request(route.path, body);
          const error = await readError(response, api);
          expect(error.status).to.equal(code);
          expect(error.message).to.equal(vendorError.message);
          expect(error.headers.get('retry-after')).to.equal('7');
        });
      }

      it("translates another vendor's errors to the API's error types", async () => {
        const other: VendorName = vendor === 'anthropic' ? 'groq' : 'anthropic';
        const path = route.pathOf?.(other) ?? route.path;
        const statuses: Readonly<
          Record<string, readonly [status: number, error: JsonObject, expected: Readonly<Record<ServedWire, number>>]>
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
        for (const [what, [status, upstreamError, expected]] of Object.entries(statuses)) {
          gateway.simulator.enqueue({ status, body: { type: 'error', error: upstreamError } });
          const error = await readError(await gateway.request(path, route.body(other)), api);
          expect(error.status, what).to.equal(expected[api]);
          expect(error.type, what).to.equal(ERROR_TYPES[api][error.status]);
          if (what === 'too long' && (api === 'responses' || api === 'chat_completions'))
            expect(error.code).to.equal('context_length_exceeded');
        }
      });

      for (const [fault, expected] of [
        [
          { kind: 'reset', after: 'nothing' },
          { responses: 502, chat_completions: 502, anthropic_messages: 500, gemini: 503 },
        ],
        [{ kind: 'html' }, { responses: 502, chat_completions: 502, anthropic_messages: 500, gemini: 500 }],
      ] as const) {
        it(`responds to the upstream fault "${fault.kind}" with an error of its API, even if a stream was requested`, async () => {
          gateway.simulator.enqueue({ vendor, fault });
          const error = await readError(await gateway.request(route.path, body), api);
          expect(error.type, `${error.status} ${error.message}`).to.equal(ERROR_TYPES[api][error.status]);
          expect(error.status).to.be.oneOf([expected[api], api === 'gemini' ? 500 : expected[api]]);
        });
      }
    });
  }

  itInVirtualTime('respond with a timeout if the vendor sends nothing', async () => {
    const slow = await startGateway({ row: { limits: { streamIdleTimeout: 100, totalTimeout: 100 } } });
    for (const route of GENERATION_ROUTES) {
      slow.simulator.enqueue({ fault: { kind: 'stall', after: 'nothing' } });
      const error = await readError(await slow.request(route.path, route.body(route.vendor)), route.api);
      expect([error.status, error.type], route.name).to.deep.equal([504, ERROR_TYPES[route.api][504]]);
    }
    await slow.close();
  });

  it('accept a token in the URL only from Google clients', async () => {
    expect(
      (await rejected(GENERATION_ROUTES[0]!, GENERATION_ROUTES[0]!.body('openai'), { headers: { authorization: '' } }))
        .status,
    ).to.equal(401);
    const inUrl = await gateway.request(
      `/v1/responses?key=${TOKENS.ann}`,
      { input: 'hi' },
      { headers: { authorization: '' } },
    );
    expect((await readError(inUrl, 'responses')).status).to.equal(401);
    const google = await gateway.request(
      `/v1beta/models/google:generateContent?key=${TOKENS.ann}`,
      { contents: [{ parts: [{ text: 'hi' }] }] },
      { headers: { authorization: '' } },
    );
    expect(google.status, await google.text()).to.equal(200);
  });

  it('never send an API token of the gateway upstream', async () => {
    const from = gateway.simulator.requests.length;
    await (
      await gateway.request(
        `/v1beta/models/google:generateContent?key=${TOKENS.ann}`,
        { contents: [{ parts: [{ text: 'hi' }] }] },
        { headers: { authorization: '', 'x-goog-api-key': TOKENS.ann, 'x-api-key': TOKENS.ann } },
      )
    ).text();
    await (
      await gateway.request(
        '/v1/messages',
        { model: 'anthropic', max_tokens: 10, messages: [{ role: 'user', content: 'hi' }] },
        { headers: { 'x-api-key': TOKENS.bob } },
      )
    ).text();
    const seen = gateway.simulator.requests.slice(from);
    expect(seen).to.have.length(2);
    const keys = new Set(seen.map(({ keyHash }) => keyHash));
    // Both requests carry the provider's own key.
    expect(keys.size).to.equal(1);
    expect(JSON.stringify(seen)).not.to.include(TOKENS.ann).and.not.to.include(TOKENS.bob);
  });

  it("respond to every other path with the API's 404, with or without a token", async () => {
    for (const [path, api] of [
      ['/v1', 'responses'],
      ['/v1/', 'responses'],
      ['/v1/unknown', 'responses'],
      ['/v1/responses/a/b/c', 'responses'],
      ['/v1/chat/unknown', 'chat_completions'],
      ['/v1/messages/unknown', 'anthropic_messages'],
      ['/v1/messages/batches/a/b/c', 'anthropic_messages'],
      ['/v1beta/unknown', 'gemini'],
      ['/v1beta/models/x:unknownVerb', 'gemini'],
    ] as const) {
      for (const headers of [{}, { authorization: '' }]) {
        const error = await readError(await gateway.request(path, {}, { headers }), api);
        expect(error.status, path).to.equal(404);
      }
    }
  });

  it('report no field if the entire body is invalid', async () => {
    for (const path of ['/v1/chat/completions', '/v1/responses']) {
      for (const body of ['{"model":', '[]', '']) {
        const response = await gateway.request(path, body, {
          method: 'POST',
          headers: { 'content-type': 'application/json' },
        });
        expect(
          [response.status, ((await response.json()) as { error: JsonObject }).error['param']],
          `${path} ${body}`,
        ).to.deep.equal([400, null]);
      }
    }
  });

  it('serve the health check publicly, and metrics to admins', async () => {
    const health = await gateway.request('/health', undefined, { headers: { authorization: '' } });
    expect([health.status, await health.json()]).to.deep.equal([200, { status: 'ok' }]);
    expect((await gateway.request('/metrics', undefined, { headers: { authorization: '' } })).status).to.equal(401);
    expect((await gateway.request('/metrics')).status).to.equal(403);
    await (await gateway.request('/v1/responses', { model: 'openai', input: 'hi' })).text();
    await (await gateway.request('/v1/responses', {}, { headers: { authorization: '' } })).text();
    await (
      await gateway.request('/v1/messages', {
        model: 'anthropic',
        max_tokens: 10,
        messages: [{ role: 'user', content: 'hi' }],
      })
    ).text();
    const metrics = await gateway.request('/metrics', undefined, {
      headers: { authorization: `Bearer ${TOKENS.admin}` },
    });
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

  it('list models that can be requested, in the format of each client', async () => {
    const openai = (await (await gateway.request('/v1/models')).json()) as {
      object: string;
      data: { id: string; object: string; created: number; owned_by: string }[];
    };
    expect(openai.object).to.equal('list');
    expect(openai.data.map(({ id }) => id)).to.include('openai/default-model');
    const anthropic = (await (
      await gateway.request('/v1/models', undefined, { headers: { 'anthropic-version': '2023-06-01' } })
    ).json()) as { data: { type: string }[]; has_more: boolean };
    expect(anthropic).to.include({ has_more: true });
    expect(anthropic.data[0]).to.include({ type: 'model', id: 'openai/default-model' });
    const google = (await (await gateway.request('/v1beta/models')).json()) as { models: { name: string }[] };
    expect(google.models.map(({ name }) => name)).to.include('models/google/default-model');
    expect(await (await gateway.request('/v1beta/models/google/default-model')).json()).to.deep.equal(
      google.models.find(({ name }) => name === 'models/google/default-model'),
    );
    expect((await readError(await gateway.request('/v1beta/models/nothing'), 'gemini')).status).to.equal(404);
    for (const { id } of openai.data) {
      const one = await gateway.request(`/v1/models/${id}`);
      expect(await one.json()).to.include({ id, object: 'model' });
      const response = await gateway.request('/v1/responses', { model: id, input: 'hi' });
      expect(response.status, await response.text()).to.equal(200);
    }
    expect((await readError(await gateway.request('/v1/models/nothing'), 'chat_completions')).status).to.equal(404);
  });

  it('do not block a shutdown for a request body that never arrives, and respond with the reason', async () => {
    const stopping = await startGateway({ api: { limits: { shutdownGrace: 30 } } });
    const started = once(stopping.server, 'request');
    const socket = connect(Number(new URL(stopping.url).port), '127.0.0.1', () => {
      socket.write(
        `POST /v1/responses HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${TOKENS.ann}\r\ncontent-type: application/json\r\ncontent-length: 1000\r\n\r\n{"model":`,
      );
    });
    const received = once(socket, 'data');
    await started;
    await stopping.api.close();
    expect(String((await received)[0])).to.match(/^HTTP\/1\.1 503 [^]*shutting down/);
    socket.destroy();
    await stopping.close();
    expect(stopping.unexpected).to.deep.equal([]);
  });

  it('survive a client that disconnects before it has sent the body', async () => {
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
    const response = await gateway.request('/health');
    expect(response.status).to.equal(200);
  });
});
