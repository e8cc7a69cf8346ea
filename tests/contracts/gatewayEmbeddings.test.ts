/** Embeddings through the gateway and the library, with the official SDKs as clients. */
import { expect } from 'chai';
import { GoogleGenAI } from '@google/genai';
import OpenAI, { AzureOpenAI } from 'openai';
import { RUN_OPERATIONS } from '../../imports/business/ai/application/operations/runCommandOperations';
import { RunCommands } from '../../imports/business/ai/application/operations/RunCommands';
import { LLMManager } from '../../imports/business/ai/application/services/LLMManager';
import { fieldsOf } from '../../imports/business/ai/domain/util/json';
import type { AccessPolicy } from '../../imports/business/ai/domain/interfaces/AccessPolicy';
import type { EmbedOptions } from '../../imports/business/ai/domain/types/EmbeddingTypes';
import type { JsonObject, VendorName } from '../../imports/business/ai/domain/types/VendorTypes';
import { createAIModule } from '../../imports/business/ai/infrastructure/factories/createAIModule';
import { createProvider } from '../../imports/business/ai/infrastructure/factories/createProvider';
import { bindOperations } from '../../imports/host/bindOperations';
import { embed } from '../../imports/library/embed';
import { startSimulator } from '../../imports/simulator/startSimulator';
import type { Simulator } from '../../imports/simulator/Simulator';
import { CANARY } from '../support/canaries';
import { simulatedRow, startGateway, TOKENS } from '../support/gateway';
import type { Gateway } from '../support/gateway';
import { RecordingRequestLog } from '../support/RecordingRequestLog';

/** The vendors that have embeddings, with the paths of their requests. */
const PATHS: Partial<Record<VendorName, string>> = {
  openai: '/embeddings',
  azure_openai: '/embeddings',
  google: ':batchEmbedContents',
  llama: '/embeddings',
  openai_compatible: '/embeddings',
};
const ONLY_OPENAI: AccessPolicy = {
  decide: (_actor, { providerId }) =>
    Promise.resolve(providerId === 'openai' ? { allowed: true } : { allowed: false, reason: 'Not this one.' }),
};
const WITHOUT: readonly VendorName[] = ['anthropic', 'grok', 'groq'];
const TEXTS = ['a river', 'a bank by the river', 'money'];

