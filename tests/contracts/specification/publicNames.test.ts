/** The names and call forms that the specification promises to callers. */
import { createServer } from 'node:http';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { expect } from 'chai';
import express from 'express';
import { createHttpApi } from '../../../imports/api/createHttpApi';
import { AgenticLoop } from '../../../imports/business/ai/application/services/AgenticLoop';
import { LLMClient } from '../../../imports/business/ai/application/services/LLMClient';
import { LLMManager } from '../../../imports/business/ai/application/services/LLMManager';
import { LLMError } from '../../../imports/business/ai/domain/errors/LLMErrors';
import type { ILLMProvider } from '../../../imports/business/ai/domain/interfaces/ILLMProvider';
import type { VendorName } from '../../../imports/business/ai/domain/types/VendorTypes';
import { createAIModule } from '../../../imports/business/ai/infrastructure/factories/createAIModule';
import { createProvider } from '../../../imports/business/ai/infrastructure/factories/createProvider';
import { UnifiedStreamAdapter } from '../../../imports/business/ai/infrastructure/streaming/UnifiedStreamAdapter';
import { ToolRegistry } from '../../../imports/business/ai/infrastructure/tools/ToolRegistry';
import type { Simulator } from '../../../imports/simulator/Simulator';
import { startSimulator } from '../../../imports/simulator/startSimulator';
import { eventFields } from '../../support/docs/eventFields';
import { failure } from '../../support/failure';
import { codeIn, readPage, ROOT, tableRowsOf } from '../../support/docs/markdown';

const SERVICES = 'business/ai/application/services';
const INFRASTRUCTURE = 'business/ai/infrastructure';

interface PublicName {
  readonly file: string;
  /** For classes. */
  readonly methods?: readonly string[];
}

const ADAPTER_METHODS = [
  'getToolCalls',
  'recordAssistantMessage',
  'buildToolResponseMessage',
  'sendToolResponses',
] as const;

const NAMES: Readonly<Record<string, PublicName>> = {
  createProvider: { file: `${INFRASTRUCTURE}/factories/createProvider` },
  LLMManager: {
    file: `${SERVICES}/LLMManager`,
    methods: ['generateText', 'generateJSON', 'generateWithTools', 'generate', 'stream'],
  },
  AgenticLoop: {
    file: `${SERVICES}/AgenticLoop`,
    methods: [
      'execute',
      'resume',
      'on',
      'cancel',
      'approve',
      'reject',
      'submitToolResult',
      'getExecutionContext',
      'getToolStatistics',
    ],
  },
  ToolRegistry: {
    file: `${INFRASTRUCTURE}/tools/ToolRegistry`,
    methods: ['register', 'execute', 'hasToolFunction', 'getToolDefinition'],
  },
  UnifiedStreamAdapter: {
    file: `${INFRASTRUCTURE}/streaming/UnifiedStreamAdapter`,
    methods: ['processStream', 'collect'],
  },
  streamWithBufferedFunctions: { file: `${INFRASTRUCTURE}/streaming/streamWithBufferedFunctions` },
  LLMClient: { file: `${SERVICES}/LLMClient`, methods: ['createResponse', 'createBatch'] },
  ResponseChainManager: { file: `${SERVICES}/ResponseChainManager`, methods: ['getPrevious', 'confirm'] },
  ResponseHandler: { file: `${SERVICES}/ResponseHandler`, methods: ['handleMessage'] },
  ToolExecutionLoop: { file: `${SERVICES}/ToolExecutionLoop`, methods: ['run'] },
  ToolProcessor: { file: `${SERVICES}/ToolProcessor` },
  AnthropicAdapter: { file: `${INFRASTRUCTURE}/tools/adapters/AnthropicAdapter`, methods: ADAPTER_METHODS },
  OpenAIChatAdapter: { file: `${INFRASTRUCTURE}/tools/adapters/OpenAIChatAdapter`, methods: ADAPTER_METHODS },
  OpenAIResponsesAdapter: { file: `${INFRASTRUCTURE}/tools/adapters/OpenAIResponsesAdapter`, methods: ADAPTER_METHODS },
  GeminiAdapter: { file: `${INFRASTRUCTURE}/tools/adapters/GeminiAdapter`, methods: ADAPTER_METHODS },
  MethodTools: { file: `${INFRASTRUCTURE}/tools/MethodTools`, methods: ['expose'] },
  createAIModule: { file: `${INFRASTRUCTURE}/factories/createAIModule` },
  LLMProviderFactory: { file: `${INFRASTRUCTURE}/factories/LLMProviderFactory` },
  createHttpApi: { file: 'api/createHttpApi' },
};

