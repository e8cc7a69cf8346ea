/** What API tokens may use: models, budgets and rates, for the clients of every API of the gateway. */
import Anthropic from '@anthropic-ai/sdk';
import { ApiError, GoogleGenAI } from '@google/genai';
import { expect } from 'chai';
import OpenAI from 'openai';
import { BUDGET_LIMITS, DocumentBudgetLimits } from '../../imports/business/limits/infrastructure/DocumentBudgetLimits';
import { BUDGETS } from '../../imports/business/limits/infrastructure/DocumentBudgetStore';
import type { BudgetDocument } from '../../imports/business/limits/infrastructure/DocumentBudgetStore';
import { TOKEN_RATES } from '../../imports/business/limits/infrastructure/DocumentRateStore';
import { TokenPolicy } from '../../imports/business/limits/application/TokenPolicy';
import { fieldsOf } from '../../imports/business/ai/domain/util/json';
import type { ModelTurn } from '../../imports/simulator/model/ModelTurn';
import type { Simulator } from '../../imports/simulator/Simulator';
import { startSimulator } from '../../imports/simulator/startSimulator';
import { DATABASES, QUICK_DATABASES } from '../support/documentDatabases';
import type { TestDatabase } from '../support/documentDatabases';
import { failure } from '../support/failure';
import { openSocket } from '../support/responsesSocket';
import { recordEvents } from '../support/recordEvents';
import { ADMIN, startTokenGateway } from '../support/tokenGateway';
import type { TokenGateway } from '../support/tokenGateway';
import { until } from '../support/until';

/** In the future, since the database deletes what has expired by its own clock. */
const NOON = Date.UTC(2036, 10, 22, 12);
const MINUTE = 60_000;

interface SdkError {
  readonly status: number;
  readonly message: string;
  readonly headers?: Headers;
  readonly type?: string | null | undefined;
  readonly code?: string | null | undefined;
}

/** One question with each official SDK, none of which retries. */
const CLIENTS = {
  'chat completions': async (url: string, apiKey: string, model: string) => {
    const client = new OpenAI({ apiKey, baseURL: `${url}/v1`, maxRetries: 0 });
    await client.chat.completions.create({ model, messages: [{ role: 'user', content: 'Hello?' }] });
  },
  responses: async (url: string, apiKey: string, model: string) => {
    await new OpenAI({ apiKey, baseURL: `${url}/v1`, maxRetries: 0 }).responses.create({ model, input: 'Hello?' });
  },
  messages: async (url: string, apiKey: string, model: string) => {
    const client = new Anthropic({ apiKey, baseURL: url, maxRetries: 0 });
    await client.messages.create({ model, max_tokens: 50, messages: [{ role: 'user', content: 'Hello?' }] });
  },
  gemini: async (url: string, apiKey: string, model: string) => {
    await new GoogleGenAI({ apiKey, httpOptions: { baseUrl: url } }).models.generateContent({
      model,
      contents: 'Hello?',
    });
  },
} as const;
type ClientName = keyof typeof CLIENTS;
const CLIENT_NAMES = Object.keys(CLIENTS) as ClientName[];

async function refusalOf(asking: Promise<unknown>): Promise<SdkError> {
  const error = await failure(asking);
  if (error instanceof OpenAI.APIError || error instanceof Anthropic.APIError)
    return {
      ...fieldsOf(error),
      status: Number(error.status),
      message: error.message,
      headers: error.headers as Headers,
    };
  expect(error).to.be.instanceOf(ApiError);
  return error as ApiError;
}

async function errorIn(response: Response): Promise<Readonly<Record<string, unknown>>> {
  return fieldsOf(fieldsOf(await response.json())['error']);
}

