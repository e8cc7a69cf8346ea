/** Routing rules behind the gateway's routes: one name, several targets. */
import { expect } from 'chai';
import type { RoutingRule } from '../../imports/business/ai/domain/entities/RoutingRule';
import type { AccessPolicy } from '../../imports/business/ai/domain/interfaces/AccessPolicy';
import { createAIModule } from '../../imports/business/ai/infrastructure/factories/createAIModule';
import type { Simulator } from '../../imports/simulator/Simulator';
import { itInVirtualTime } from '../support/itInVirtualTime';
import { simulatedRow, startGateway, TOKENS } from '../support/gateway';
import type { Gateway, GatewayOptions } from '../support/gateway';
import { allInSoak, itInSoak } from '../support/soak';

const MESSAGES = [{ role: 'user', content: 'Repeat cobalt.' }];
const CONTENTS = [{ role: 'user', parts: [{ text: 'Repeat cobalt.' }] }];

interface Shape {
  readonly api: string;
  readonly path: (model: string, stream: boolean) => string;
  readonly body: (model: string, stream: boolean) => object;
  /** Where the error of a response is. */
  readonly error: (body: Json) => Json;
  readonly notFound: object;
  readonly timeout: object;
}

type Json = Readonly<Record<string, unknown>>;

const SHAPES: readonly Shape[] = [
  {
    api: 'Responses',
    path: () => '/v1/responses',
    body: (model, stream) => ({ model, input: 'Repeat cobalt.', stream }),
    error: (body) => body['error'] as Json,
    notFound: { type: 'not_found', code: 'model_not_found', param: 'model' },
    timeout: { type: 'model_error' },
  },
  {
    api: 'Chat Completions',
    path: () => '/v1/chat/completions',
    body: (model, stream) => ({ model, messages: MESSAGES, stream }),
    error: (body) => body['error'] as Json,
    notFound: { type: 'invalid_request_error', code: 'model_not_found', param: 'model' },
    timeout: { type: 'server_error' },
  },
  {
    api: 'Messages',
    path: () => '/v1/messages',
    body: (model, stream) => ({ model, max_tokens: 50, messages: MESSAGES, stream }),
    error: (body) => body['error'] as Json,
    notFound: { type: 'not_found_error' },
    timeout: { type: 'timeout_error' },
  },
  {
    api: 'Gemini',
    path: (model, stream) => `/v1beta/models/${model}:${stream ? 'streamGenerateContent?alt=sse' : 'generateContent'}`,
    body: () => ({ contents: CONTENTS }),
    error: (body) => body['error'] as Json,
    notFound: { code: 404, status: 'NOT_FOUND' },
    timeout: { code: 504, status: 'DEADLINE_EXCEEDED' },
  },
];

function rule(
  name: string,
  targets: readonly (string | RoutingRule['targets'][number])[],
  fields: Partial<RoutingRule> = {},
): RoutingRule {
  return {
    name,
    targets: targets.map((target) => (typeof target === 'string' ? { model: target } : target)),
    strategy: 'fallback',
    enabled: true,
    ...fields,
  };
}

/** Two accounts of one vendor. */
function accounts(simulator: Simulator): NonNullable<ReturnType<NonNullable<GatewayOptions['providers']>>> {
  const row = simulatedRow(simulator, 'openai_compatible');
  return [
    { ...row, id: 'one', apiKey: 'key-one' },
    { ...row, id: 'two', apiKey: 'key-two' },
    { ...row, id: 'three', apiKey: 'key-three' },
  ];
}

function served(response: Response): Json {
  return Object.fromEntries(
    ['provider', 'model', 'route', 'attempts', 'fallback'].map((name) => [
      name,
      response.headers.get(`x-bolide-${name}`),
    ]),
  );
}

