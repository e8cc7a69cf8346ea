import Anthropic from '@anthropic-ai/sdk';
import { expect } from 'chai';
import Groq from 'groq-sdk';
import OpenAI, { AzureOpenAI } from 'openai';
import {
  LLMInvalidRequestError,
  LLMServerError,
  MissingPackageError,
} from '../../../../../imports/business/ai/domain/errors/LLMErrors';
import { keepJson, keepListJson } from '../../../../../imports/business/ai/domain/util/keptJson';
import { DEFAULT_TRANSPORT_LIMITS as limits } from '../../../../../imports/business/ai/domain/types/VendorTypes';
import { createGuardedFetch } from '../../../../../imports/business/ai/infrastructure/clients/http/guardedFetch';
import type { GuardedFetch } from '../../../../../imports/business/ai/infrastructure/clients/http/guardedFetch';
import { SdkRequests } from '../../../../../imports/business/ai/infrastructure/clients/SdkRequests';
import type {
  RequestBuilder,
  SdkOptions,
  SdkRequest,
  SdkRequestsOptions,
} from '../../../../../imports/business/ai/infrastructure/clients/SdkRequests';
import { failure } from '../../../../support/failure';
import { TestHost } from '../../../../support/TestHost';

describe('SdkRequests', () => {
  let server: TestHost;
  let fetch: GuardedFetch;
  let constructed: string[];
  let loads: number;
  let options: SdkOptions | undefined;
  let built: SdkRequest[];

  beforeEach(async () => {
    server = await TestHost.start();
    fetch = createGuardedFetch({ limits, allowPrivateHosts: true });
    constructed = [];
    loads = 0;
    built = [];
  });
  afterEach(async () => {
    fetch.close();
    await server.stop();
  });

  const requests = (): SdkRequests =>
    new SdkRequests({
      vendor: 'openai',
      fetch,
      limits,
      load: () => {
        loads += 1;
        return Promise.resolve((credential, given) => {
          constructed.push(credential?.token ?? 'none');
          options = given;
          return {
            buildRequest: (request) => {
              built.push(request);
              return Promise.resolve({
                req: { headers: new Headers({ 'x-key': credential?.token ?? 'none' }) },
                url: `${server.url}${request.path}`,
              });
            },
          };
        });
      },
    });
  const ask = async (sdk: SdkRequests, token: string): Promise<void> => {
    await (await sdk.send({ method: 'get', path: '/' }, { credential: { kind: 'api_key', token } })).text();
  };

  it('load the SDK on first use, and create one client per credential', async () => {
    const sdk = requests();
    expect(loads).to.equal(0);
    for (const token of ['a', 'b', 'a', 'a', 'b']) await ask(sdk, token);
    await (await sdk.send({ method: 'get', path: '/' }, { credential: { kind: 'bearer', token: 'a' } })).text();
    await (await sdk.send({ method: 'get', path: '/' }, { credential: undefined })).text();
    expect(constructed).to.deep.equal(['a', 'b', 'a', 'none']);
  });

  it('evict the least recently used credential', async () => {
    const sdk = requests();
    await ask(sdk, 'first');
    await ask(sdk, 'second');
    for (let other = 0; other < 254; other++) await ask(sdk, `other ${other}`);
    await ask(sdk, 'first');
    await ask(sdk, 'one too many');
    constructed = [];
    await ask(sdk, 'first');
    expect(constructed).to.deep.equal([]);
    await ask(sdk, 'second');
    expect(constructed).to.deep.equal(['second']);
  });

  it('use the SDK only for building: no retries, no logs, no fetch of its own', async () => {
    await ask(requests(), 'a');
    expect(options).to.include({ maxRetries: 0, logLevel: 'off' });
    expect(await failure(options?.fetch() ?? Promise.resolve())).to.be.instanceOf(Error);
  });

  describe('say why nothing was sent, without headers and keys', () => {
    const unsent = (load: SdkRequestsOptions['load']): Promise<unknown> =>
      failure(
        new SdkRequests({ vendor: 'openai', fetch, limits, load }).send(
          { method: 'get', path: '/' },
          { credential: { kind: 'api_key', token: 'sk-secret' } },
        ),
      );
    const building =
      (build: () => never): SdkRequestsOptions['load'] =>
      () =>
        Promise.resolve(() => ({ buildRequest: async () => Promise.resolve(build()) }));

    it('if the SDK cannot be loaded', async () => {
      const cause = Object.assign(new SyntaxError('Unexpected token'), { code: 'ERR_BROKEN' });
      const error = await unsent(() => Promise.reject(cause));
      expect(error).to.be.instanceOf(LLMServerError);
      expect(error).to.include({ cause, retryable: false });
      expect((error as Error).message).to.equal(
        'The SDK for "openai" could not be loaded: SyntaxError: Unexpected token',
      );
    });

    it('if its package is missing', async () => {
      const missing = new MissingPackageError('openai', 'The vendor "openai"');
      expect(await unsent(() => Promise.reject(missing))).to.equal(missing);
    });

    it('if it cannot build the request', async () => {
      const error = await unsent(
        building(() => {
          throw Object.assign(new RangeError('Bearer sk-secret is odd'), { code: 'ERR_ODD' });
        }),
      );
      expect(error).to.be.instanceOf(LLMServerError);
      expect(error).to.include({ retryable: false });
      expect((error as Error).cause).to.equal(undefined);
      expect((error as Error).message).to.equal(
        'The request to "openai" could not be built or sent: RangeError (ERR_ODD).',
      );
    });

    it('if a header or the URL is invalid', async () => {
      const heads = [() => new Headers({ 'x-bad': 'a\r\nsk-secret' }), () => new URL('sk-secret')];
      for (const head of heads) {
        const error = await unsent(
          building(() => {
            throw failureOf(head);
          }),
        );
        expect(error).to.be.instanceOf(LLMInvalidRequestError);
        expect((error as Error).message).not.to.contain('sk-secret');
        expect((error as Error).cause).to.equal(undefined);
      }
    });
  });

  it('send a body whose lists were written before with all of its bytes', async () => {
    const input = [{ text: '„Grüße“ 🌞' }];
    keepJson(input, JSON.stringify(input).slice(1, -1));
    const tools = [{ name: 'é' }];
    keepListJson(tools);
    const body = { model: 'm', input, tools, user: 'Zoë' };
    const credential = { kind: 'api_key', token: 'a' } as const;
    await (await requests().send({ method: 'post', path: '/', body }, { credential })).text();
    const [sent] = server.requests;
    expect(JSON.parse(sent?.body ?? '')).to.deep.equal(body);
    expect(sent?.headers['content-length']).to.equal(String(Buffer.byteLength(JSON.stringify(body))));
  });

  it('build their head once per path, model, header and credential, and their body every time', async () => {
    const sdk = requests();
    const post = async (path: string, body: object, token = 'a', headers?: Record<string, string>): Promise<void> => {
      const credential = { kind: 'api_key', token } as const;
      await (
        await sdk.send({ method: 'post', path, body, ...(headers === undefined ? {} : { headers }) }, { credential })
      ).text();
    };
    await post('/one', { model: 'm', input: 1 });
    await post('/one', { model: 'm', input: 2 });
    expect(built).to.have.length(1);
    await post('/one', { model: 'm', input: 3 }, 'b');
    await post('/one', { model: 'n', input: 4 });
    await post('/two', { model: 'm', input: 5 });
    await post('/one', { model: 'm', input: 6 }, 'a', { beta: 'yes' });
    expect(built).to.have.length(5);
    for (let other = 0; other < 70; other += 1) await post(`/other/${other}`, {});
    built = [];
    await post('/other/69', {});
    await post('/one', { model: 'm', input: 7 });
    expect(
      built.map(({ path }) => path),
      'old heads are evicted',
    ).to.deep.equal(['/one']);
    const sent = server.requests
      .filter(({ path }) => !path.startsWith('/other'))
      .map(({ path, headers, body }) => `${String(headers['x-key'])} ${path} ${body}`);
    expect(sent).to.deep.equal([
      'a /one {"model":"m","input":1}',
      'a /one {"model":"m","input":2}',
      'b /one {"model":"m","input":3}',
      'a /one {"model":"n","input":4}',
      'a /two {"model":"m","input":5}',
      'a /one {"model":"m","input":6}',
      'a /one {"model":"m","input":7}',
    ]);
  });

  it('have heads of their own where they differ in one thing from the request before', async () => {
    const first = { method: 'post', path: '/', query: undefined, headers: undefined, body: { model: 'm' } } as const;
    const empty = { ...first, body: undefined };
    const pairs: readonly (readonly [SdkRequest, SdkRequest])[] = [
      [empty, { ...empty, method: 'delete' }],
      [first, { ...first, path: '/other' }],
      [first, { ...first, query: { page: 2 } }],
      [first, { ...first, headers: { beta: 'yes' } }],
      [first, { ...first, body: { model: 'n' } }],
    ];
    const wordsOf = ({ method, path, query, headers, body }: SdkRequest): string =>
      JSON.stringify([method, path, query, headers, body]);
    const buildRequest = (request: SdkRequest): ReturnType<RequestBuilder['buildRequest']> =>
      Promise.resolve({ req: { headers: new Headers({ 'x-words': wordsOf(request) }) }, url: server.url });
    const sdk = new SdkRequests({ vendor: 'openai', fetch, limits, load: async () => () => ({ buildRequest }) });
    const credential = { kind: 'api_key', token: 'a' } as const;
    const sent = pairs.flatMap(([one, other]) => [one, one, other, other, one]);
    for (const request of sent) await (await sdk.send(request, { credential })).text();
    expect(server.requests.map(({ headers }) => headers['x-words'])).to.deep.equal(sent.map(wordsOf));
  });

  it('build one head for all that need it at once, and again after a failure', async () => {
    const sdk = requests();
    await Promise.all(Array.from({ length: 5 }, () => ask(sdk, 'a')));
    expect([constructed, built.length, server.requests.length]).to.deep.equal([['a'], 1, 5]);
    const failing = new SdkRequests({
      vendor: 'openai',
      fetch,
      limits,
      load: () => {
        loads += 1;
        return Promise.reject(new Error('not yet'));
      },
    });
    loads = 0;
    const failures = await Promise.all([1, 2].map(() => failure(ask(failing, 'a'))));
    expect(failures.every((error) => error instanceof LLMServerError)).to.equal(true);
    await failure(ask(failing, 'a'));
    expect(loads).to.equal(2);
  });

  it('have the same head that the SDK builds for the entire body', async () => {
    const body = { model: 'some-model', input: 'x', stream: true, max_tokens: 5 };
    const azure = { apiKey: 'k', apiVersion: '2024-10-21', baseURL: 'https://r.openai.azure.com/openai' };
    const sdks: readonly RequestBuilder[] = [
      new OpenAI({ apiKey: 'k' }),
      new Anthropic({ apiKey: 'k' }),
      new Groq({ apiKey: 'k' }),
      new AzureOpenAI(azure),
    ];
    for (const sdk of sdks) {
      const request = { method: 'post', path: '/chat/completions', headers: { 'x-own': '1' } } as const;
      const [full, head] = await Promise.all([
        sdk.buildRequest({ ...request, body }),
        sdk.buildRequest({ ...request, body: { model: body.model } }),
      ]);
      expect(head.url).to.equal(full.url);
      expect([...head.req.headers]).to.deep.equal([...full.req.headers]);
      expect(full.req.body).to.equal(JSON.stringify(body));
    }
  });
});

function failureOf(run: () => unknown): Error {
  try {
    run();
  } catch (error) {
    return error as Error;
  }
  throw new Error('Expected an error.');
}