describe('API tokens with limits', () => {
  let opened: TestDatabase;
  let simulator: Simulator;
  let gateway: TokenGateway;
  let now = NOON;
  const start = (): Promise<TokenGateway> => startTokenGateway(opened.database, simulator, () => now);
  beforeEach(async () => {
    now = NOON;
    [opened, simulator] = await Promise.all([DATABASES['embedded (SQLite)'](), startSimulator()]);
    gateway = await start();
  });
  afterEach(async () => {
    await gateway.close();
    await simulator.close();
    await opened.close();
    expect(gateway.unexpected).to.deep.equal([]);
  });

  describe('of models', () => {
    const MODELS = ['openai/gpt-5-mini', 'openai_compatible/gpt-5-mini', 'claude-*', 'google/*'];

    it('list these models alone, in the shape of every API', async () => {
      const { token } = await gateway.issue({ models: MODELS });
      const openai = new OpenAI({ apiKey: token, baseURL: `${gateway.url}/v1` });
      const names = (await openai.models.list()).data.map(({ id }) => id);
      expect(names).to.include('openai/gpt-5-mini');
      const permitted = /^openai(?:_compatible)?\/gpt-5-mini$|\/claude-[^/]*$|^google\//;
      for (const name of names) expect(name).to.match(permitted);
      const anthropic = new Anthropic({ apiKey: token, baseURL: gateway.url });
      for (const { id } of (await anthropic.models.list({ limit: 1_000 })).data) expect(id).to.match(permitted);
      const google = new GoogleGenAI({ apiKey: token, httpOptions: { baseUrl: gateway.url } });
      for await (const { name } of await google.models.list()) expect(name?.slice(7)).to.match(permitted);
      const all = new OpenAI({ apiKey: (await gateway.issue()).token, baseURL: `${gateway.url}/v1` });
      expect((await all.models.list()).data.length).to.be.above(names.length);
      expect(await refusalOf(openai.models.retrieve('openai/gpt-5'))).to.include({ status: 403 });
      expect((await openai.models.retrieve('openai/gpt-5-mini')).id).to.equal('openai/gpt-5-mini');
    });

    for (const name of CLIENT_NAMES)
      it(`refuse other models to clients of ${name}`, async () => {
        const { token } = await gateway.issue({ models: MODELS });
        for (const model of ['openai/gpt-5-mini', 'anthropic/claude-sonnet-4-5', 'google'])
          await CLIENTS[name](gateway.url, token, model);
        const sent = simulator.requests.length;
        const refused = await refusalOf(CLIENTS[name](gateway.url, token, 'openai/gpt-5'));
        expect(refused.status).to.equal(403);
        expect(refused.message.replaceAll('\\', '')).to.include(
          'The API token "ci" may not use the model "openai/gpt-5"',
        );
        if (name === 'chat completions' || name === 'responses') expect(refused.code).to.equal('model_not_found');
        if (name === 'messages') expect(refused.message).to.include('permission_error');
        if (name === 'gemini') expect(refused.message).to.include('PERMISSION_DENIED');
        expect(simulator.requests).to.have.length(sent);
      });

    it('refuse a default model that is not permitted, and token counts', async () => {
      const { token } = await gateway.issue({ models: ['gpt-5-mini'] });
      expect((await gateway.ask(token, { model: 'anthropic' })).status).to.equal(403);
      const count = { model: 'anthropic/claude-sonnet-4-5', messages: [{ role: 'user', content: 'Hello?' }] };
      expect((await gateway.post(token, '/v1/messages/count_tokens', count)).status).to.equal(403);
      expect((await gateway.ask(token)).status).to.equal(200);
    });

    const MESSAGES = [{ role: 'user', content: 'Hello?' }];
    const TOOL = { type: 'image_generation', model: 'gpt-image-1' } as const;
    const CHAT = { model: 'openai_compatible/gpt-5-mini', messages: MESSAGES };
    const REQUESTS: readonly (readonly [where: string, path: string, body: object])[] = [
      ['tools[0].model', '/v1/responses', { model: 'openai/gpt-5-mini', input: 'Hello?', tools: [TOOL] }],
      [
        'input[0].tools[0].model',
        '/v1/responses',
        {
          model: 'openai/gpt-5-mini',
          input: [
            { type: 'additional_tools', role: 'developer', tools: [TOOL] },
            { type: 'message', role: 'user', content: 'Hello?' },
          ],
        },
      ],
      ['models[1]', '/v1/chat/completions', { ...CHAT, models: ['gpt-5-mini', 'gpt-5'] }],
      ['fallbacks[0].model', '/v1/chat/completions', { ...CHAT, fallbacks: [{ model: 'gpt-5' }] }],
      ['Model', '/v1/chat/completions', { ...CHAT, Model: 'gpt-5' }],
      ['route', '/v1/chat/completions', { ...CHAT, route: 'fallback' }],
      ['preset', '/v1/chat/completions', { ...CHAT, preset: 'fast' }],
      ['models[0]', '/v1/images/generations', { model: 'openai/gpt-5-mini', prompt: 'A river', models: ['gpt-5'] }],
      [
        'svg.model',
        '/v1/images/generations',
        { model: 'openai/gpt-5-mini', prompt: 'A river', svg: { model: 'gpt-5' } },
      ],
      [
        'tools[0].svg.model',
        '/v1/responses',
        {
          model: 'openai/gpt-5-mini',
          input: 'Hello?',
          tools: [{ type: 'image_generation', svg: { model: 'gpt-5' } }],
        },
      ],
      [
        'moderation.model',
        '/v1/responses',
        { model: 'openai/gpt-5-mini', input: 'Hello?', moderation: { model: 'gpt-5' } },
      ],
      [
        'plugins[0].allowed_models[0]',
        '/v1/chat/completions',
        { ...CHAT, plugins: [{ id: 'auto-router', allowed_models: ['gpt-5'] }] },
      ],
      ['lora_path', '/v1/chat/completions', { ...CHAT, lora_path: 'another' }],
      ['extra_body.model', '/v1/chat/completions', { ...CHAT, extra_body: { model: 'gpt-5' } }],
    ];
    for (const [where, path, body] of REQUESTS)
      it(`refuse another model in "${where}" of ${path}`, async () => {
        const { token } = await gateway.issue({ models: MODELS });
        const refused = await gateway.post(token, path, body);
        const { code, param, message } = await errorIn(refused);
        expect([refused.status, code, param], String(message)).to.deep.equal([403, 'model_not_found', where]);
        expect(simulator.requests).to.deep.equal([]);
        await gateway.post((await gateway.issue()).token, path, body);
        expect(simulator.requests).to.have.length(1);
      });

    it('refuse that Vertex AI chooses a model', async () => {
      const { token } = await gateway.issue({ models: MODELS });
      const contents = [{ role: 'user', parts: [{ text: 'Hello?' }] }];
      for (const generationConfig of [
        { routingConfig: { manualMode: { modelName: 'gemini-2.5-pro' } } },
        { modelSelectionConfig: { featureSelectionPreference: 'PRIORITIZE_QUALITY' } },
      ]) {
        const path = '/v1beta/models/google/gemini-2.5-flash:generateContent';
        const refused = await gateway.post(token, path, { contents, generationConfig });
        expect(refused.status).to.equal(403);
        expect(await refused.text()).to.include(`generationConfig.${Object.keys(generationConfig)[0] ?? ''}`);
      }
      expect(simulator.requests).to.deep.equal([]);
    });

    it('refuse another model of a tool in a batch, and in a run that the token starts', async () => {
      const { id, token } = await gateway.issue({ models: MODELS });
      const tools = [{ type: 'advisor_20260301', name: 'advisor', model: 'opus' }];
      const params = { model: 'claude-sonnet-4-5', max_tokens: 9, messages: MESSAGES, tools };
      const requests = [{ custom_id: 'a', params }];
      expect((await gateway.post(token, '/v1/messages/batches', { requests })).status).to.equal(403);
      const origin = { source: 'run', tokenId: id } as const;
      const options = { model: 'openai/gpt-5-mini', origin, tools: [TOOL] };
      expect(await failure(gateway.module.manager.generateText('ann', 'Hello?', options))).to.have.property(
        'path',
        'tools[0].model',
      );
      expect(simulator.requests).to.deep.equal([]);
    });

    it('apply to runs that the token starts', async () => {
      const { id } = await gateway.issue({ models: ['openai/gpt-5-mini'] });
      const origin = { source: 'run', tokenId: id } as const;
      const ask = (model: string): Promise<string> =>
        gateway.module.manager.generateText('ann', 'Hello?', { model, origin });
      await ask('openai/gpt-5-mini');
      expect(await failure(ask('openai/gpt-5'))).to.have.property('code', 'permission-denied');
    });
  });

  describe('of budgets', () => {
    for (const name of CLIENT_NAMES)
      it(`tell clients of ${name} which limit is used up`, async () => {
        const { token } = await gateway.issue({ budgets: { day: { calls: 1 } } });
        await CLIENTS[name](gateway.url, token, 'openai/gpt-5-mini');
        const refused = await refusalOf(CLIENTS[name](gateway.url, token, 'openai/gpt-5-mini'));
        expect(refused.status).to.equal(402);
        expect(refused.message.replaceAll('\\', '')).to.include(
          'The next call would exceed the budget of the API token "ci" of 1 model call per day: 1 is used. ' +
            'It resets at 2036-11-23T00:00:00.000Z.',
        );
        if (name === 'chat completions' || name === 'responses')
          expect(refused).to.include({ type: 'insufficient_quota', code: 'budget_exceeded' });
        if (name === 'messages') expect(refused.message).to.include('billing_error');
        if (name === 'gemini') expect(refused.message).to.include('RESOURCE_EXHAUSTED');
        else expect(refused.headers?.get('x-should-retry')).to.equal('false');
        expect(simulator.requests).to.have.length(1);
      });

    it('count dollars and tokens, of streams too, and begin again with the next window', async () => {
      const { id, token } = await gateway.issue({ budgets: { day: { tokens: 10 }, month: { money: 1 } } });
      const first = await gateway.ask(token, { stream: true });
      expect(first.status).to.equal(200);
      await first.text();
      const { tokens } = await gateway.operations['ai.tokens.list'](ADMIN, { userId: 'ann' });
      const [entry] = gateway.requestLog.entries;
      const used = tokens.find(({ _id }) => _id === id)?.usage;
      expect(used?.day.used).to.deep.include({ calls: 1, tokens: entry?.usage.total_tokens });
      expect(used?.month.used.money).to.be.closeTo(entry?.cost ?? 0, 1e-12);
      const refused = await gateway.ask(token);
      expect(refused.status).to.equal(402);
      expect((await errorIn(refused))['message']).to.match(/of 10 tokens per day: \d+ are used\./);
      now = NOON + 86_400_000;
      expect((await gateway.ask(token, { max_tokens: 1_000 })).status).to.equal(200);
    });

    it('are used up by streams that their clients leave at once', async () => {
      const { token } = await gateway.issue({ budgets: { day: { tokens: 1_200 } } });
      const messages = [
        { role: 'system', content: 'x'.repeat(2_000) },
        { role: 'user', content: 'Hello?' },
      ];
      const statuses: number[] = [];
      for (let call = 1; call <= 8; call += 1) {
        const left = await gateway.ask(token, { stream: true, messages });
        statuses.push(left.status);
        const reader = left.body?.getReader();
        await reader?.read();
        await reader?.cancel();
        await gateway.requestLog.seen(call);
      }
      const answered = statuses.filter((status) => status === 200);
      expect(answered.length).to.be.within(1, 3);
      expect(simulator.requests).to.have.length(answered.length);
    });

    it('exist besides the budget of the owner: a call must fit both, and holds nothing if one refuses', async () => {
      const ofUsers = new DocumentBudgetLimits(opened.database.collection(BUDGET_LIMITS));
      await ofUsers.set({ userId: 'ann', limits: { day: { calls: 8 } }, changedAt: 0 });
      const one = await gateway.issue({ budgets: { day: { calls: 5 } } });
      const other = await gateway.issue({ budgets: { day: { calls: 1 } } });
      await gateway.ask(other.token);
      expect((await gateway.ask(other.token)).status).to.equal(402);
      for (let call = 0; call < 5; call += 1) expect((await gateway.ask(one.token)).status).to.equal(200);
      expect((await gateway.ask(one.token)).status).to.equal(402);
      const unlimited = await gateway.issue();
      for (let call = 0; call < 2; call += 1) expect((await gateway.ask(unlimited.token)).status).to.equal(200);
      const refused = await gateway.ask(unlimited.token);
      expect((await errorIn(refused))['message']).to.include('your budget of 8 model calls per day: 8 are used');
      const { tokens } = await gateway.operations['ai.tokens.list'](ADMIN, { userId: 'ann' });
      const used = new Map(tokens.map(({ _id, usage }) => [_id, usage.day.used.calls]));
      expect([one, other, unlimited].map(({ id }) => used.get(id))).to.deep.equal([5, 1, 2]);
      const accounts = await opened.database.collection<BudgetDocument>(BUDGETS).find({});
      expect(accounts.map(({ holds }) => holds)).to.deep.equal(['[]', '[]', '[]', '[]']);
    });

    it('state what calls up to then have used, also of a token without limits', async () => {
      const { id, token } = await gateway.issue();
      for (let call = 1; call <= 3; call += 1) {
        await gateway.ask(token);
        const stated = await gateway.operations['ai.tokens.usage'](ADMIN, { userId: 'ann', id });
        expect(stated.token.usage.day.used.calls).to.equal(call);
      }
    });

    it('count embeddings, too', async () => {
      const { token } = await gateway.issue({
        budgets: { day: { calls: 1 } },
        models: ['text-embedding-3-small'],
        rateLimits: { requestsPerMinute: 5 },
      });
      const embed = (model: string): Promise<Response> =>
        gateway.post(token, '/v1/embeddings', { model, input: 'Hello' });
      expect((await embed('openai/text-embedding-3-large')).status).to.equal(403);
      const made = await embed('openai/text-embedding-3-small');
      expect(made.status).to.equal(200);
      expect(made.headers.get('x-ratelimit-remaining-requests'), 'a refused one counts').to.equal('3');
      expect((await embed('openai/text-embedding-3-small')).status).to.equal(402);
    });

    it('count runs and chat messages that the token starts', async () => {
      const { id, token } = await gateway.issue({ budgets: { day: { calls: 2 } } });
      const model = 'openai/gpt-5-mini';
      const events = recordEvents(gateway.module.loop);
      const actor = { userId: 'ann', source: 'http', origin: { api: 'runs', tokenId: id } } as const;
      await gateway.module.useCases.agenticExecution.execute(actor, {
        requestId: 'run',
        providerId: 'openai',
        model: 'gpt-5-mini',
        input: 'Hello?',
        tools: [],
      });
      await events.seen('run:completed');
      for (let message = 0; message < 2; message += 1) {
        const accepted = await gateway.post(token, '/api/input', { message: 'Hello?', model });
        expect(accepted.status).to.equal(202);
        await gateway.requestLog.seen(2 + message);
      }
      expect(gateway.requestLog.entries.map(({ tokenId, error }) => [tokenId, error?.code])).to.deep.equal([
        [id, undefined],
        [id, undefined],
        [id, 'budget-exceeded'],
      ]);
    });

    it('are shared by the tokens of a team', async () => {
      await gateway.teamLimits.set({ userId: 'red', limits: { day: { calls: 2 } }, changedAt: 0 });
      const tokens = await Promise.all([1, 2].map(() => gateway.issue({ team: 'red' })));
      for (const { token } of tokens) expect((await gateway.ask(token)).status).to.equal(200);
      const refused = await gateway.ask(tokens[0]!.token);
      expect(refused.status).to.equal(402);
      expect((await errorIn(refused))['message']).to.include('the budget of the team "red" of 2 model calls per day');
      const outside = await gateway.issue();
      expect((await gateway.ask(outside.token)).status).to.equal(200);
      expect(gateway.requestLog.entries.map(({ team }) => team)).to.deep.equal(['red', 'red', 'red', undefined]);
    });
  });

  describe('of rates', () => {
    it('refuse further requests of the minute, with the headers of the client’s API', async () => {
      now = NOON + 20_000;
      const { token } = await gateway.issue({ rateLimits: { requestsPerMinute: 2 } });
      const first = await gateway.ask(token);
      expect(Object.fromEntries(first.headers)).to.include({
        'x-ratelimit-limit-requests': '2',
        'x-ratelimit-remaining-requests': '1',
        'x-ratelimit-reset-requests': '40s',
      });
      await gateway.ask(token);
      const refused = await refusalOf(CLIENTS['chat completions'](gateway.url, token, 'openai/gpt-5-mini'));
      expect(refused).to.include({ status: 429, type: 'rate_limit_error', code: 'rate_limit_exceeded' });
      expect(refused.message).to.include(
        'The API token "ci" is limited to 2 requests per minute: 2 are used. The next minute begins in 40 s.',
      );
      expect(refused.headers?.get('retry-after')).to.equal('40');
      expect(refused.headers?.get('x-ratelimit-remaining-requests')).to.equal('0');
      expect(refused.headers?.get('x-should-retry')).to.equal(null);
      const anthropic = await refusalOf(CLIENTS.messages(gateway.url, token, 'anthropic/claude-sonnet-4-5'));
      expect(anthropic.status).to.equal(429);
      expect(anthropic.message).to.include('rate_limit_error');
      expect(anthropic.headers?.get('anthropic-ratelimit-requests-limit')).to.equal('2');
      expect(anthropic.headers?.get('anthropic-ratelimit-requests-reset')).to.equal('2036-11-22T12:01:00Z');
      const gemini = await refusalOf(CLIENTS.gemini(gateway.url, token, 'google'));
      expect(gemini.status).to.equal(429);
      expect(gemini.message).to.include('RESOURCE_EXHAUSTED');
      expect(simulator.requests).to.have.length(2);
      now = NOON + MINUTE;
      expect((await gateway.ask(token)).status).to.equal(200);
    });

    it('count tokens: those reserved while a request runs, and then those it used', async () => {
      const { token } = await gateway.issue({ rateLimits: { tokensPerMinute: 2_000 } });
      const first = await gateway.ask(token, { max_tokens: 1_500 });
      const { usage } = (await first.json()) as { readonly usage: { readonly total_tokens: number } };
      const used = usage.total_tokens;
      expect(Number(first.headers.get('x-ratelimit-remaining-tokens'))).to.be.below(500);
      const second = await gateway.ask(token, { max_tokens: 500 });
      expect(second.status, 'the first one used less than it had reserved').to.equal(200);
      expect(Number(second.headers.get('x-ratelimit-remaining-tokens'))).to.be.within(1_400 - used, 1_500 - used);
      const refused = await gateway.ask(token, { max_tokens: 1_999 });
      expect(refused.status).to.equal(429);
      expect((await errorIn(refused))['message']).to.match(/limited to 2000 tokens per minute: \d+ are used\./);
      now += MINUTE;
      expect((await gateway.ask(token, { max_tokens: 100_000 })).status, 'more than the limit, alone').to.equal(200);
    });

    it('count requests in progress, until they end in whatever way', async () => {
      const { token } = await gateway.issue({ rateLimits: { parallel: 1 } });
      const stall = { fault: { kind: 'stall' } } as const;
      const leave = new AbortController();
      simulator.enqueue(stall);
      const waiting = failure(
        fetch(`${gateway.url}/v1/responses`, {
          method: 'POST',
          headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
          body: JSON.stringify({ model: 'openai/gpt-5-mini', input: 'Hello?', stream: true }),
          signal: leave.signal,
        }),
      );
      await simulator.nextRequest();
      const refused = await gateway.ask(token);
      expect(refused.status).to.equal(429);
      expect(refused.headers.get('retry-after')).to.equal('1');
      expect((await errorIn(refused))['message']).to.include('limited to 1 request at a time: 1 are in progress');
      leave.abort();
      await waiting;
      await until(async () => (await gateway.ask(token)).status === 200);
      simulator.enqueue({ status: 400, body: { error: { message: 'No.', type: 'invalid_request_error' } } });
      expect((await gateway.ask(token)).status).to.equal(400);
      const stream = await gateway.ask(token, { stream: true });
      await stream.text();
      expect((await gateway.ask(token)).status).to.equal(200);
    });

    it('count background responses and those on a WebSocket', async () => {
      const { token } = await gateway.issue({ rateLimits: { requestsPerMinute: 3 } });
      const background = await gateway.post(token, '/v1/responses', {
        model: 'openai/gpt-5-mini',
        input: 'Hello?',
        background: true,
      });
      expect(background.status).to.equal(200);
      await gateway.requestLog.seen(1);
      // The upgrade is a request, and so is each message.
      const socket = await openSocket({ url: gateway.url, token });
      const turn = { model: 'openai/gpt-5-mini', input: [], store: false };
      expect((await socket.turn(turn)).response).to.include({ status: 'completed' });
      expect(await socket.turn(turn)).to.have.property('status', 429);
      await socket.close();
    });

    it('forget the requests in progress of a dead process', async () => {
      const { token } = await gateway.issue({ rateLimits: { parallel: 1 } });
      simulator.enqueue({ fault: { kind: 'stall' } });
      const leave = new AbortController();
      const waiting = failure(
        fetch(`${gateway.url}/v1/responses`, {
          method: 'POST',
          headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
          body: JSON.stringify({ model: 'openai/gpt-5-mini', input: 'Hello?' }),
          signal: leave.signal,
        }),
      );
      await simulator.nextRequest();
      const other = await start();
      expect((await other.ask(token)).status).to.equal(429);
      // Without its process, nothing renews the lease.
      now += MINUTE;
      expect((await other.ask(token)).status).to.equal(200);
      leave.abort();
      await waiting;
      await other.close();
    });

    it('leave nothing in the database for tokens without them', async () => {
      const { token } = await gateway.issue();
      const answered = await gateway.ask(token);
      expect(answered.headers.get('x-ratelimit-limit-requests')).to.equal(null);
      expect(await opened.database.collection(TOKEN_RATES).count({})).to.equal(0);
    });
  });

  describe('of a user', () => {
    const ANN = { userId: 'ann', source: 'http' } as const;

    it('are set by the user, except for those that an admin has set, and for the team', async () => {
      const { operations } = gateway;
      const own = await operations['ai.tokens.create'](ANN, { name: 'own', models: ['gpt-*'] });
      expect(await operations['ai.tokens.update'](ANN, { id: own.id, models: null })).not.to.have.property('models');
      for (const refused of [
        operations['ai.tokens.create'](ANN, { name: 'of a team', team: 'red' }),
        operations['ai.tokens.update'](ANN, { id: own.id, team: 'red' }),
        operations['ai.tokens.update'](ANN, { id: own.id, team: null }),
      ])
        expect(await failure(refused)).to.include({ code: 'permission-denied', path: 'team' });
      const given = await gateway.issue({ budgets: { day: { calls: 1 } } });
      expect(await operations['ai.tokens.update'](ANN, { id: given.id, name: 'mine', tags: ['x'] })).to.include({
        name: 'mine',
        isManaged: true,
      });
      for (const change of [{ budgets: null }, { models: ['*'] }, { expiresAt: null }])
        expect(await failure(operations['ai.tokens.update'](ANN, { id: given.id, ...change }))).to.have.property(
          'code',
          'permission-denied',
        );
      await operations['ai.tokens.update'](ADMIN, { id: own.id, userId: 'ann', rateLimits: { parallel: 1 } });
      const lifting = operations['ai.tokens.update'](ANN, { id: own.id, rateLimits: null });
      expect(await failure(lifting)).to.have.property('code', 'permission-denied');
      const rotated = await operations['ai.tokens.rotate'](ANN, { id: given.id });
      expect((await gateway.ask(rotated.token)).status).to.equal(200);
      expect((await gateway.ask(rotated.token)).status, 'limits and usage stay').to.equal(402);
      expect((await gateway.ask(given.token)).status).to.equal(401);
    });
  });

  describe('that change', () => {
    it('apply from the next call on, of open connections too', async () => {
      const { id, token } = await gateway.issue();
      const socket = await openSocket({ url: gateway.url, token });
      const turn = { model: 'openai/gpt-5-mini', input: [], store: false };
      expect((await socket.turn(turn)).response).to.include({ status: 'completed' });
      await gateway.operations['ai.tokens.update'](ADMIN, { id, userId: 'ann', models: ['claude-*'] });
      expect(await socket.turn(turn)).to.have.property('status', 403);
      await gateway.operations['ai.tokens.update'](ADMIN, { id, userId: 'ann', models: null });
      expect((await socket.turn(turn)).response).to.include({ status: 'completed' });
      await gateway.operations['ai.tokens.revoke'](ADMIN, { id, userId: 'ann' });
      expect(await socket.turn(turn)).to.have.property('status', 401);
      await socket.close();
    });

    it('leave a running stream alone when the token is revoked, and refuse the next', async () => {
      const { id, token } = await gateway.issue();
      simulator.enqueue({ fault: { kind: 'slow', chunkBytes: 64, delayMs: 1 } });
      const stream = await gateway.ask(token, { stream: true });
      expect(stream.status).to.equal(200);
      await gateway.operations['ai.tokens.revoke'](ADMIN, { id, userId: 'ann' });
      expect(await stream.text()).to.include('[DONE]');
      expect((await gateway.ask(token)).status).to.equal(401);
    });

    it('end runs of a token that was revoked or has expired, with their next call', async () => {
      const revoked = await gateway.issue();
      const expiring = await gateway.issue({ expiresAt: now + MINUTE });
      const ask = (tokenId: string): Promise<string> =>
        gateway.module.manager.generateText('ann', 'Hello?', {
          model: 'openai/gpt-5-mini',
          origin: { source: 'run', tokenId },
        });
      for (const { id } of [revoked, expiring]) await ask(id);
      await gateway.operations['ai.tokens.revoke'](ADMIN, { id: revoked.id, userId: 'ann' });
      now += MINUTE;
      for (const { id } of [revoked, expiring]) expect(await failure(ask(id))).to.have.property('code', 'auth-failed');
      await ask('a-token-of-the-settings');
    });

    it('reach other processes within two seconds', async () => {
      const { id } = await gateway.issue();
      let clock = 0;
      const policy = new TokenPolicy({
        tokens: { find: (tokenId) => gateway.tokens.tokens.find(tokenId) },
        now: () => now,
        clock: () => clock,
      });
      expect((await policy.find(id))?.models).to.equal(undefined);
      await gateway.operations['ai.tokens.update'](ADMIN, { id, userId: 'ann', models: ['claude-*'] });
      clock += 2_000;
      expect((await policy.find(id))?.models).to.deep.equal(['claude-*']);
      await gateway.operations['ai.tokens.revoke'](ADMIN, { id, userId: 'ann' });
      clock += 2_000;
      expect(await failure(Promise.resolve(policy.find(id)))).to.have.property('code', 'auth-failed');
    });
  });
});

