import { expect } from 'chai';
import { LLMInvalidRequestError } from '../../../imports/business/ai/domain/errors/LLMErrors';
import type {
  ConversationStore,
  MemoryMessage,
  PastMessage,
} from '../../../imports/business/ai/domain/interfaces/ConversationStore';
import { createAIModule } from '../../../imports/business/ai/infrastructure/factories/createAIModule';
import { createProvider } from '../../../imports/business/ai/infrastructure/factories/createProvider';
import { AgenticLoop } from '../../../imports/business/ai/application/services/AgenticLoop';
import { ToolRegistry } from '../../../imports/business/ai/infrastructure/tools/ToolRegistry';
import type { Simulator } from '../../../imports/simulator/Simulator';
import { startSimulator } from '../../../imports/simulator/startSimulator';
import { settingsFromEnvironment } from '../../../imports/host/settings/vendors';
import { RecordingLogger } from '../../support/RecordingLogger';

/** A store that identifies messages in its own way. */
function storeThat(remembers: (message: MemoryMessage, index: number) => PastMessage): ConversationStore {
  const messages: PastMessage[] = [];
  return {
    storeInput: async (_userId, _conversationId, message) => void messages.push(remembers(message, messages.length)),
    getHistory: async () => [...messages],
  };
}

const STORES: Readonly<Record<string, () => ConversationStore>> = {
  'keeps the ids': () => storeThat((message) => message),
  'assigns ids of its own': () => storeThat(({ role, text, at }, index) => ({ id: `row-${index}`, role, text, at })),
  'returns no ids and no times': () => storeThat(({ role, text }) => ({ role, text })),
  'trims texts': () => storeThat(({ role, text }) => ({ role, text: text.trim() })),
};

describe('the response handler', () => {
  let simulator: Simulator;
  beforeEach(async () => {
    simulator = await startSimulator();
  });
  afterEach(() => simulator.close());

  const environment = () => ({ OPENAI_API_KEY: 'k', OPENAI_API_BASE: simulator.baseURL('openai') });

  for (const [title, createStore] of Object.entries(STORES)) {
    it(`sends each message to the model once with a store that ${title}`, async () => {
      const module = createAIModule(settingsFromEnvironment(environment()), {
        memory: createStore(),
      });
      simulator.enqueue({ text: 'Hello.' }, { text: 'Again?' }, { text: 'Fine.' });
      for (const message of ['Hi', 'Hi', 'How are you?\n'])
        await module.conversations.handler.handleMessage('ann', 'c', message);
      expect(simulator.requests.map(({ body }) => linesIn(body))).to.deep.equal([
        ['user: Hi'],
        ['user: Hi', 'assistant: Hello.', 'user: Hi'],
        ['user: Hi', 'assistant: Hello.', 'user: Hi', 'assistant: Again?', 'user: How are you?'],
      ]);
      await module.close();
    });
  }

  it('sends a message that was repeated after a failure as often as it was stored', async () => {
    const memory = STORES['assigns ids of its own']!();
    const module = createAIModule(settingsFromEnvironment(environment()), {
      memory,
      logger: new RecordingLogger(),
    });
    simulator.enqueue({ refusal: 'No.' }, { text: 'Hello.' });
    await module.conversations.handler.handleMessage('ann', 'c', 'Hi');
    await module.conversations.handler.handleMessage('ann', 'c', 'Hi');
    expect((await memory.getHistory('ann', 'c')).length).to.equal(3);
    expect(linesIn(simulator.requests.at(-1)?.body)).to.deep.equal(['user: Hi', 'user: Hi']);
    await module.close();
  });

  const weather = () =>
    new ToolRegistry().register({
      name: 'weather',
      description: 'The weather in a city',
      parameters: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
      execute: ({ city }: { city: string }) => `clear over ${city}`,
    });

  const script = (): void => {
    simulator.enqueue({ text: '{ "tool": "weather", "input": { "city": "Rome" } }' }, { text: 'It is clear.' });
  };

  const assertToolsWereText = (): void => {
    const bodies = simulator.requests.map(({ body }) => body as Readonly<Record<string, unknown>>);
    expect(bodies.map(({ tools }) => tools)).to.deep.equal([undefined, undefined]);
    expect(JSON.stringify(bodies[0])).to.contain('{ \\"tool\\": \\"<name>\\", \\"input\\": { … } }');
    expect(JSON.stringify(bodies[1])).to.contain('clear over Rome');
    simulator.assertDone();
  };

  it('offers tools as text with LLM_TOOLS_IN_TEXT', async () => {
    const settings = settingsFromEnvironment({ ...environment(), LLM_TOOLS_IN_TEXT: 'true' });
    const module = createAIModule(settings, { tools: weather() });
    script();
    await module.conversations.handler.handleMessage('ann', 'c', 'How is Rome?');
    assertToolsWereText();
    await module.close();
  });

  it('offers tools as text to the vendors that LLM_TOOLS_IN_TEXT lists', () => {
    const { providers } = settingsFromEnvironment({
      ...environment(),
      LLAMA_BASE_URL: simulator.baseURL('llama'),
      GROQ_API_KEY: 'k',
      LLM_TOOLS_IN_TEXT: 'llama, Groq',
    });
    expect(providers.map(({ id, toolsInText }) => [id, toolsInText])).to.deep.equal([
      ['openai', undefined],
      ['groq', true],
      ['llama', true],
    ]);
  });

  it('refuses another value of LLM_TOOLS_IN_TEXT', () => {
    expect(() => settingsFromEnvironment({ ...environment(), LLM_TOOLS_IN_TEXT: 'maybe' })).to.throw(
      LLMInvalidRequestError,
      'LLM_TOOLS_IN_TEXT has "maybe". Expected true, false, or vendors of: openai',
    );
  });

  it('offers tools as text with the option toolsInText of a provider', async () => {
    const loop = new AgenticLoop({
      provider: createProvider({
        vendor: 'openai',
        apiKey: 'k',
        baseURL: simulator.baseURL('openai'),
        allowPrivateHosts: true,
        toolsInText: true,
      }),
      toolExecutor: weather(),
    });
    script();
    const { response } = await loop.execute('ann', { model: 'gpt-5-mini', input: 'Rome?', tools: ['weather'] });
    expect(response.output_text).to.equal('It is clear.');
    assertToolsWereText();
  });
});

function linesIn(body: unknown): readonly string[] {
  const { input } = body as {
    readonly input: readonly {
      readonly role: string;
      readonly content: string | readonly { readonly text: string }[];
    }[];
  };
  return input.map(({ role, content }) => {
    const text = typeof content === 'string' ? content : content.map((part) => part.text).join('');
    return `${role}: ${text.trim()}`;
  });
}