const VENDORS_SPECIFIED: readonly VendorName[] = [
  'openai',
  'azure_openai',
  'anthropic',
  'google',
  'grok',
  'groq',
  'llama',
  'openai_compatible',
];

const EVENTS = [
  'run:started',
  'iteration:start',
  'llm:delta',
  'llm:response',
  'tool:pending',
  'tool:executing',
  'tool:progress',
  'tool:completed',
  'tool:failed',
  'tool:timeout',
  'tool:cancelled',
  'tool:late',
  'tool:approval_required',
  'result:arrived',
  'nonblocking:result',
  'nonblocking:llm_response',
  'nonblocking:error',
  'run:completed',
  'run:failed',
  'run:cancelled',
] as const;

const requireFromImports = createRequire(join(ROOT, 'imports/names.ts'));

describe('the public names of the specification', () => {
  for (const [name, { file, methods = [] }] of Object.entries(NAMES))
    it(`include ${name}, imported from ${file}`, () => {
      const value = (requireFromImports(`./${file}`) as Readonly<Record<string, unknown>>)[name];
      expect(value).to.be.a('function');
      const { prototype } = value as { readonly prototype: Readonly<Record<string, unknown>> };
      for (const method of methods) expect(prototype[method], method).to.be.a('function');
    });

  it('are listed in the reference, with the files that they are imported from', () => {
    const listed = tableRowsOf(readPage('docs/reference/specification-forms.md')).flatMap(([name = '', file = '']) => {
      const path = codeIn(file)[0] ?? '';
      return /^(?:business|api)\//.test(path) ? [[codeIn(name)[0], path]] : [];
    });
    expect(Object.fromEntries(listed)).to.deep.equal(
      Object.fromEntries(Object.entries(NAMES).map(([name, { file }]) => [name, file])),
    );
  });

  it('include every event of a run', () => {
    expect([...eventFields().keys()]).to.include.members([...EVENTS]);
  });
});

