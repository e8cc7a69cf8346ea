/** Cached responses at the gateway: who gets which, in every API, streamed or not, and what they cost. */
import Anthropic from '@anthropic-ai/sdk';
import { GoogleGenAI } from '@google/genai';
import { expect } from 'chai';
import OpenAI from 'openai';
import { CachedProvider } from '../../imports/business/ai/application/services/routing/cache/CachedProvider';
import { MemoryResponseCache } from '../../imports/business/ai/application/services/routing/cache/MemoryResponseCache';
import type { ResponseCache } from '../../imports/business/ai/domain/interfaces/ResponseCache';
import type { GenerateOptions } from '../../imports/business/ai/domain/types/LLMTypes';
import type { LLMResponse } from '../../imports/business/ai/domain/types/ResponsesAPITypes';
import { answer, calling, incomplete, refusing } from '../../imports/testing/responses';
import { ScriptedProvider } from '../../imports/testing/ScriptedProvider';
import { startGateway, TOKENS } from '../support/gateway';
import type { Gateway, GatewayRequestInit } from '../support/gateway';
import { RecordingLogger } from '../support/RecordingLogger';
import { CHECKS } from '../support/streamGrammar';
import { sampled } from '../support/soak';

const START = 4_000_000_000_000;
const HOUR = { 'x-bolide-cache': 'max-age=3600' };
type ApiName = 'responses' | 'chat' | 'messages' | 'gemini';

/** Asks with the official SDK. @returns the text */
const CLIENTS: Readonly<
  Record<ApiName, (url: string, model: string, question: string, stream: boolean) => Promise<string>>
> = {
  async responses(url, model, input, stream) {
    const client = new OpenAI({ apiKey: TOKENS.ann, baseURL: `${url}/v1`, defaultHeaders: HOUR, maxRetries: 0 });
    if (!stream) return (await client.responses.create({ model, input })).output_text;
    const events = client.responses.stream({ model, input });
    let deltas = '';
    for await (const event of events) if (event.type === 'response.output_text.delta') deltas += event.delta;
    expect((await events.finalResponse()).output_text).to.equal(deltas);
    return deltas;
  },
  async chat(url, model, content, stream) {
    const client = new OpenAI({ apiKey: TOKENS.ann, baseURL: `${url}/v1`, defaultHeaders: HOUR, maxRetries: 0 });
    const body = { model, messages: [{ role: 'user' as const, content }] };
    const completion = stream
      ? await client.chat.completions.stream({ ...body, stream_options: { include_usage: true } }).finalChatCompletion()
      : await client.chat.completions.create(body);
    expect(completion.usage?.total_tokens).to.be.greaterThan(0);
    return completion.choices[0]?.message.content ?? '';
  },
  async messages(url, model, content, stream) {
    const client = new Anthropic({ apiKey: TOKENS.ann, baseURL: url, defaultHeaders: HOUR, maxRetries: 0 });
    const body = { model, max_tokens: 200, messages: [{ role: 'user' as const, content }] };
    const message = stream ? await client.messages.stream(body).finalMessage() : await client.messages.create(body);
    return message.content.map((block) => (block.type === 'text' ? block.text : '')).join('');
  },
  async gemini(url, model, contents, stream) {
    const client = new GoogleGenAI({ apiKey: TOKENS.ann, httpOptions: { baseUrl: url, headers: HOUR } });
    if (!stream) return (await client.models.generateContent({ model, contents })).text ?? '';
    let text = '';
    for await (const chunk of await client.models.generateContentStream({ model, contents })) text += chunk.text ?? '';
    return text;
  },
};
const APIS = Object.keys(CLIENTS) as ApiName[];
const MODELS = ['openai', 'anthropic', 'google', 'groq'] as const;