describe('the gateway’s embeddings', () => {
  let gateway: Gateway;
  before(async () => {
    gateway = await startGateway();
  });
  after(() => gateway.close());

  const openai = (token = TOKENS.ann as string): OpenAI =>
    new OpenAI({ apiKey: token, baseURL: `${gateway.url}/v1`, maxRetries: 0 });
  const google = (): GoogleGenAI =>
    new GoogleGenAI({ apiKey: TOKENS.ann, httpOptions: { baseUrl: gateway.url }, vertexai: false });
  const post = async (body: unknown, path = '/v1/embeddings'): Promise<{ status: number; body: JsonObject }> => {
    const response = await gateway.request(path, body);
    return { status: response.status, body: (await response.json()) as JsonObject };
  };

  for (const [vendor, path] of Object.entries(PATHS)) {
    it(`of OpenAI's client come from ${vendor}, the same in both encodings`, async () => {
      const before = gateway.simulator.requests.length;
      const model = `${vendor}/text-embedding-3-small`;
      const packed = await openai().embeddings.create({ model, input: TEXTS, dimensions: 5 });
      const plain = await openai().embeddings.create({ model, input: TEXTS, dimensions: 5, encoding_format: 'float' });
      expect(packed.object).to.equal('list');
      expect(packed.data.map(({ index, embedding }) => [index, embedding.length])).to.deep.equal([
        [0, 5],
        [1, 5],
        [2, 5],
      ]);
      expect(packed.data.map(({ embedding }) => Array.from(embedding))).to.deep.equal(
        plain.data.map(({ embedding }) => embedding),
      );
      expect(packed.usage.prompt_tokens).to.be.greaterThan(0).and.equal(packed.usage.total_tokens);
      const requests = gateway.simulator.requests.slice(before);
      expect(requests.map((request) => request.path.endsWith(path) && request.status === 200)).to.deep.equal([
        true,
        true,
      ]);
    });

    it(`of Google's client come from ${vendor}`, async () => {
      const model = `${vendor}/gemini-embedding-001`;
      const config = { outputDimensionality: 6, taskType: 'RETRIEVAL_DOCUMENT', title: 'Rivers' };
      const many = await google().models.embedContent({ model, contents: TEXTS, config });
      expect(many.embeddings?.map(({ values }) => values?.length)).to.deep.equal([6, 6, 6]);
      const response = await gateway.request(`/v1beta/models/${model}:embedContent`, {
        content: { parts: [{ text: TEXTS[0] }] },
        outputDimensionality: 6,
        taskType: 'RETRIEVAL_DOCUMENT',
        title: 'Rivers',
      });
      const one = (await response.json()) as { embedding: JsonObject; usageMetadata: JsonObject };
      expect(one.embedding.values).to.deep.equal(many.embeddings?.[0]?.values);
      expect(one.usageMetadata.promptTokenCount).to.be.greaterThan(0);
      const warnings = response.headers.get('x-bolide-warnings');
      if (vendor === 'google') expect(warnings).to.equal(null);
      else expect(warnings).to.include('taskType').and.to.include('title');
      const sent = gateway.simulator.requests.at(-1);
      expect(JSON.stringify(sent?.body).includes('RETRIEVAL_DOCUMENT')).to.equal(vendor === 'google');
    });
  }

  for (const vendor of WITHOUT)
    it(`are refused for ${vendor}, which has none`, async () => {
      const { status, body } = await post({ model: `${vendor}/some-model`, input: 'x' });
      expect(status).to.equal(400);
      expect(body.error).to.deep.include({ param: 'model', code: 'unsupported_feature' });
      expect(fieldsOf(body.error)['message']).to.include('has no embeddings').and.to.include('some-model');
      const asGoogle = await post({ content: { parts: [{ text: 'x' }] } }, `/v1beta/models/${vendor}:embedContent`);
      expect(asGoogle.status).to.equal(400);
      expect(asGoogle.body.error).to.include({ code: 400, status: 'INVALID_ARGUMENT' });
    });

  it('are found below the paths of other hosts, and by Azure’s client', async () => {
    for (const path of ['/openai/v1/embeddings', '/groq/openai/v1/embeddings'])
      expect((await post({ model: 'openai/text-embedding-3-small', input: 'x' }, path)).status, path).to.equal(200);
    const azure = new AzureOpenAI({
      endpoint: gateway.url,
      apiKey: TOKENS.ann,
      apiVersion: '2025-04-01-preview',
      deployment: 'google',
    });
    const { data, model } = await azure.embeddings.create({ model: 'google', input: 'x' });
    expect(data).to.have.length(1);
    expect(model).to.equal('gemini-embedding-001');
  });

  it('of a name alone come from the vendor that claims it, and of a provider alone from its model for them', async () => {
    expect((await post({ model: 'text-embedding-3-large', input: 'x' })).body.model).to.equal('text-embedding-3-large');
    expect((await post({ model: 'openai', input: 'x' })).body.model).to.equal('text-embedding-3-small');
    expect((await post({ model: 'gemini-embedding-001', input: 'x' })).body.model).to.equal('gemini-embedding-001');
  });

  it('of tokens are those of vendors that take tokens', async () => {
    for (const input of [
      [5, 6, 7],
      [[5, 6], [7]],
    ]) {
      const { status, body } = await post({ model: 'openai/text-embedding-3-small', input });
      expect(status).to.equal(200);
      expect(body.usage).to.deep.equal({ prompt_tokens: 3, total_tokens: 3 });
      const refused = await post({ model: 'google/gemini-embedding-001', input });
      expect(refused.status).to.equal(400);
      expect(fieldsOf(refused.body.error)['message']).to.include('not of tokens');
    }
  });

  it('of more inputs than Google takes at once are asked for in several requests', async () => {
    const before = gateway.simulator.requests.length;
    const input = Array.from({ length: 230 }, (_, index) => `text ${index}`);
    const many = await openai().embeddings.create({ model: 'google/gemini-embedding-001', input });
    const last = await openai().embeddings.create({ model: 'google/gemini-embedding-001', input: 'text 229' });
    expect(gateway.simulator.requests.length - before).to.equal(4);
    expect(many.data).to.have.length(230);
    expect(many.data[229]?.embedding).to.deep.equal(last.data[0]?.embedding);
  });

  it('of several texts in one of Google’s contents are one vector', async () => {
    const parts = [{ text: 'a' }, { text: 'b' }];
    for (const model of ['google', 'openai/text-embedding-3-small']) {
      const { status, body } = await post({ content: { parts } }, `/v1beta/models/${model}:embedContent`);
      expect(status).to.equal(200);
      expect(fieldsOf(body.embedding)['values']).to.have.length(8);
    }
    const image = [{ inlineData: { mimeType: 'image/png', data: 'AAAA' } }];
    const path = (model: string): string => `/v1beta/models/${model}:embedContent`;
    expect((await post({ content: { parts: image } }, path('google/gemini-embedding-2'))).status).to.equal(200);
    expect((await post({ content: { parts: image } }, path('openai/text-embedding-3-small'))).status).to.equal(400);
  });

  it('name what is wrong with a request, in the client’s form', async () => {
    const model = 'openai/text-embedding-3-small';
    for (const [given, param, status = 400] of [
      [{ input: 'x' }, 'model'],
      [{ model: 7, input: 'x' }, 'model'],
      [{ model: 'nothing', input: 'x' }, 'model', 404],
      [{ model: 'openai/no-such-model', input: 'x' }, null, 404],
      [{ model }, 'input'],
      [{ model, input: [] }, 'input'],
      [{ model, input: {} }, 'input'],
      [{ model, input: ['x', 7] }, 'input[1]'],
      [{ model, input: [[-1]] }, 'input[0]'],
      [{ model, input: 'x', dimensions: 0 }, 'dimensions'],
      [{ model, input: 'x', dimensions: '3' }, 'dimensions'],
      [{ model, input: 'x', encoding_format: 'hex' }, 'encoding_format'],
      [{ model, input: 'x', user: {} }, 'user'],
      [{ model: 'openai/text-embedding-ada-002', input: 'x', dimensions: 3 }, 'dimensions'],
      [[], null],
    ] as const) {
      const { status: answered, body } = await post(given);
      expect([answered, fieldsOf(body.error)['param']], JSON.stringify(given)).to.deep.equal([status, param]);
    }
    const parts = [{ text: 'x' }];
    for (const [verb, given] of [
      ['embedContent', {}],
      ['embedContent', { content: 'x' }],
      ['embedContent', { content: { parts: [] } }],
      ['embedContent', { content: { parts }, outputDimensionality: 'many' }],
      ['batchEmbedContents', {}],
      ['batchEmbedContents', { requests: [] }],
      ['batchEmbedContents', { requests: [{ content: { parts } }, { content: { parts }, taskType: 'CLUSTERING' }] }],
    ] as const) {
      const { status, body } = await post(given, `/v1beta/models/google:${verb}`);
      expect(status, JSON.stringify(given)).to.equal(400);
      expect(body.error).to.include({ code: 400, status: 'INVALID_ARGUMENT' });
    }
    const reader = { headers: { authorization: `Bearer ${TOKENS.reader}` } };
    expect((await gateway.request('/v1/embeddings', { model, input: 'x' }, reader)).status).to.equal(403);
  });

  it('report fields that the API does not have', async () => {
    const response = await gateway.request('/v1/embeddings', { model: 'openai', input: 'x', truncate: 'END' });
    expect(response.status).to.equal(200);
    expect(response.headers.get('x-bolide-warnings')).to.include('truncate');
  });

  it('pass on the vendor’s error, status and headers', async () => {
    gateway.simulator.enqueue({
      status: 429,
      body: { error: { message: 'Slow down.', type: 'tokens', param: null, code: 'rate_limit_exceeded' } },
      headers: { 'retry-after': '7', 'x-ratelimit-remaining-requests': '0' },
    });
    const response = await gateway.request('/v1/embeddings', { model: 'openai', input: 'x' });
    expect(response.status).to.equal(429);
    expect(response.headers.get('retry-after')).to.equal('7');
    expect(response.headers.get('x-ratelimit-remaining-requests')).to.equal('0');
    expect(await response.json()).to.deep.include({
      error: { message: 'Slow down.', type: 'tokens', param: null, code: 'rate_limit_exceeded' },
    });
    for (const body of [
      { object: 'list', data: [] },
      { data: [{ embedding: 'x' }] },
      { data: [{ embedding: [] }] },
      'no',
    ]) {
      gateway.simulator.enqueue({ status: 200, body });
      expect((await post({ model: 'openai', input: 'x' })).status).to.be.within(500, 502);
    }
  });

  it('are entries of the request log with their usage and cost, refused ones too', async () => {
    const start = gateway.requestLog.entries.length;
    await post({ model: 'openai/text-embedding-3-large', input: 'one two three' });
    await post({ model: 'openai/text-embedding-3-large', input: {} });
    const [made, refused] = gateway.requestLog.entries.slice(start);
    expect(made).to.deep.include({
      api: 'embeddings',
      source: 'gateway',
      state: 'completed',
      providerId: 'openai',
      model: 'text-embedding-3-large',
      requestedModel: 'openai/text-embedding-3-large',
      cost: (3 * 0.13) / 1e6,
    });
    expect(made?.usage.input_tokens).to.equal(3);
    expect(refused).to.deep.include({ api: 'embeddings', state: 'failed', status: 400 });
  });

  it('have models that can be read by every name that works', async () => {
    for (const id of ['openai/text-embedding-3-small', 'text-embedding-3-small', 'google/gemini-embedding-001']) {
      const response = await gateway.request(`/v1/models/${id}`);
      expect(await response.json(), id).to.deep.include({ id, supported_parameters: ['dimensions'] });
    }
    const listed = await gateway.request('/v1beta/models/google/gemini-embedding-001');
    expect(fieldsOf(await listed.json())['supportedGenerationMethods']).to.deep.equal([
      'embedContent',
      'batchEmbedContents',
    ]);
  });

  it('are retried at the same provider, and never made by another model', async () => {
    const own = await startGateway({ attempts: 2, time: { sleep: () => Promise.resolve() }, fallback: ['google'] });
    const failure = { status: 503, body: { error: { message: 'Away.' } } };
    try {
      own.simulator.enqueue(failure);
      const retried = await own.request('/v1/embeddings', { model: 'openai', input: 'x' });
      expect(retried.status).to.equal(200);
      expect(own.requestLog.entries.at(-1)?.attempts).to.have.length(1);
      own.simulator.enqueue(failure, failure);
      const failed = await own.request('/v1/embeddings', { model: 'openai', input: 'x' });
      expect(failed.status).to.equal(503);
      expect(own.simulator.requests.map(({ vendor }) => vendor)).to.deep.equal(Array<string>(4).fill('openai'));
    } finally {
      await own.close();
    }
  });

  it('end with their client', async () => {
    const controller = new AbortController();
    gateway.simulator.enqueue({ status: 200, body: {}, fault: { kind: 'stall', after: { bytes: 0 } } });
    const request = gateway
      .request('/v1/embeddings', { model: 'openai', input: 'leave' }, { signal: controller.signal })
      .catch((error: unknown) => error);
    const aborted = gateway.simulator.nextAbort();
    for (;;) if (JSON.stringify((await gateway.simulator.nextRequest()).body).includes('leave')) break;
    controller.abort();
    await request;
    expect((await aborted).body).to.deep.include({ input: 'leave' });
  });
});