describe('the call forms of the specification', () => {
  let simulator: Simulator;
  let provider: ILLMProvider;
  beforeEach(async () => {
    simulator = await startSimulator();
    provider = createProvider(rowOf('anthropic'));
  });
  afterEach(() => simulator.close());

  const rowOf = (vendor: VendorName) =>
    ({
      vendor,
      apiKey: 'k',
      baseURL: simulator.baseURL(vendor === 'openai_compatible' ? 'groq' : vendor),
      allowPrivateHosts: true,
      ...(vendor === 'azure_openai' ? { deployment: 'gpt-5.4-mini', apiVersion: '2024-10-21' } : {}),
      ...(vendor === 'openai_compatible' ? { defaultModel: 'llama-3.3-70b-versatile' } : {}),
    }) as const;

  const weather = () =>
    new ToolRegistry().register({
      name: 'get_weather',
      description: 'Returns the weather in a city.',
      parameters: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
      execute: ({ city }: { city: string }) => `clear over ${city}`,
      blocking: true,
      timeout: 5_000,
    });

  for (const vendor of VENDORS_SPECIFIED)
    it(`create a provider of ${vendor} that answers`, async () => {
      simulator.enqueue({ text: 'Hello.' });
      const manager = new LLMManager({ provider: createProvider(rowOf(vendor)) });
      expect(await manager.generateText('ann', 'Hi')).to.equal('Hello.');
      simulator.assertDone();
    });

  it('ask a manager for text, JSON, an answer with tools, a response and a stream', async () => {
    const manager = new LLMManager({ provider, toolExecutor: weather(), retry: { maxAttempts: 2 }, limits: {} });
    const model = 'claude-sonnet-5-5';
    simulator.enqueue(
      { text: 'Hello.' },
      { text: '{"name":"Ada"}' },
      { calls: [{ name: 'get_weather', arguments: { city: 'Rome' } }] },
      { text: 'Clear.' },
      { text: 'One.' },
      { text: 'Two.' },
    );
    expect(await manager.generateText('ann', 'Hi', { model })).to.equal('Hello.');
    const schema = { type: 'object', properties: { name: { type: 'string' } }, required: ['name'] } as const;
    expect(await manager.generateJSON('ann', 'Who?', schema, { model })).to.deep.equal({ name: 'Ada' });
    expect((await manager.generateWithTools('ann', 'Rome?', ['get_weather'], { model })).output_text).to.equal(
      'Clear.',
    );
    expect((await manager.generate('ann', { model, input: 'Hi' })).output_text).to.equal('One.');
    const types: string[] = [];
    for await (const event of manager.stream('ann', { model, input: 'Hi' })) types.push(event.type);
    expect(types.at(0)).to.equal('response.created');
    expect(types.at(-1)).to.equal('response.completed');
    simulator.assertDone();
  });

  it('execute a run whose result, and whose error, report all of it', async () => {
    const loop = new AgenticLoop({ provider, toolExecutor: weather(), maxIterations: 3, defaultToolTimeout: 60_000 });
    const request = { input: 'Rome?', tools: ['get_weather'], instructions: 'Be brief.', model: 'claude-sonnet-5-5' };
    simulator.enqueue({ calls: [{ name: 'get_weather', arguments: { city: 'Rome' } }] }, { text: 'Clear.' });
    const result = await loop.execute('ann', { ...request, onPending: 'wait', stream: true });
    expect(result).to.have.all.keys(
      'executionId',
      'response',
      'usage',
      'cost',
      'models',
      'iterations',
      'transcript',
      'toolCalls',
      'pending',
      'undelivered',
      'followUps',
    );
    expect(loop.getToolStatistics(result.executionId)).to.include({ total: 1, completed: 1, blocking: 1 });
    simulator.enqueue({ incomplete: 'max_output_tokens' });
    const error = await failure(loop.execute('ann', request));
    expect(error).to.be.instanceOf(LLMError);
    const { response: _, ...reported } = result;
    expect((error as LLMError).run).to.have.all.keys(Object.keys(reported));
    simulator.assertDone();
  });

  it('adapt a raw response line by line, and collect it', async () => {
    simulator.enqueue({ text: 'Hello.' }, { text: 'Hello.' });
    const ask = () =>
      fetch(`${simulator.baseURL('anthropic')}/v1/messages`, {
        method: 'POST',
        headers: { 'x-api-key': 'k', 'anthropic-version': '2023-06-01', 'content-type': 'application/json' },
        body: JSON.stringify({
          model: 'claude-sonnet-5-5',
          max_tokens: 100,
          stream: true,
          messages: [{ role: 'user', content: 'Hi' }],
        }),
      });
    const adapter = new UnifiedStreamAdapter('anthropic', 'openai');
    let text = '';
    let last = '';
    for await (const [line, chunk] of adapter.processStream(await ask(), { relayUsageEvents: true })) {
      text += chunk.choices[0]?.delta.content ?? '';
      last = line;
    }
    expect(text).to.equal('Hello.');
    expect(last).to.equal('data: [DONE]\n\n');
    const collected = await adapter.collect(await ask(), {});
    expect(collected).to.have.nested.property('choices[0].message.content', 'Hello.');
  });

  it('ask a client one by one and in a batch', async () => {
    simulator.enqueue({ text: 'One.' }, { text: 'Two.' });
    const entities = [{ identity: { id: 'bob' } }];
    const client = new LLMClient({
      provider,
      userId: 'ann',
      entities,
      defaultDepth: 1,
      model: 'claude-sonnet-5-5',
      namespace: '_memory',
    });
    expect(await client.createResponse({ input: 'Hi', entityKey: 'intention:bob' })).to.equal('One.');
    const [result] = await client.createBatch([{ input: 'Hi', entityKey: 'intention:bob' }], { concurrency: 1 });
    expect(result).to.include({ ok: true, value: 'Two.' });
    expect(entities[0]).to.have.nested.property('_memory.intention_chain').with.length(1);
  });

  it('wire a module and its HTTP API', async () => {
    const module = createAIModule({ providers: [rowOf('anthropic')] }, {});
    const api = createHttpApi(module, { express, authenticate: () => ({ userId: 'ann' }) });
    const server = createServer(express().use(api.router));
    expect(api).to.respondTo('handleUpgrade');
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    try {
      const { port } = server.address() as { readonly port: number };
      expect((await fetch(`http://127.0.0.1:${port}/health`)).status).to.equal(200);
    } finally {
      await api.close();
      server.close();
      await module.close();
    }
  });
});