describe('The response cache of the gateway', () => {
  let gateway: Gateway;
  let now = START;
  before(async () => {
    gateway = await startGateway({
      manager: { responseCache: new MemoryResponseCache({ now: () => now }), now: () => now },
    });
  });
  after(() => gateway.close());
  afterEach(() => expect(gateway.unexpected).to.deep.equal([]));

  let asked = 0;
  const question = (): string => `Question ${(asked += 1)}?`;
  const calls = (): number => gateway.simulator.requests.length;
  const last = () => gateway.requestLog.entries.at(-1);
  const ask = (body: object, init: GatewayRequestInit = { headers: HOUR }): Promise<Response> =>
    gateway.request('/v1/responses', { model: 'openai', ...body }, init);
  const resultOf = ({ headers }: Response): string | null => headers.get('x-bolide-cache');

  const forms = [
    [false, true],
    [true, false],
    [true, true],
  ] as const;
  const pairs = APIS.flatMap((api) => MODELS.flatMap((model) => forms.map((each) => ({ api, model, forms: each }))));
  for (const {
    api,
    model,
    forms: [first, second],
  } of sampled(pairs, (pair) => [`${pair.api} ${pair.forms.join()}`, `${pair.model} ${pair.forms.join()}`])) {
    const form = (stream: boolean): string => (stream ? 'streamed' : 'complete');
    it(`answers ${api} of ${model} ${form(second)} with a response that came ${form(first)}`, async () => {
      const text = question();
      const before = calls();
      const fresh = await CLIENTS[api](gateway.url, model, text, first);
      expect(fresh).to.include(text);
      expect(calls()).to.equal(before + 1);
      expect(last()).not.to.have.property('cached');
      expect(await CLIENTS[api](gateway.url, model, text, second)).to.equal(fresh);
      expect(calls(), 'no model call').to.equal(before + 1);
      expect(last()).to.include({ cached: true, cost: 0, state: 'completed', isStream: second });
      expect(last()?.usage.total_tokens).to.equal(0);
    });
  }

  it('says what was found, and how old it is', async () => {
    const body = { input: question() };
    const first = await ask(body);
    expect(resultOf(first)).to.equal('miss');
    expect(first.headers.has('age')).to.equal(false);
    const original = (await first.json()) as LLMResponse;
    now += 90_500;
    const second = await ask(body);
    expect(resultOf(second)).to.equal('hit');
    expect(second.headers.get('age')).to.equal('90');
    const again = (await second.json()) as LLMResponse;
    expect(again.output).to.deep.equal(original.output);
    expect(again.usage).to.deep.equal(original.usage);
  });

  it('gives every response an id of its own, by which it is stored and continued', async () => {
    for (const model of ['openai', 'anthropic']) {
      const body = { model, input: question(), store: true };
      const original = (await (await ask(body)).json()) as LLMResponse;
      const hit = await ask(body);
      expect(resultOf(hit)).to.equal('hit');
      const again = (await hit.json()) as LLMResponse;
      expect(again.id)
        .to.match(/^resp_/)
        .and.not.equal(original.id);
      const stored = await gateway.request(`/v1/responses/${again.id}`);
      expect(((await stored.json()) as LLMResponse).output).to.deep.equal(again.output);
      const next = await ask({ model, input: 'And then?', previous_response_id: again.id }, {});
      expect(next.status, await next.clone().text()).to.equal(200);
      const deleted = await gateway.request(`/v1/responses/${again.id}`, undefined, { method: 'DELETE' });
      expect(deleted.status).to.equal(200);
    }
    const body = { input: question(), stream: true };
    await (await ask(body)).text();
    const stream = await (await ask(body)).text();
    CHECKS.openai_responses(stream);
    const ids = new Set([...stream.matchAll(/"id":"(resp_\w+)"/g)].map(([, id]) => id));
    expect(ids.size).to.equal(1);
    expect((await gateway.request(`/v1/responses/${[...ids][0]}`)).status).to.equal(200);
  });

  it('never answers one user with the response of another', async () => {
    const body = { input: question() };
    await (await ask(body)).text();
    const other = await ask(body, { headers: { ...HOUR, authorization: `Bearer ${TOKENS.bob}` } });
    expect(resultOf(other)).to.equal('miss');
    await other.text();
  });

  it('is used only by requests that ask for it', async () => {
    const body = { input: question() };
    await (await ask(body)).text();
    const before = calls();
    const plain = await ask(body, {});
    expect(resultOf(plain)).to.equal(null);
    await plain.text();
    expect(calls()).to.equal(before + 1);
    const unasked = { input: question() };
    await (await ask(unasked, {})).text();
    const first = await ask(unasked);
    expect(resultOf(first)).to.equal('miss');
    await first.text();
  });

  it('takes nothing older than the request permits', async () => {
    const body = { input: question() };
    const maxAge = (seconds: number): GatewayRequestInit => ({ headers: { 'x-bolide-cache': `max-age=${seconds}` } });
    await (await ask(body, maxAge(100))).text();
    now += 60_000;
    expect(resultOf(await ask(body, maxAge(60)))).to.equal('miss');
    now += 59_999;
    expect(resultOf(await ask(body, maxAge(60)))).to.equal('hit');
    now += 1;
    expect(resultOf(await ask(body, maxAge(3_600))), 'stored for 60 seconds only').to.equal('miss');
  });

  it('is refreshed by no-cache, and left alone by no-store', async () => {
    const body = { input: question() };
    const idOf = async (headers: Record<string, string>): Promise<string> =>
      JSON.stringify(((await (await ask(body, { headers })).json()) as LLMResponse).output);
    gateway.simulator.enqueue({ text: 'one' }, { text: 'two' }, { text: 'three' }, { text: 'four' }, { text: 'five' });
    expect(await idOf(HOUR)).to.include('one');
    expect(await idOf({ 'x-bolide-cache': 'max-age=60, no-cache' })).to.include('two');
    expect(await idOf(HOUR)).to.include('two');
    expect(await idOf({ ...HOUR, 'cache-control': 'no-cache' })).to.include('three');
    expect(await idOf({ ...HOUR, 'cache-control': 'no-store' })).to.include('four');
    expect(await idOf({ 'x-bolide-cache': 'no-store' })).to.include('five');
    expect(await idOf(HOUR)).to.include('three');
    gateway.simulator.assertDone();
  });

  it('distinguishes everything that decides the answer', async () => {
    const input = `${question()} Answer as JSON.`;
    await (await ask({ input })).text();
    for (const other of [
      { input: `${input} ` },
      { input, model: 'anthropic' },
      { input, model: 'openai/gpt-5-mini' },
      { input, instructions: 'Be brief.' },
      { input, temperature: 0.5 },
      { input, max_output_tokens: 500 },
      {
        input,
        tools: [{ type: 'function', name: 'f', parameters: { type: 'object', properties: {} }, strict: false }],
      },
      { input, text: { format: { type: 'json_object' } } },
      { input, reasoning: { effort: 'low' } },
      { input, store: false },
      { input, service_tier: 'flex' },
    ]) {
      const response = await ask(other);
      expect(response.status, await response.clone().text()).to.equal(200);
      expect(resultOf(response), JSON.stringify(other)).to.equal('miss');
      await response.text();
    }
    expect(resultOf(await ask({ input }))).to.equal('hit');
    expect(resultOf(await ask({ input: [{ role: 'user', content: input }] })), 'the same in another form').to.equal(
      'hit',
    );
  });

  it('is bypassed by requests that depend on what a vendor has stored, or let it run tools', async () => {
    const input = question();
    const { id } = (await (await ask({ input })).json()) as LLMResponse;
    for (const body of [
      { input, previous_response_id: id },
      { input, tools: [{ type: 'web_search' }] },
    ])
      for (let time = 0; time < 2; time += 1) {
        const response = await ask(body);
        expect(response.status, await response.clone().text()).to.equal(200);
        expect(resultOf(response)).to.equal('bypass');
        await response.text();
      }
    const several = { model: 'openai', messages: [{ role: 'user', content: input }], n: 2 };
    const response = await gateway.request('/v1/chat/completions', several, { headers: HOUR });
    expect(resultOf(response)).to.equal('bypass');
    await response.text();
  });

  it('answers tool calls', async () => {
    const body = {
      input: question(),
      tools: [{ type: 'function', name: 'f', parameters: { type: 'object', properties: {} }, strict: false }],
    };
    gateway.simulator.enqueue({ calls: [{ name: 'f', arguments: {} }] });
    const first = (await (await ask(body)).json()) as LLMResponse;
    const hit = await ask({ ...body, stream: true });
    expect(resultOf(hit)).to.equal('hit');
    const text = await hit.text();
    CHECKS.openai_responses(text);
    expect(first.output[0]).to.include({ type: 'function_call', name: 'f' });
    expect(text).to.include('response.function_call_arguments.done');
  });

  it('stores no failure and no incomplete response', async () => {
    const failing = { input: question() };
    gateway.simulator.enqueue({ status: 500, body: { error: { message: 'Broken.' } } });
    expect((await ask(failing)).status).to.equal(500);
    expect(resultOf(await ask(failing))).to.equal('miss');
  });

  it('refuses an invalid header in the shape of each API', async () => {
    for (const value of ['yes', 'max-age', 'max-age=-1', 'max-age=2592001', 'no-cache', 'max-age=1, max-age=2', 'true'])
      for (const [path, body] of [
        ['/v1/responses', { model: 'openai', input: 'x' }],
        ['/v1/chat/completions', { model: 'openai', messages: [{ role: 'user', content: 'x' }] }],
        ['/v1/messages', { model: 'openai', max_tokens: 100, messages: [{ role: 'user', content: 'x' }] }],
        ['/v1beta/models/openai:generateContent', { contents: [{ role: 'user', parts: [{ text: 'x' }] }] }],
      ] as const) {
        const response = await gateway.request(path, body, { headers: { 'x-bolide-cache': value } });
        expect(response.status, `${path} ${value}`).to.equal(400);
        expect(JSON.stringify(await response.json())).to.include('x-bolide-cache');
      }
  });

  it('answers many identical requests at once', async () => {
    const body = { input: question() };
    await (await ask(body)).text();
    const before = calls();
    const responses = await Promise.all(Array.from({ length: 50 }, (_, at) => ask({ ...body, stream: at % 2 === 0 })));
    for (const response of responses) {
      expect(resultOf(response)).to.equal('hit');
      await response.text();
    }
    expect(calls()).to.equal(before);
  });

  it('answers the turns of a run that asks for it', async () => {
    const { manager, tools } = gateway.module;
    tools.register({ name: 'clock', description: 'The time.', execute: () => 'noon' });
    const input = question();
    gateway.simulator.enqueue({ calls: [{ name: 'clock', arguments: {}, id: 'call_1' }] }, { text: 'It is noon.' });
    const run = () =>
      manager.generateWithTools('ann', input, ['clock'], { model: 'openai', cache: { ttl: 60_000 }, stream: true });
    const first = await run();
    const before = calls();
    const second = await run();
    expect(calls()).to.equal(before);
    expect([first.output_text, second.output_text]).to.deep.equal(['It is noon.', 'It is noon.']);
    expect(second.vendor).to.include({ cached: true, cost: 0 });
  });

  it('is off if the operator says so', async () => {
    const off = await startGateway({ manager: { responseCache: false } });
    try {
      for (let time = 0; time < 2; time += 1) {
        const response = await off.request('/v1/responses', { model: 'openai', input: 'Hello' }, { headers: HOUR });
        expect(response.status).to.equal(200);
        expect(resultOf(response)).to.equal(null);
        await response.text();
      }
      expect(off.simulator.requests).to.have.length(2);
    } finally {
      await off.close();
    }
  });
});