describe('A routing rule behind the gateway', () => {
  let gateway: Gateway;
  afterEach(() => gateway.close());

  for (const { api, path, body, error, notFound, timeout } of SHAPES) {
    for (const stream of allInSoak([true, false], 1)) {
      const of = stream ? `a stream of ${api}` : api;
      const ask = (model: string, fields: object = {}): Promise<Response> =>
        gateway.request(path(model, stream), { ...body(model, stream), ...fields });

      it(`is an alias for ${of}`, async () => {
        gateway = await startGateway({ routing: [rule('fast', ['groq/llama-3.3-70b-versatile'])] });
        const response = await ask('fast');
        expect(response.status).to.equal(200);
        expect(await response.text()).to.include('cobalt');
        expect(served(response)).to.deep.equal({
          provider: 'groq',
          model: 'llama-3.3-70b-versatile',
          route: 'fast',
          attempts: '1',
          fallback: null,
        });
        const { vendor, body: sent } = await gateway.simulator.nextRequest();
        expect([vendor, (sent as Json)['model']]).to.deep.equal(['groq', 'llama-3.3-70b-versatile']);
        expect(gateway.requestLog.entries[0]).to.deep.include({
          requestedModel: 'fast',
          route: 'fast',
          providerId: 'groq',
          model: 'llama-3.3-70b-versatile',
          state: 'completed',
        });
      });

      for (const status of [500, 429, 404]) {
        it(`falls back on ${status} for ${of}`, async () => {
          gateway = await startGateway({ routing: [rule('safe', ['openai', 'anthropic/claude-sonnet-4-5'])] });
          gateway.simulator.enqueue({
            vendor: 'openai',
            status,
            body: { error: { type: 'error', message: 'No.', ...(status === 404 ? { code: 'model_not_found' } : {}) } },
          });
          const response = await ask('safe');
          expect(response.status).to.equal(200);
          expect(await response.text()).to.include('cobalt');
          expect(served(response)).to.deep.equal({
            provider: 'anthropic',
            model: 'claude-sonnet-4-5',
            route: 'safe',
            attempts: '2',
            fallback: 'true',
          });
          expect(gateway.requestLog.entries[0]).to.deep.include({ route: 'safe', providerId: 'anthropic' });
          expect(gateway.simulator.requests.map(({ vendor }) => vendor)).to.deep.equal(['openai', 'anthropic']);
        });
      }

      itInVirtualTime(`falls back from a target that is too slow for ${of}`, async () => {
        gateway = await startGateway({ routing: [rule('safe', ['openai', 'groq'], { timeout: 1_000 })] });
        gateway.simulator.enqueue({ vendor: 'openai', text: 'Too late.', fault: { kind: 'stall', after: 'nothing' } });
        const response = await ask('safe');
        expect(response.status).to.equal(200);
        expect(served(response)).to.include({ provider: 'groq', fallback: 'true' });
        expect(await response.text()).to.include('cobalt');
      });

      itInVirtualTime(`reports a timeout of all targets as 504 for ${of}`, async () => {
        gateway = await startGateway({ routing: [rule('safe', ['openai'], { timeout: 100, maxRetries: 0 })] });
        gateway.simulator.enqueue({ vendor: 'openai', text: 'Too late.', fault: { kind: 'stall', after: 'nothing' } });
        const response = await ask('safe');
        expect(response.status).to.equal(504);
        expect(error((await response.json()) as Json)).to.deep.include(timeout);
        expect(served(response)).to.include({ provider: 'openai', route: 'safe', attempts: '1' });
      });

      it(`is unknown to callers of ${of} who may use none of its targets`, async () => {
        const access: AccessPolicy = {
          decide: (actor, { providerId }) =>
            Promise.resolve(
              actor.userId === 'bob' && providerId !== 'groq' ? { allowed: false, reason: 'No.' } : { allowed: true },
            ),
        };
        gateway = await startGateway({ routing: [rule('own', ['openai/secret-model'])], api: { access } });
        expect((await ask('own')).status).to.equal(200);
        const refused = await gateway.request(path('own', stream), body('own', stream), {
          headers: { authorization: `Bearer ${TOKENS.bob}` },
        });
        expect(refused.status).to.equal(404);
        const text = await refused.text();
        expect(error(JSON.parse(text) as Json)).to.deep.include(notFound);
        expect(text).to.not.include('secret-model');
        expect(text).to.not.include('openai');
      });
    }
  }

  it('passes over the targets that a caller may not use, that do not exist or do not offer the model', async () => {
    const access: AccessPolicy = {
      decide: (_actor, { providerId }) =>
        Promise.resolve(providerId === 'two' ? { allowed: false, reason: 'No.' } : { allowed: true }),
    };
    gateway = await startGateway({
      providers: (simulator) =>
        accounts(simulator).map((row) => (row.id === 'one' ? { ...row, allowedModels: ['other'] } : row)),
      routing: [rule('safe', ['none/m', 'one/m', 'two/m', 'three/m'])],
      api: { access },
    });
    const response = await gateway.request('/v1/chat/completions', { model: 'safe', messages: MESSAGES });
    expect(served(response)).to.deep.equal({
      provider: 'three',
      model: 'm',
      route: 'safe',
      attempts: '1',
      fallback: null,
    });
  });

  itInVirtualTime('retries as often as it says, then falls back', async () => {
    gateway = await startGateway({
      routing: [rule('safe', ['openai', 'groq'], { maxRetries: 2 })],
      time: { sleep: () => Promise.resolve() },
    });
    for (let sent = 0; sent < 3; sent += 1)
      gateway.simulator.enqueue({ vendor: 'openai', status: 500, body: { error: { message: 'Down.' } } });
    const response = await gateway.request('/v1/responses', { model: 'safe', input: 'Hi' });
    expect(served(response)).to.include({ provider: 'groq', attempts: '4' });
    expect(gateway.simulator.requests).to.have.length(4);
  });

  it('does not fall back for a request that is invalid everywhere', async () => {
    gateway = await startGateway({ routing: [rule('safe', ['openai', 'groq'])] });
    gateway.simulator.enqueue({ vendor: 'openai', status: 400, body: { error: { message: 'Bad input.' } } });
    const response = await gateway.request('/v1/responses', { model: 'safe', input: 'Hi' });
    expect(response.status).to.equal(400);
    expect(gateway.simulator.requests).to.have.length(1);
  });

  it('does not fall back once the first token was sent', async () => {
    gateway = await startGateway({ routing: [rule('safe', ['openai', 'groq'])] });
    gateway.simulator.enqueue({
      vendor: 'openai',
      text: 'One two three four five.',
      fault: { kind: 'reset', after: { events: 5 } },
    });
    const response = await gateway.request('/v1/chat/completions', { model: 'safe', messages: MESSAGES, stream: true });
    expect(response.status).to.equal(200);
    const text = await response.text();
    expect(text).to.include('error');
    expect(gateway.simulator.requests).to.have.length(1);
    expect(served(response)).to.include({ provider: 'openai', fallback: null });
  });

  itInVirtualTime(
    'falls back from a stream without a first token in time, and lets one go on that has one',
    async () => {
      gateway = await startGateway({ routing: [rule('safe', ['openai', 'groq'], { firstTokenTimeout: 1_000 })] });
      gateway.simulator.enqueue({ vendor: 'openai', text: 'Late.', fault: { kind: 'stall', after: { events: 1 } } });
      const ask = (): Promise<Response> =>
        gateway.request('/v1/chat/completions', { model: 'safe', messages: MESSAGES, stream: true });
      const first = await ask();
      expect(served(first)).to.include({ provider: 'groq', attempts: '2', fallback: 'true' });
      expect(await first.text()).to.include('cobalt');
      gateway.simulator.enqueue({
        vendor: 'openai',
        text: 'a b c d e f g h '.repeat(10),
        fault: { kind: 'slow', chunkBytes: 1_000, delayMs: 100 },
      });
      const second = await ask();
      expect(served(second)).to.include({ provider: 'openai', fallback: null });
      expect(await second.text()).to.include('[DONE]');
    },
  );

  itInVirtualTime('does not open the circuit of a provider that is only too slow for the rule', async () => {
    gateway = await startGateway({ routing: [rule('safe', ['openai'], { timeout: 30 })] });
    for (let call = 0; call < 6; call += 1)
      gateway.simulator.enqueue({ vendor: 'openai', text: 'x', fault: { kind: 'stall', after: 'nothing' } });
    // A call may time out before its request arrives.
    while (gateway.simulator.requests.length < 6)
      await gateway.module.manager.generate('ann', { model: 'safe', input: 'Hi' }).catch(() => undefined);
    expect(gateway.module.manager.health().get('openai')?.circuit).to.equal('closed');
    expect((await gateway.module.manager.generate('ann', { model: 'openai', input: 'Hi' })).status).to.equal(
      'completed',
    );
  });

  itInSoak('serves in proportion to the weights of several accounts', async () => {
    gateway = await startGateway({
      providers: accounts,
      routing: [
        rule(
          'shared',
          [
            { model: 'one/m', weight: 3 },
            { model: 'two/m', weight: 1 },
          ],
          { strategy: 'weighted' },
        ),
      ],
    });
    const counts: Record<string, number> = {};
    for (let call = 0; call < 400; call += 1) {
      const response = await gateway.module.manager.generate('ann', { model: 'shared', input: `Hi ${call}` });
      const provider = response.vendor.providerId ?? '';
      counts[provider] = (counts[provider] ?? 0) + 1;
    }
    expect(counts['one']).to.be.within(250, 350);
    expect((counts['one'] ?? 0) + (counts['two'] ?? 0)).to.equal(400);
  });

  it('has one account for a conversation, by its prompt_cache_key or its beginning', async () => {
    gateway = await startGateway({
      providers: accounts,
      routing: [rule('shared', ['one', 'two', 'three'], { strategy: 'weighted' })],
    });
    const providers = async (body: (call: number) => object): Promise<number> => {
      const seen = new Set<string | null>();
      for (let call = 0; call < 12; call += 1) {
        const response = await gateway.request('/v1/chat/completions', { model: 'shared', ...body(call) });
        seen.add(response.headers.get('x-bolide-provider'));
      }
      return seen.size;
    };
    expect(await providers((call) => ({ messages: MESSAGES, prompt_cache_key: `k${call}` }))).to.be.above(1);
    expect(
      await providers((call) => ({ messages: [{ role: 'user', content: `Hi ${call}` }], prompt_cache_key: 'k' })),
    ).to.equal(1);
    const turns = Array.from({ length: 12 }, (_, turn) => [
      { role: 'assistant', content: `Answer ${turn}` },
      { role: 'user', content: `Question ${turn}` },
    ]);
    expect(await providers((call) => ({ messages: [...MESSAGES, ...turns.slice(0, call + 1).flat()] }))).to.equal(1);
  });

  it('continues a response at the provider that made it', async () => {
    gateway = await startGateway({
      providers: (simulator) => ['a', 'b', 'c'].map((id) => ({ ...simulatedRow(simulator, 'openai'), id })),
      routing: [rule('shared', ['a', 'b', 'c'], { strategy: 'weighted' })],
    });
    let previous: string | undefined;
    let provider: string | null = null;
    for (let turn = 0; turn < 10; turn += 1) {
      const response = await gateway.request('/v1/responses', {
        model: 'shared',
        input: `Turn ${turn}`,
        ...(previous === undefined ? {} : { previous_response_id: previous }),
      });
      expect(response.status).to.equal(200);
      provider ??= response.headers.get('x-bolide-provider');
      expect(response.headers.get('x-bolide-provider')).to.equal(provider);
      ({ id: previous } = (await response.json()) as { id: string });
      const { body } = await gateway.simulator.nextRequest();
      // The provider has stored the conversation, so it is not sent again.
      expect((body as Json)['input']).to.have.length(1);
    }
  });

  it('prefers the account that answers fastest', async () => {
    gateway = await startGateway({
      providers: (simulator) => [simulatedRow(simulator, 'groq'), simulatedRow(simulator, 'anthropic')],
      routing: [rule('quick', ['groq', 'anthropic'], { strategy: 'latency' })],
    });
    const { stats } = gateway.module.routing;
    for (let call = 0; call < 10; call += 1) stats.succeeded('quick', 'groq', 'complete', 60_000);
    const seen: (string | null)[] = [];
    for (let call = 0; call < 20; call += 1) {
      const response = await gateway.request('/v1/messages', { model: 'quick', max_tokens: 50, messages: MESSAGES });
      seen.push(response.headers.get('x-bolide-provider'));
    }
    expect(seen.filter((provider) => provider === 'anthropic').length).to.be.above(14);
    expect(stats.latencies('anthropic').complete).to.be.below(5_000);
  });

  it('passes over a provider whose circuit is open', async () => {
    gateway = await startGateway({ routing: [rule('safe', ['openai', 'groq'])] });
    // The gateway of the tests never opens circuits.
    const module = createAIModule({
      providers: ['openai', 'groq'].map((vendor) => simulatedRow(gateway.simulator, vendor as 'openai')),
      routing: [rule('safe', ['openai', 'groq'], { maxRetries: 0 })],
    });
    for (let call = 0; call < 5; call += 1) {
      gateway.simulator.enqueue({ vendor: 'openai', status: 500, body: { error: { message: 'Down.' } } });
      await module.manager.generate('ann', { model: 'safe', input: 'Hi' });
    }
    expect(module.manager.health().get('openai')?.circuit).to.equal('open');
    const attempts: object[] = [];
    await module.manager.generate('ann', {
      model: 'safe',
      input: 'Hi',
      onAttempt: (attempt) => attempts.push(attempt),
    });
    expect(attempts).to.deep.equal([
      { providerId: 'groq', model: 'default-model', number: 1, isFallback: true, route: 'safe' },
    ]);
    await module.close();
  });

  it('fills in what the caller does not set', async () => {
    gateway = await startGateway({
      routing: [
        rule('tuned', ['openai_compatible/m'], {
          defaults: {
            temperature: 0.25,
            max_output_tokens: 77,
            instructions: 'Be brief.',
            reasoning: { effort: 'low' },
          },
        }),
      ],
    });
    const sent = async (path: string, body: object): Promise<Json> => {
      const response = await gateway.request(path, { model: 'tuned', ...body });
      expect(response.status, await response.text()).to.equal(200);
      return (await gateway.simulator.nextRequest()).body as Json;
    };
    const filled = await sent('/v1/chat/completions', { messages: MESSAGES });
    expect(filled).to.include({ temperature: 0.25, max_tokens: 77 });
    expect(JSON.stringify(filled['messages'])).to.include('Be brief.');
    const own = await sent('/v1/chat/completions', {
      messages: [{ role: 'system', content: 'Be long.' }, ...MESSAGES],
      temperature: 1,
      max_tokens: 5,
    });
    expect(own).to.include({ temperature: 1, max_tokens: 5 });
    expect(JSON.stringify(own)).to.include('Be long.').and.not.include('Be brief.');
    const messages = await sent('/v1/messages', { max_tokens: 9, system: 'Be long.', messages: MESSAGES });
    expect(messages).to.include({ temperature: 0.25, max_tokens: 9 });
    expect(JSON.stringify(messages)).to.not.include('Be brief.');
  });

  it('wins over a model of the same name, and leaves the address with the provider alone', async () => {
    gateway = await startGateway({ routing: [rule('gpt-4.1', ['groq/llama-3.3-70b-versatile'])] });
    const provider = async (model: string): Promise<string | null> =>
      (await gateway.request('/v1/responses', { model, input: 'Hi' })).headers.get('x-bolide-provider');
    expect(await provider('gpt-4.1')).to.equal('groq');
    expect(await provider('openai/gpt-4.1')).to.equal('openai');
  });

  it('does not exist while it is disabled', async () => {
    gateway = await startGateway({ routing: [rule('fast', ['groq'], { enabled: false })] });
    expect((await gateway.request('/v1/responses', { model: 'fast', input: 'Hi' })).status).to.equal(404);
  });

  it('is in the lists of models, in all three formats, with what its targets have in common', async () => {
    gateway = await startGateway({
      routing: [
        rule('fast', ['openai/gpt-4.1', 'anthropic/claude-sonnet-4-5']),
        rule('off', ['openai'], { enabled: false }),
        rule('broken', ['nobody/m']),
      ],
    });
    const read = async (path: string, headers = {}): Promise<Json> =>
      (await (await gateway.request(path, undefined, { headers })).json()) as Json;
    const { data } = await read('/v1/models');
    const names = (data as readonly Json[]).map(({ id }) => id as string);
    expect(names).to.include('fast').and.not.include('off').and.not.include('broken');
    const openAI = await read('/v1/models/fast');
    expect(openAI).to.deep.equal((data as readonly Json[]).find(({ id }) => id === 'fast'));
    expect(openAI).to.include({ id: 'fast', owned_by: 'bolide', context_length: 200_000 });
    expect(await read('/v1/models/fast', { 'anthropic-version': '2023-06-01' })).to.include({
      id: 'fast',
      max_input_tokens: 200_000,
    });
    expect(await read('/v1beta/models/fast')).to.include({ name: 'models/fast', inputTokenLimit: 200_000 });
    expect((await gateway.request('/v1/models/broken')).status).to.equal(404);
  });

  it('counts tokens with its first target', async () => {
    gateway = await startGateway({ routing: [rule('fast', ['anthropic/claude-sonnet-4-5'])] });
    const response = await gateway.request('/v1/messages/count_tokens', { model: 'fast', messages: MESSAGES });
    expect(response.status).to.equal(200);
    expect(response.headers.get('x-bolide-counted-by')).to.equal('vendor');
  });

  it('names the target of requests without a rule, too', async () => {
    gateway = await startGateway({});
    const response = await gateway.request('/v1/responses', { model: 'groq/llama-3.3-70b-versatile', input: 'Hi' });
    expect(served(response)).to.deep.equal({
      provider: 'groq',
      model: 'llama-3.3-70b-versatile',
      route: null,
      attempts: '1',
      fallback: null,
    });
    const byDefault = await gateway.request('/v1/responses', { model: 'groq', input: 'Hi' });
    expect(served(byDefault)).to.include({ provider: 'groq', model: 'default-model' });
  });
});