describe('LLMManager.embed', () => {
  let simulator: Simulator;
  before(async () => {
    simulator = await startSimulator();
  });
  after(() => simulator.close());

  const provider = (vendor: VendorName): ReturnType<typeof createProvider> =>
    createProvider({
      vendor,
      apiKey: `test-${CANARY}`,
      baseURL: simulator.baseURL(vendor),
      allowPrivateHosts: true,
    });

  it('returns vectors, usage and cost', async () => {
    const manager = new LLMManager({ providers: [provider('openai'), provider('google')] });
    const { model, embeddings, usage, vendor } = await manager.embed('ann', { model: 'openai', input: ['a b', 'c'] });
    expect(model).to.equal('text-embedding-3-small');
    expect(embeddings.map((vector) => vector.length)).to.deep.equal([8, 8]);
    expect(usage).to.deep.include({ input_tokens: 3, output_tokens: 0, total_tokens: 3 });
    expect(vendor).to.deep.include({ name: 'openai', providerId: 'openai', cost: (3 * 0.02) / 1e6 });
    const estimated = await manager.embed('ann', { model: 'google', input: 'Some words', taskType: 'CLUSTERING' });
    expect(estimated.usage).to.deep.include({ input_tokens: 3, estimated: true });
    expect(manager.usage().map(({ providerId, calls }) => [providerId, calls])).to.deep.equal([
      ['openai', 1],
      ['google', 1],
    ]);
  });

  it('splits what is more than one request may have, in order, and adds up what it used', async () => {
    const manager = new LLMManager({ providers: [provider('openai'), provider('google')] });
    const sizes = async (options: EmbedOptions): Promise<readonly number[]> => {
      const before = simulator.requests.length;
      const { embeddings, usage, vendor } = await manager.embed('ann', options);
      const requests = simulator.requests.slice(before);
      const { model } = options;
      const inputs = options.input as readonly (string | readonly number[])[];
      expect(requests.map(({ status }) => status)).to.deep.equal(requests.map(() => 200));
      for (const at of [0, inputs.length - 1]) {
        const alone = await manager.embed('ann', { ...options, input: [inputs[at] as string] });
        expect(embeddings[at], `${model ?? ''} ${at}`).to.deep.equal(alone.embeddings[0]);
      }
      expect(embeddings).to.have.length(inputs.length);
      expect(vendor.cost).to.be.closeTo((usage.input_tokens * (model === 'openai' ? 0.02 : 0.15)) / 1e6, 1e-12);
      return requests.map(({ body }) => {
        const { input, requests: parts } = fieldsOf(body);
        return ((input ?? parts) as readonly unknown[]).length;
      });
    };
    const texts = Array.from({ length: 2_100 }, (_, index) => `text ${index}`);
    expect(await sizes({ model: 'openai', input: texts })).to.deep.equal([2_048, 52]);
    expect(await sizes({ model: 'google', input: texts.slice(0, 230) })).to.deep.equal([100, 100, 30]);
    const tokens = Array.from({ length: 50 }, (_, index) => Array<number>(8_000).fill(index));
    expect(await sizes({ model: 'openai', input: tokens })).to.deep.equal([37, 13]);
  });

  it('sends, and pays for, no request again when a later one fails', async () => {
    const input = Array.from({ length: 150 }, (_, index) => `text ${index}`);
    const first = { status: 200, body: { embeddings: input.slice(0, 100).map(() => ({ values: [1] })) } };
    const away = { status: 503, body: { error: { message: 'Away.' } } };
    const retrying = new LLMManager({ provider: provider('google'), sleep: () => Promise.resolve() });
    const before = simulator.requests.length;
    simulator.enqueue(first, away);
    const { embeddings, vendor } = await retrying.embed('ann', { model: 'google', input });
    expect(embeddings).to.have.length(150);
    expect(vendor.attempts).to.have.length(1);
    expect(simulator.requests.slice(before).map(({ status }) => status)).to.deep.equal([200, 503, 200]);

    const row = { ...simulatedRow(simulator, 'google'), defaultModel: 'gemini-embedding-001' };
    const requestLog = new RecordingRequestLog();
    const { manager } = createAIModule({ providers: [row], budgets: { day: { calls: 2 } } }, { requestLog });
    simulator.enqueue(first, {
      status: 400,
      body: { error: { code: 400, message: 'No.', status: 'INVALID_ARGUMENT' } },
    });
    const failure: unknown = await manager.embed('ann', { model: 'google', input }).catch((error: unknown) => error);
    expect(failure).to.include({ code: 'invalid-request' });
    expect(requestLog.entries.map(({ api, state }) => [api, state])).to.deep.equal([
      [undefined, 'completed'],
      [undefined, 'failed'],
    ]);
    // One of two calls was made, and counts.
    await manager.embed('ann', { model: 'google', input: 'x' });
    expect(await manager.embed('ann', { model: 'google', input: 'x' }).catch((error: unknown) => error)).to.include({
      code: 'budget-exceeded',
    });
  });

  it('is a function of the library, and an operation for those who may use the provider', async () => {
    const made = await embed(['a', 'b'], { provider: provider('openai'), model: 'openai', dimensions: 3 });
    expect(made.embeddings.map((vector) => vector.length)).to.deep.equal([3, 3]);
    const row = { ...simulatedRow(simulator, 'openai'), defaultModel: 'gpt-4.1-mini' };
    const module = createAIModule({ providers: [row, { ...row, id: 'other' }] }, { access: ONLY_OPENAI });
    const { 'ai.llm.embed': run } = bindOperations(RUN_OPERATIONS, {
      runCommands: new RunCommands({
        useCases: module.useCases,
        control: module.loop,
        ownerOf: () => Promise.resolve(undefined),
      }),
    });
    const ann = { userId: 'ann', source: 'method' } as const;
    expect((await run(ann, { providerId: 'openai', input: 'a', dimensions: 3 })).embeddings).to.have.length(1);
    for (const [argument, expected] of [
      [{ providerId: 'other', input: 'a' }, { code: 'permission-denied' }],
      [
        { providerId: 'openai', input: [] },
        { code: 'invalid-request', path: 'input' },
      ],
      [
        { providerId: 'openai', input: ['a', 7] },
        { code: 'invalid-request', path: 'input[1]' },
      ],
      [
        { providerId: 'openai', input: 'a', baseURL: 'x' },
        { code: 'invalid-request', path: 'baseURL' },
      ],
    ] as const)
      expect(await run(ann, argument).catch((error: unknown) => error)).to.include(expected);
  });

  it('reserves and charges the user’s budget', async () => {
    const row = { ...simulatedRow(simulator, 'openai'), defaultModel: 'gpt-4.1-mini' };
    const module = createAIModule({ providers: [row], budgets: { day: { calls: 2 } } });
    const embed = (): Promise<unknown> =>
      module.manager.embed('ann', { model: 'openai/text-embedding-3-small', input: 'a' });
    await embed();
    await embed();
    const failure: unknown = await embed().catch((error: unknown) => error);
    expect(failure).to.include({ code: 'budget-exceeded' });
  });

  it('refuses input that is neither text nor tokens, and vendors without embeddings', async () => {
    const manager = new LLMManager({ providers: [provider('openai'), provider('anthropic')] });
    for (const [options, expected] of [
      [
        { model: 'openai', input: [] },
        { code: 'invalid-request', path: 'input' },
      ],
      [
        { model: 'openai', input: [true] as never },
        { code: 'invalid-request', path: 'input[0]' },
      ],
      [
        { model: 'anthropic', input: 'x' },
        { code: 'unsupported-feature', path: 'model' },
      ],
    ] as const) {
      const failure: unknown = await manager.embed('ann', options).catch((error: unknown) => error);
      expect(failure).to.include(expected);
    }
  });
});
