import { GoogleGenerativeAI } from '@google/generative-ai';
import { expect } from 'chai';
import { ToolExecutionLoop } from '../../../imports/business/ai/application/services/ToolExecutionLoop';
import { GeminiAdapter } from '../../../imports/business/ai/infrastructure/tools/adapters/GeminiAdapter';
import { ToolRegistry } from '../../../imports/business/ai/infrastructure/tools/ToolRegistry';
import type { Simulator } from '../../../imports/simulator/Simulator';
import { startSimulator } from '../../../imports/simulator/startSimulator';

interface FunctionResponse {
  readonly id?: string;
  readonly name: string;
  readonly response: unknown;
}

describe('native Gemini sessions', () => {
  let simulator: Simulator;
  beforeEach(async () => {
    simulator = await startSimulator();
  });
  afterEach(() => simulator.close());

  const converse = async (model: string): Promise<readonly (readonly FunctionResponse[])[]> => {
    const weather = {
      name: 'weather',
      description: 'The weather in a city',
      parameters: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
    };
    const toolExecutor = new ToolRegistry().register({
      ...weather,
      execute: ({ city }: { city: string }) => ({ sky: `clear over ${city}` }),
    });
    const session = new GoogleGenerativeAI('k')
      .getGenerativeModel(
        { model, tools: [{ functionDeclarations: [weather as never] }] },
        { baseUrl: simulator.baseURL('google') },
      )
      .startChat();
    const result = await new ToolExecutionLoop({ toolExecutor }).run({
      initialResponse: await session.sendMessage('How is it in Rome and Oslo?'),
      adapter: new GeminiAdapter(session),
      tools: ['weather'],
      userId: 'ann',
    });
    expect(result.response.response.text()).to.equal('Clear in both.');
    simulator.assertDone();
    return simulator.requests.map(({ body }) => functionResponsesIn(body)).filter(({ length }) => length > 0);
  };

  it('send each result with the id of its call', async () => {
    simulator.enqueue(
      {
        calls: [
          { name: 'weather', arguments: { city: 'Rome' }, id: 'call-rome' },
          { name: 'weather', arguments: { city: 'Oslo' }, id: 'call-oslo' },
        ],
      },
      { calls: [{ name: 'weather', arguments: { city: 'Bari' }, id: 'call-bari' }] },
      { text: 'Clear in both.' },
    );
    const sent = await converse('gemini-3.1-pro-preview');
    const [rome, oslo, bari] = [
      { id: 'call-rome', name: 'weather', response: { sky: 'clear over Rome' } },
      { id: 'call-oslo', name: 'weather', response: { sky: 'clear over Oslo' } },
      { id: 'call-bari', name: 'weather', response: { sky: 'clear over Bari' } },
    ];
    expect(sent).to.deep.equal([
      [rome, oslo],
      [rome, oslo, bari],
    ]);
  });

  it('send no id where the call has none', async () => {
    simulator.enqueue({ calls: [{ name: 'weather', arguments: { city: 'Rome' } }] }, { text: 'Clear in both.' });
    const sent = await converse('gemini-2.5-flash');
    expect(sent).to.deep.equal([[{ name: 'weather', response: { sky: 'clear over Rome' } }]]);
  });
});

function functionResponsesIn(body: unknown): readonly FunctionResponse[] {
  const { contents } = body as {
    readonly contents: readonly { readonly parts: readonly { readonly functionResponse?: FunctionResponse }[] }[];
  };
  return contents.flatMap(({ parts }) => parts.flatMap(({ functionResponse }) => functionResponse ?? []));
}