describe('CachedProvider', () => {
  const cache = { ttl: 60_000 };
  const request: GenerateOptions = { model: 'm', input: 'Hello', cache };
  const wrap = (
    provider: ScriptedProvider,
    store: ResponseCache = new MemoryResponseCache(),
    logger = new RecordingLogger(),
  ) => new CachedProvider(provider, { cache: store, routeOf: () => ({ providerId: 'p', model: 'm' }), logger });

  for (const [what, response] of Object.entries({
    'an incomplete response': incomplete('max_output_tokens', 'Half of'),
    'a filtered response': incomplete('content_filter', 'Half of'),
    'a refusal': refusing('I can’t help with that.'),
    'an empty response': answer('', { output: [] }),
    "a fallback's response": answer('From elsewhere.', {
      vendor: {
        ...answer('').vendor,
        attempts: [{ providerId: 'p', reason: 'overloaded', delay: 0, fallback: 'q' }],
      },
    }),
  }))
    it(`does not store ${what}`, async () => {
      const provider = new ScriptedProvider([response, answer('Complete.')]);
      const cached = wrap(provider);
      await cached.generate('ann', request);
      expect((await cached.generate('ann', request)).output_text).to.equal('Complete.');
    });

  it('stores a response that calls tools', async () => {
    const provider = new ScriptedProvider([calling({ name: 'f' })]);
    const cached = wrap(provider);
    await cached.generate('ann', request);
    expect((await cached.generate('ann', request)).output[0]).to.include({ type: 'function_call', name: 'f' });
  });

  it('handles requests without the cache if it fails', async () => {
    const logger = new RecordingLogger();
    const broken: ResponseCache = {
      find: () => Promise.reject(new Error('The database is gone.')),
      save: () => Promise.reject(new Error('The database is gone.')),
    };
    const cached = wrap(new ScriptedProvider([answer('Fine.')]), broken, logger);
    expect((await cached.generate('ann', request)).output_text).to.equal('Fine.');
    expect(logger.warnings).to.have.length(2);
  });

  for (const [what, ttl] of Object.entries({
    zero: 0,
    'a negative time': -1,
    'too long a time': 31 * 86_400_000,
    NaN: NaN,
  }))
    it(`refuses ${what} as ttl`, async () => {
      const refused = await wrap(new ScriptedProvider([]))
        .generate('ann', { ...request, cache: { ttl } })
        .catch((error: unknown) => error);
      expect(refused).to.include({ code: 'invalid-request', path: 'cache.ttl' });
    });
});

describe('Budgets and the response cache', () => {
  it('charges nothing for a hit, also when the budget is used up', async () => {
    const gateway = await startGateway({ budgets: { day: { calls: 1 } } });
    try {
      const body = { model: 'openai', input: 'Hello' };
      expect((await gateway.request('/v1/responses', body, { headers: HOUR })).status).to.equal(200);
      expect((await gateway.request('/v1/responses', body, { headers: HOUR })).status).to.equal(200);
      expect((await gateway.request('/v1/responses', body)).status).to.equal(402);
      expect(gateway.requestLog.entries.map(({ cached = false, state }) => [cached, state])).to.deep.equal([
        [false, 'completed'],
        [true, 'completed'],
        [false, 'failed'],
      ]);
    } finally {
      await gateway.close();
    }
  });
});