for (const [name, open] of Object.entries(QUICK_DATABASES))
  describe(`the limits of an API token on two hosts that share ${name}`, () => {
    const CALLS = 50;
    const LIMIT = 20;
    const ANSWER_TOKENS = 2_000;
    let opened: TestDatabase;
    let simulator: Simulator;
    let hosts: readonly TokenGateway[];
    beforeEach(async () => {
      const text = 'word '.repeat((ANSWER_TOKENS * 4) / 5);
      const turn: ModelTurn = { calls: [], text, ending: 'complete' };
      [opened, simulator] = await Promise.all([open(), startSimulator({ model: { respond: () => turn } })]);
      const started: TokenGateway[] = [];
      // One after the other: they create the same indexes.
      for (let host = 0; host < 2; host += 1)
        started.push(await startTokenGateway(opened.database, simulator, () => NOON));
      hosts = started;
    });
    afterEach(async () => {
      for (const host of hosts) await host.close();
      await simulator.close();
      await opened.close();
    });

    const askEverywhere = async (fields: object): Promise<Readonly<Record<number, number>>> => {
      const { token } = await hosts[0]!.issue(fields);
      const statuses: Record<number, number> = {};
      await Promise.all(
        hosts.flatMap((host) =>
          Array.from({ length: CALLS }, async () => {
            const { status } = await host.ask(token);
            statuses[status] = (statuses[status] ?? 0) + 1;
          }),
        ),
      );
      return statuses;
    };

    it('are not passed by more than one call, though no request says how long its answer may be', async () => {
      const limit = 10_000;
      const { id, token } = await hosts[0]!.issue({ budgets: { day: { tokens: limit } } });
      const answers = hosts.flatMap((host) => Array.from({ length: CALLS }, () => host.ask(token)));
      const statuses = (await Promise.all(answers)).map(({ status }) => status);
      expect(new Set(statuses)).to.deep.equal(new Set([200, 402]));
      const { tokens } = await hosts[0]!.operations['ai.tokens.list'](ADMIN, { userId: 'ann' });
      const used = tokens.find(({ _id }) => _id === id)?.usage.day.used.tokens ?? 0;
      expect(used).to.be.within(ANSWER_TOKENS, limit + ANSWER_TOKENS + 100);
      expect(simulator.requests.length * ANSWER_TOKENS).to.be.at.most(used);
    });

    it(`permit exactly ${LIMIT} of ${2 * CALLS} calls at once`, async () => {
      const refused = 2 * CALLS - LIMIT;
      expect(await askEverywhere({ budgets: { day: { calls: LIMIT } } })).to.deep.equal({ 200: LIMIT, 402: refused });
      expect(await askEverywhere({ rateLimits: { requestsPerMinute: LIMIT } })).to.deep.equal({
        200: LIMIT,
        429: refused,
      });
      expect(simulator.requests).to.have.length(2 * LIMIT);
    });
  });
