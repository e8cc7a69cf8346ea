import { Anthropic } from '@anthropic-ai/sdk';
import { GoogleGenAI } from '@google/genai';
import { GoogleGenerativeAI } from '@google/generative-ai';
import { expect } from 'chai';
import { OpenAI } from 'openai';
import { ToolExecutionLoop } from '../../imports/business/ai/application/services/ToolExecutionLoop';
import type { ToolCall } from '../../imports/business/ai/domain/entities/Tool';
import { LLMError } from '../../imports/business/ai/domain/errors/LLMErrors';
import { AnthropicAdapter } from '../../imports/business/ai/infrastructure/tools/adapters/AnthropicAdapter';
import { GeminiAdapter } from '../../imports/business/ai/infrastructure/tools/adapters/GeminiAdapter';
import { OpenAIChatAdapter } from '../../imports/business/ai/infrastructure/tools/adapters/OpenAIChatAdapter';
import { OpenAIResponsesAdapter } from '../../imports/business/ai/infrastructure/tools/adapters/OpenAIResponsesAdapter';
import { ToolRegistry } from '../../imports/business/ai/infrastructure/tools/ToolRegistry';
import type { Simulator } from '../../imports/simulator/Simulator';
import { startSimulator } from '../../imports/simulator/startSimulator';

const parameters = { type: 'object' as const, properties: { city: { type: 'string' as const } }, required: ['city'] };
const description = 'The weather in a city';
const question = 'How is it in Rome and Oslo?';
const names = ['weather', 'broken'];

const registry = (): ToolRegistry =>
  new ToolRegistry()
    .register({
      name: 'weather',
      description,
      parameters,
      execute: ({ city }: { city: string }) => ({ sky: `clear over ${city}` }),
    })
    .register({
      name: 'broken',
      execute: () => {
        throw new Error('the sensor is off');
      },
    });

interface Outcome {
  readonly text: string;
  readonly iterations: number;
  readonly toolCalls: readonly ToolCall[];
}
type RunOptions = { readonly maxIterations?: number; readonly signal?: AbortSignal };

/** A session of each vendor's own SDK, run to completion. */
const SESSIONS: Readonly<Record<string, (simulator: Simulator, options?: RunOptions) => Promise<Outcome>>> = {
  async 'OpenAI chat'(simulator, { signal, ...options } = {}) {
    const client = new OpenAI({ apiKey: 'k', baseURL: simulator.baseURL('openai'), maxRetries: 0 });
    const request = {
      model: 'gpt-4.1-mini',
      messages: [{ role: 'user' as const, content: question }],
      tools: names.map((name) => ({
        type: 'function' as const,
        function: { name, description, ...(name === 'weather' ? { parameters } : {}) },
      })),
    };
    const run = new ToolExecutionLoop({ toolExecutor: registry(), ...options }).run({
      initialResponse: await client.chat.completions.create(request),
      adapter: new OpenAIChatAdapter(client, request),
      tools: names,
      userId: 'ann',
      ...(signal === undefined ? {} : { signal }),
    });
    const result = await run;
    return { ...result, text: result.response.choices[0]?.message.content ?? '' };
  },
  async 'OpenAI Responses'(simulator, { signal, ...options } = {}) {
    const client = new OpenAI({ apiKey: 'k', baseURL: simulator.baseURL('openai'), maxRetries: 0 });
    const request = {
      model: 'gpt-5-mini',
      store: false,
      include: ['reasoning.encrypted_content' as const],
      input: [{ role: 'user' as const, content: question }] as OpenAI.Responses.ResponseInputItem[],
      tools: names.map((name) => ({
        type: 'function' as const,
        name,
        description,
        parameters: name === 'weather' ? parameters : null,
        strict: null,
      })),
    };
    const result = await new ToolExecutionLoop({ toolExecutor: registry(), ...options }).run({
      initialResponse: await client.responses.create(request as OpenAI.Responses.ResponseCreateParamsNonStreaming),
      adapter: new OpenAIResponsesAdapter(client, request as never),
      tools: names,
      userId: 'ann',
      ...(signal === undefined ? {} : { signal }),
    });
    return { ...result, text: result.response.output_text };
  },
  async Anthropic(simulator, { signal, ...options } = {}) {
    const client = new Anthropic({ apiKey: 'k', baseURL: simulator.baseURL('anthropic'), maxRetries: 0 });
    const request = {
      model: 'claude-sonnet-5-5',
      max_tokens: 500,
      messages: [{ role: 'user' as const, content: question }] as Anthropic.MessageParam[],
      tools: names.map((name) => ({
        name,
        description,
        input_schema: name === 'weather' ? parameters : { type: 'object' as const },
      })),
    };
    const result = await new ToolExecutionLoop({ toolExecutor: registry(), ...options }).run({
      initialResponse: await client.messages.create(request),
      adapter: new AnthropicAdapter(client, request),
      tools: names,
      userId: 'ann',
      ...(signal === undefined ? {} : { signal }),
    });
    return {
      ...result,
      text: result.response.content.map((block) => (block.type === 'text' ? block.text : '')).join(''),
    };
  },
  async Gemini(simulator, { signal, ...options } = {}) {
    const functionDeclarations = names.map((name) => ({
      name,
      description,
      ...(name === 'weather' ? { parameters } : {}),
    }));
    const session = new GoogleGenerativeAI('k')
      .getGenerativeModel(
        { model: 'gemini-2.5-flash', tools: [{ functionDeclarations: functionDeclarations as never }] },
        { baseUrl: simulator.baseURL('google') },
      )
      .startChat();
    const result = await new ToolExecutionLoop({ toolExecutor: registry(), ...options }).run({
      initialResponse: await session.sendMessage(question),
      adapter: new GeminiAdapter(session),
      tools: names,
      userId: 'ann',
      ...(signal === undefined ? {} : { signal }),
    });
    return { ...result, text: result.response.response.text() };
  },
  async 'the Gen AI SDK'(simulator, { signal, ...options } = {}) {
    const functionDeclarations = names.map((name) => ({
      name,
      description,
      ...(name === 'weather' ? { parametersJsonSchema: parameters } : {}),
    }));
    const chat = new GoogleGenAI({ apiKey: 'k', httpOptions: { baseUrl: simulator.baseURL('google') } }).chats.create({
      model: 'gemini-2.5-flash',
      config: { tools: [{ functionDeclarations }] },
    });
    const result = await new ToolExecutionLoop({ toolExecutor: registry(), ...options }).run({
      initialResponse: await chat.sendMessage({ message: question }),
      adapter: new GeminiAdapter(chat),
      tools: names,
      userId: 'ann',
      ...(signal === undefined ? {} : { signal }),
    });
    return { ...result, text: result.response.text ?? '' };
  },
};

