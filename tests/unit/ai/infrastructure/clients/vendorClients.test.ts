import { expect } from 'chai';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { inspect } from 'node:util';
import {
  LLMAuthError,
  LLMConnectionError,
  LLMInvalidRequestError,
  LLMServerError,
  LLMStreamError,
  LLMTimeoutError,
} from '../../../../../imports/business/ai/domain/errors/LLMErrors';
import type { ErrorCode, LLMError } from '../../../../../imports/business/ai/domain/errors/LLMErrors';
import type { Credential } from '../../../../../imports/business/ai/domain/interfaces/CredentialSource';
import { DEFAULT_TRANSPORT_LIMITS } from '../../../../../imports/business/ai/domain/types/VendorTypes';
import type { TransportLimits } from '../../../../../imports/business/ai/domain/types/VendorTypes';
import { AnthropicClient } from '../../../../../imports/business/ai/infrastructure/clients/AnthropicClient';
import { GoogleClient } from '../../../../../imports/business/ai/infrastructure/clients/GoogleClient';
import { GroqClient } from '../../../../../imports/business/ai/infrastructure/clients/GroqClient';
import { createGuardedFetch } from '../../../../../imports/business/ai/infrastructure/clients/http/guardedFetch';
import type { GuardedFetch } from '../../../../../imports/business/ai/infrastructure/clients/http/guardedFetch';
import { OpenAIClient } from '../../../../../imports/business/ai/infrastructure/clients/OpenAIClient';
import type { VendorCall, VendorClient } from '../../../../../imports/business/ai/infrastructure/clients/VendorClient';
import { failure } from '../../../../support/failure';
import { gone, json, TestHost } from '../../../../support/TestHost';
import { itInVirtualTime } from '../../../../support/itInVirtualTime';

const KEY: Credential = { kind: 'api_key', token: 'canary-key-4711' };
const TOKEN: Credential = { kind: 'bearer', token: 'canary-token-4712' };

interface Row {
  readonly name: string;
  readonly vendor: string;
  readonly create: (baseURL: string, fetch: GuardedFetch, limits: TransportLimits) => VendorClient;
  readonly path: string;
  readonly probePath: string;
  readonly keyHeader: Readonly<Record<string, string>>;
}

const bearerKey = { authorization: `Bearer ${KEY.token}` };
const azureKey = { 'api-key': KEY.token };

const ROWS: readonly Row[] = [
  {
    name: 'OpenAI on Responses',
    vendor: 'openai',
    create: (url, fetch, limits) =>
      new OpenAIClient({ vendor: 'openai', wire: 'responses', baseURL: `${url}/v1`, fetch, limits }),
    path: '/v1/responses',
    probePath: '/v1/models',
    keyHeader: bearerKey,
  },
  {
    name: 'xAI on Chat Completions',
    vendor: 'grok',
    create: (url, fetch, limits) =>
      new OpenAIClient({ vendor: 'grok', wire: 'chat_completions', baseURL: `${url}/v1`, fetch, limits }),
    path: '/v1/chat/completions',
    probePath: '/v1/models',
    keyHeader: bearerKey,
  },
  {
    name: 'Azure with deployments',
    vendor: 'azure_openai',
    create: (url, fetch, limits) =>
      new OpenAIClient({
        vendor: 'azure_openai',
        wire: 'chat_completions',
        baseURL: url,
        azure: { apiVersion: '2024-10-21' },
        fetch,
        limits,
      }),
    path: '/openai/deployments/some-model/chat/completions?api-version=2024-10-21',
    probePath: '/openai/models?api-version=2024-10-21',
    keyHeader: azureKey,
  },
  {
    name: 'Azure on v1',
    vendor: 'azure_openai',
    create: (url, fetch, limits) =>
      new OpenAIClient({
        vendor: 'azure_openai',
        wire: 'responses',
        baseURL: `${url}/openai/v1/`,
        azure: {},
        fetch,
        limits,
      }),
    path: '/openai/v1/responses',
    probePath: '/openai/v1/models',
    keyHeader: azureKey,
  },
  {
    name: 'Anthropic',
    vendor: 'anthropic',
    create: (baseURL, fetch, limits) => new AnthropicClient({ vendor: 'anthropic', baseURL, fetch, limits }),
    path: '/v1/messages',
    probePath: '/v1/models?limit=1',
    keyHeader: { 'x-api-key': KEY.token },
  },
  {
    name: 'Groq',
    vendor: 'groq',
    create: (baseURL, fetch, limits) => new GroqClient({ vendor: 'groq', baseURL, fetch, limits }),
    path: '/openai/v1/chat/completions',
    probePath: '/openai/v1/models',
    keyHeader: bearerKey,
  },
  {
    name: 'Google',
    vendor: 'google',
    create: (baseURL, fetch, limits) => new GoogleClient({ vendor: 'google', baseURL, fetch, limits }),
    path: '/v1beta/models/some-model:generateContent',
    probePath: '/v1beta/models?pageSize=1',
    keyHeader: { 'x-goog-api-key': KEY.token },
  },
];