for (const [name, converse] of Object.entries(SESSIONS)) {
  describe(`a native session of ${name}`, () => {
    let simulator: Simulator;
    beforeEach(async () => {
      simulator = await startSimulator();
    });
    afterEach(() => simulator.close());

    it('runs its calls in parallel and returns their results in order, until the model answers', async () => {
      simulator.enqueue(
        {
          calls: [
            { name: 'weather', arguments: { city: 'Rome' } },
            { name: 'weather', arguments: { city: 'Oslo' } },
          ],
        },
        { calls: [{ name: 'broken' }] },
        { text: 'Clear in both.' },
      );
      const { text, iterations, toolCalls } = await converse(simulator);
      expect(text).to.equal('Clear in both.');
      expect(iterations).to.equal(3);
      expect(toolCalls.map((call) => [call.name, call.state])).to.deep.equal([
        ['weather', 'completed'],
        ['weather', 'completed'],
        ['broken', 'failed'],
      ]);
      const sent = JSON.stringify(simulator.requests.at(-1)?.body);
      expect(sent.indexOf('clear over Rome')).to.be.greaterThan(0).and.to.be.below(sent.indexOf('clear over Oslo'));
      expect(sent).to.contain('the sensor is off');
      simulator.assertDone();
    });

    it('reports invalid arguments and unknown tools to the model', async () => {
      simulator.enqueue(
        { calls: [{ name: 'weather', arguments: { town: 'Rome' } }, { name: 'nothing' }] },
        { text: 'Sorry.' },
      );
      const { toolCalls } = await converse(simulator);
      expect(toolCalls.map(({ state }) => state)).to.deep.equal(['failed', 'failed']);
      expect(JSON.stringify(simulator.requests.at(-1)?.body))
        .to.match(/\$\.?city|city/)
        .and.to.contain('Unknown tool \\"nothing');
    });

    it('ends at its limit of turns', async () => {
      simulator.enqueue({ calls: [{ name: 'broken' }] }, { calls: [{ name: 'broken' }] });
      const error = await converse(simulator, { maxIterations: 2 }).catch((thrown: unknown) => thrown);
      expect(error).to.be.instanceOf(LLMError).and.to.have.property('code', 'max-iterations');
    });

    it('ends when it is aborted', async () => {
      simulator.enqueue({ calls: [{ name: 'broken' }] });
      const error = await converse(simulator, { signal: AbortSignal.abort() }).catch((thrown: unknown) => thrown);
      expect(error).to.be.instanceOf(LLMError).and.to.have.property('code', 'aborted');
    });
  });
}