const CALL: VendorCall = {
  model: 'some-model',
  body: { model: 'some-model', text: 'grüße' },
  stream: false,
  credential: KEY,
};

describe('vendor clients', () => {
  let server: TestHost;
  const fetches: GuardedFetch[] = [];

  function connect(row: Row, limits: Partial<TransportLimits> = {}): VendorClient {
    const all = { ...DEFAULT_TRANSPORT_LIMITS, ...limits };
    const fetch = createGuardedFetch({ limits: all, allowPrivateHosts: true });
    fetches.push(fetch);
    return row.create(server.url, fetch, all);
  }

  beforeEach(async () => {
    server = await TestHost.start();
  });
  afterEach(async () => {
    fetches.splice(0).forEach((fetch) => fetch.close());
    await server.stop();
  });

  for (const row of ROWS) {
    describe(row.name, () => {
      it("sends the serialised body, the key in the vendor's header, and the call's headers", async () => {
        let serialised = 0;
        const body = { model: 'some-model', text: { toJSON: () => `grüße ${++serialised}` } };
        const reply = await connect(row).send({ ...CALL, body, headers: { 'x-extra': '1' } });
        expect(JSON.parse(await reply.text())).to.deep.equal({ ok: true });
        const [request] = server.requests;
        expect(request).to.include({ method: 'POST', path: row.path });
        expect(JSON.parse(request?.body ?? '')).to.deep.equal({ model: 'some-model', text: 'grüße 1' });
        expect(request?.headers).to.include({ 'content-type': 'application/json', 'x-extra': '1', ...row.keyHeader });
        expect(credentialHeaders(request?.headers)).to.deep.equal(row.keyHeader);
      });

      it('sends a bearer token as such, and nothing without a credential', async () => {
        const client = connect(row);
        await (await client.send({ ...CALL, credential: TOKEN })).text();
        await (await client.send({ ...CALL, credential: undefined })).text();
        expect(server.requests.map(({ headers }) => credentialHeaders(headers))).to.deep.equal([
          { authorization: `Bearer ${TOKEN.token}` },
          {},
        ]);
      });

      it('passes on the raw body in chunks, with status, content type and request id', async () => {
        const text = 'data: {"a": 1}\r\n\r\n<html>not JSON</html>';
        server.answer = (response) =>
          response.writeHead(200, { 'content-type': 'text/html', 'x-request-id': 'req_1' }).end(text);
        const reply = await connect(row).send({ ...CALL, stream: true });
        expect([reply.status, reply.requestId, reply.header('Content-Type')]).to.deep.equal([
          200,
          'req_1',
          'text/html',
        ]);
        const chunks: Uint8Array[] = [];
        for await (const chunk of reply.body) chunks.push(chunk);
        expect(Buffer.concat(chunks).toString()).to.equal(text);
      });

      for (const [status, code] of [
        [400, 'invalid-request'],
        [401, 'auth-failed'],
        [408, 'timeout'],
        [409, 'conflict'],
        [429, 'rate-limited'],
        [500, 'vendor-error'],
        [503, 'overloaded'],
        [529, 'overloaded'],
      ] as const) {
        it(`sends one request and maps the error for status ${status}`, async () => {
          server.answer = json({ error: { message: 'no', type: 'x', code: null } }, status, {
            'retry-after': '0',
            'x-should-retry': 'true',
            'request-id': 'req_2',
          });
          const error = await failure(connect(row).send(CALL));
          expect(error).to.include({
            code,
            status,
            vendor: row.vendor,
            requestId: 'req_2',
            message: 'no',
            retryAfterMs: 0,
          } satisfies Partial<LLMError>);
          expect(server.requests).to.have.length(1);
        });
      }

      it('preserves the content of flat, plain and empty error bodies', async () => {
        const bodies: readonly (readonly [unknown, ErrorCode, string])[] = [
          [
            { code: 'Client specified an invalid argument', error: 'Incorrect API key provided: xa***yz.' },
            'auth-failed',
            'Incorrect API key provided: [redacted]',
          ],
          [
            { message: 'This model does not exist', type: 'x', code: 'model_not_found' },
            'model-not-found',
            'This model does not exist',
          ],
          ['<html><title>Bad Request</title></html>', 'invalid-request', 'Bad Request'],
          ['', 'invalid-request', 'status 400'],
        ];
        for (const [body, code, message] of bodies) {
          server.answer = (response) =>
            response.writeHead(400).end(typeof body === 'string' ? body : JSON.stringify(body));
          const error = (await failure(connect(row).send(CALL))) as LLMError;
          expect(error.code).to.equal(code);
          expect(error.message).to.include(message);
        }
      });

      it('masks the key where a header quotes it, of an answer as of an error', async () => {
        let key = '';
        let status = 200;
        server.answer = (response, request) => {
          key = JSON.stringify(request.headers).match(/[\w-]*key-of-a-test[\w-]*/)?.[0] ?? '';
          response.writeHead(status, { 'x-request-id': `for ${key}`, 'x-ratelimit-reset': key }).end('{}');
        };
        const credential = { kind: 'api_key', token: 'the-key-of-a-test' } as const;
        const answer = await connect(row).send({ ...CALL, credential });
        expect(answer.requestId).to.equal('for [redacted]');
        expect(answer.header('x-ratelimit-reset')).to.equal('[redacted]');
        expect(answer.passthroughHeaders).to.deep.equal({ 'x-ratelimit-reset': '[redacted]' });
        status = 401;
        const error = (await failure(connect(row).send({ ...CALL, credential }))) as LLMError;
        expect(key).to.equal('the-key-of-a-test');
        expect(error.requestId).to.equal('for [redacted]');
        expect(error.vendorHeaders).to.deep.equal({ 'x-ratelimit-reset': '[redacted]' });
      });

      it('reports the status of an error response with a broken body', async () => {
        server.answer = (response) => {
          response.writeHead(503, { 'content-length': '100' });
          response.write('{"err', () => response.socket?.end());
        };
        const error = (await failure(connect(row).send(CALL))) as LLMError;
        expect([error.code, error.status]).to.deep.equal(['overloaded', 503]);
        expect(error.cause).to.be.instanceOf(LLMStreamError);
      });

      it('does not follow redirects', async () => {
        server.answer = (response) => response.writeHead(307, { location: '/elsewhere' }).end();
        expect(await failure(connect(row).send(CALL)))
          .to.be.instanceOf(LLMServerError)
          .and.include({ status: 307, retryable: false });
        expect(server.requests).to.have.length(1);
      });

      it("throws the abort's reason before, during and after the headers", async () => {
        const reason = new Error('enough');
        expect(await failure(connect(row).send({ ...CALL, signal: AbortSignal.abort(reason) }))).to.equal(reason);
        expect(server.requests).to.have.length(0);

        let left: Promise<unknown> | undefined;
        const waiting = new AbortController();
        server.answer = (response) => {
          left = gone(response);
          waiting.abort(reason);
        };
        expect(await failure(connect(row).send({ ...CALL, signal: waiting.signal }))).to.equal(reason);
        await left;

        const reading = new AbortController();
        server.answer = (response) => {
          left = gone(response);
          response.write('{');
        };
        const reply = await connect(row).send({ ...CALL, signal: reading.signal });
        const text = failure(reply.text());
        reading.abort(reason);
        expect(await text).to.equal(reason);
        await left;

        const refused = new AbortController();
        server.answer = (response) => {
          response.writeHead(500);
          response.write('{', () => setImmediate(() => refused.abort(reason)));
        };
        expect(await failure(connect(row).send({ ...CALL, signal: refused.signal }))).to.equal(reason);
      });

      itInVirtualTime("applies the call's time limit, and the idle limit to a stream that never starts", async () => {
        server.answer = () => undefined;
        expect(await failure(connect(row).send({ ...CALL, timeout: 25 })))
          .to.be.instanceOf(LLMTimeoutError)
          .and.include({ vendor: row.vendor });
        expect(await failure(connect(row, { streamIdleTimeout: 25 }).send({ ...CALL, stream: true }))).to.be.instanceOf(
          LLMTimeoutError,
        );
      });

      it('treats a truncated body as an error', async () => {
        server.answer = (response) => {
          response.write('data: {}\n\n', () => response.socket?.end());
        };
        const reply = await connect(row).send({ ...CALL, stream: true });
        expect(await failure(reply.text()))
          .to.be.instanceOf(LLMStreamError)
          .and.include({ vendor: row.vendor });
      });

      it('names an unreachable server', async () => {
        const client = connect(row);
        await server.stop();
        expect(await failure(client.send(CALL)))
          .to.be.instanceOf(LLMConnectionError)
          .and.include({ vendor: row.vendor, retryable: true });
        server = await TestHost.start();
      });

      it('probes with a cheap authenticated call', async () => {
        const client = connect(row);
        await client.probe(KEY);
        expect(server.requests[0]).to.include({ method: 'GET', path: row.probePath, body: '' });
        expect(credentialHeaders(server.requests[0]?.headers)).to.deep.equal(row.keyHeader);
        server.answer = json({ error: { message: 'no' } }, 401);
        expect(await failure(client.probe(KEY))).to.be.instanceOf(LLMAuthError);
        expect(await failure(client.probe(KEY, AbortSignal.abort('enough')))).to.equal('enough');
      });

      it('reveals no credential in any error', async () => {
        for (const credential of [KEY, TOKEN]) {
          for (const answer of [
            json({ error: { message: `Incorrect API key provided: ${credential.token}.` } }, 401),
            json({ error: `what is ${credential.token}?` }, 400),
            (response: Parameters<TestHost['answer']>[0]) => response.writeHead(500).end(`<p>${credential.token}</p>`),
            (response: Parameters<TestHost['answer']>[0]) => response.socket?.destroy(),
          ]) {
            server.answer = answer;
            const error = await failure(connect(row).send({ ...CALL, credential }));
            expect(inspect(error, { depth: 9, showHidden: true })).to.not.include(credential.token);
          }
        }
      });

      it("isolates calls from the operator's environment", async () => {
        const canaries = {
          OPENAI_API_KEY: 'leak',
          OPENAI_ORG_ID: 'leak',
          OPENAI_PROJECT_ID: 'leak',
          OPENAI_BASE_URL: 'http://leak',
          OPENAI_ADMIN_KEY: 'leak',
          OPENAI_CUSTOM_HEADERS: 'Authorization: Bearer leak\nx-leak: leak',
          AZURE_OPENAI_API_KEY: 'leak',
          OPENAI_API_VERSION: 'leak',
          AZURE_OPENAI_ENDPOINT: 'http://leak',
          ANTHROPIC_API_KEY: 'leak',
          ANTHROPIC_AUTH_TOKEN: 'leak',
          ANTHROPIC_BASE_URL: 'http://leak',
          ANTHROPIC_CUSTOM_HEADERS: 'x-leak: leak',
          GROQ_API_KEY: 'leak',
          GROQ_BASE_URL: 'http://leak',
          GROQ_CUSTOM_HEADERS: 'x-leak: leak',
        };
        const before = { ...process.env };
        Object.assign(process.env, canaries);
        try {
          const client = connect(row);
          for (const credential of [KEY, TOKEN, undefined]) {
            await (await client.send({ ...CALL, credential })).text();
            await client.probe(credential);
          }
          expect(process.env).to.include(canaries);
        } finally {
          for (const name of Object.keys(canaries)) {
            if (before[name] === undefined) Reflect.deleteProperty(process.env, name);
            else process.env[name] = before[name];
          }
        }
        expect(server.requests).to.have.length(6);
        expect(JSON.stringify(server.requests)).to.not.include('leak');
      });

      it('rejects an invalid header without quoting it', async () => {
        expect(await failure(connect(row).send({ ...CALL, headers: { 'x-bad': 'a\r\nb: c' } }))).to.be.instanceOf(
          LLMInvalidRequestError,
        );
        const error = await failure(
          connect(row).send({ ...CALL, credential: { kind: 'api_key', token: 'canary\n4713' } }),
        );
        expect(error).to.be.instanceOf(LLMInvalidRequestError);
        expect(inspect(error, { depth: 9 })).to.not.include('4713');
        expect(server.requests).to.have.length(0);
      });

      it('rejects an empty credential', async () => {
        for (const token of ['', ' '])
          expect(
            await failure(connect(row).send({ ...CALL, credential: { kind: 'api_key', token } })),
          ).to.be.instanceOf(LLMAuthError);
        expect(server.requests).to.have.length(0);
      });
    });
  }

  describe('OpenAI', () => {
    const [row] = ROWS as readonly [Row];

    it('deletes a response, and ignores an unknown one', async () => {
      const client = connect(row);
      await client.deleteResponse?.('resp_1/..', KEY);
      expect(server.requests[0]).to.include({ method: 'DELETE', path: '/v1/responses/resp_1%2F..', body: '' });
      server.answer = json({ error: { message: 'Response with id not found' } }, 404);
      await client.deleteResponse?.('resp_1', KEY);
      server.answer = json({ error: { message: 'broken' } }, 500);
      expect(await failure(client.deleteResponse?.('resp_1', KEY) ?? Promise.resolve())).to.be.instanceOf(
        LLMServerError,
      );
      expect(await failure(client.deleteResponse?.('..', KEY) ?? Promise.resolve())).to.be.instanceOf(
        LLMInvalidRequestError,
      );
    });

    it('replaces the model with an Azure deployment, in the path or in the body', async () => {
      const limits = DEFAULT_TRANSPORT_LIMITS;
      const fetch = createGuardedFetch({ limits, allowPrivateHosts: true });
      fetches.push(fetch);
      const azure = (wire: 'responses' | 'chat_completions', baseURL: string, apiVersion?: string): OpenAIClient =>
        new OpenAIClient({
          vendor: 'azure_openai',
          wire,
          baseURL,
          azure: { deployment: 'mine', apiVersion },
          fetch,
          limits,
        });
      for (const client of [
        azure('chat_completions', `${server.url}/openai`, '2024-10-21'),
        azure('responses', `${server.url}/openai/`, '2025-04-01-preview'),
        azure('chat_completions', server.url),
        azure('chat_completions', `${server.url}/models`, '2024-05-01-preview'),
      ]) {
        await (await client.send(CALL)).text();
      }
      expect(
        server.requests.map(({ path, body }) => [path, (JSON.parse(body) as { model: string }).model]),
      ).to.deep.equal([
        ['/openai/deployments/mine/chat/completions?api-version=2024-10-21', 'mine'],
        ['/openai/responses?api-version=2025-04-01-preview', 'mine'],
        ['/openai/v1/chat/completions', 'mine'],
        ['/models/chat/completions?api-version=2024-05-01-preview', 'mine'],
      ]);
      const nowhere = new OpenAIClient({ vendor: 'azure_openai', wire: 'responses', azure: {}, fetch, limits });
      expect(await failure(nowhere.send(CALL))).to.be.instanceOf(LLMInvalidRequestError);
    });
  });

  describe('Google', () => {
    const row = ROWS.find(({ vendor }) => vendor === 'google')!;

    it('streams over server-sent events', async () => {
      await (await connect(row).send({ ...CALL, stream: true })).text();
      expect(server.requests[0]?.path).to.equal('/v1beta/models/some-model:streamGenerateContent?alt=sse');
    });

    it("does not let a model's name escape its part of the path", async () => {
      const client = connect(row);
      for (const [model, path] of [
        ['models/a', 'models/a'],
        ['tunedModels/b', 'tunedModels/b'],
        ['a?key=b#c', 'models/a%3Fkey%3Db%23c'],
      ] as const) {
        await (await client.send({ ...CALL, model })).text();
        expect(server.requests.at(-1)?.path).to.equal(`/v1beta/${path}:generateContent`);
      }
      for (const model of ['../secrets', 'models/../../x', '', 'a//b', '.'])
        expect(await failure(client.send({ ...CALL, model }))).to.be.instanceOf(LLMInvalidRequestError);
    });
  });

  describe('recorded error responses', () => {
    const RECORDED = join(__dirname, '../../../../fixtures/recorded');
    const cases: readonly (readonly [vendor: string, file: string, status: number, code: ErrorCode])[] = [
      ['grok', 'xai/xai-chat-err400-a/1.response.json', 400, 'auth-failed'],
      ['groq', 'groq/groq-err400-tool-use-failed-a/1.response.json', 400, 'invalid-request'],
      ['anthropic', 'anthropic/anthropic-err529-a/2.response.json', 529, 'overloaded'],
      ['google', 'gemini/gemini-err400-a/1.response.json', 400, 'auth-failed'],
      ['openai', 'openai/openai-chat-err503-a/1.response.txt', 503, 'overloaded'],
      ['azure_openai', 'azure/azure-chat-err413-a/1.response.txt', 413, 'context-too-long'],
    ];
    for (const [vendor, file, status, code] of cases) {
      it(`pass through the ${vendor} client intact`, async () => {
        const row = ROWS.find((each) => each.vendor === vendor)!;
        server.answer = (response) => response.writeHead(status).end(readFileSync(join(RECORDED, file)));
        const error = await failure(connect(row).send(CALL));
        expect(error).to.include({ code, status, vendor });
        if (vendor === 'groq') expect((error as Error).message).to.include('"foo": "bar"');
      });
    }
  });

  it("send Anthropic's API version that requests are written for, unless a call names another", async () => {
    const client = connect(ROWS.find(({ name }) => name === 'Anthropic')!);
    await (await client.send(CALL)).text();
    await (await client.send({ ...CALL, headers: { 'anthropic-version': '2026-10-21' } })).text();
    await client.probe(KEY);
    expect(server.requests.map(({ headers }) => headers['anthropic-version'])).to.deep.equal([
      '2023-06-01',
      '2026-10-21',
      '2023-06-01',
    ]);
  });
});

const CREDENTIAL_HEADERS = ['authorization', 'api-key', 'x-api-key', 'x-goog-api-key', 'cookie'];

function credentialHeaders(headers: Readonly<Record<string, unknown>> | undefined): Record<string, unknown> {
  return Object.fromEntries(Object.entries(headers ?? {}).filter(([name]) => CREDENTIAL_HEADERS.includes(name)));
}
