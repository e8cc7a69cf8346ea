import { GoogleGenAI } from '@google/genai';
import { GoogleGenerativeAI } from '@google/generative-ai';
import { expect } from 'chai';
import { ToolExecutionLoop } from '../../../imports/business/ai/application/services/ToolExecutionLoop';
import { GeminiAdapter } from '../../../imports/business/ai/infrastructure/tools/adapters/GeminiAdapter';
import { ToolRegistry } from '../../../imports/business/ai/infrastructure/tools/ToolRegistry';
import type { Simulator } from '../../../imports/simulator/Simulator';
import { startSimulator } from '../../../imports/simulator/startSimulator';
import { deferred } from '../../support/deferred';
import { failure } from '../../support/failure';
import { until } from '../../support/until';

interface FunctionResponse {
  readonly id?: string;
  readonly name: string;
  readonly response: unknown;
}

const weather = {
  name: 'weather',
  description: 'The weather in a city',
  parameters: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
};
const question = 'How is it in Rome and Oslo?';

/** The text of the last response of a session of each of the vendor's SDKs. */
const SESSIONS: Readonly<
  Record<string, (simulator: Simulator, model: string, signal?: AbortSignal) => Promise<string>>
> = {
  async '@google/generative-ai'(simulator, model, signal) {
    const session = new GoogleGenerativeAI('k')
      .getGenerativeModel(
        { model, tools: [{ functionDeclarations: [weather as never] }] },
        { baseUrl: simulator.baseURL('google') },
      )
      .startChat();
    const { response } = await loop().run({
      initialResponse: await session.sendMessage(question),
      adapter: new GeminiAdapter(session),
      tools: ['weather'],
      userId: 'ann',
      ...(signal === undefined ? {} : { signal }),
    });
    return response.response.text();
  },
  async '@google/genai'(simulator, model, signal) {
    const { parameters, ...declaration } = weather;
    const functionDeclarations = [{ ...declaration, parametersJsonSchema: parameters }];
    const httpOptions = { baseUrl: simulator.baseURL('google'), retryOptions: { attempts: 1 } };
    const chat = new GoogleGenAI({ apiKey: 'k', httpOptions }).chats.create({
      model,
      config: { tools: [{ functionDeclarations }], systemInstruction: 'Be brief.' },
    });
    const { response } = await loop().run({
      initialResponse: await chat.sendMessage({ message: question }),
      adapter: new GeminiAdapter(chat),
      tools: ['weather'],
      userId: 'ann',
      ...(signal === undefined ? {} : { signal }),
    });
    return response.text ?? '';
  },
};

function loop(): ToolExecutionLoop {
  const toolExecutor = new ToolRegistry().register({
    ...weather,
    execute: ({ city }: { city: string }) => ({ sky: `clear over ${city}` }),
  });
  return new ToolExecutionLoop({ toolExecutor });
}

for (const [sdk, talk] of Object.entries(SESSIONS)) {
  describe(`native Gemini sessions of ${sdk}`, () => {
    let simulator: Simulator;
    beforeEach(async () => {
      simulator = await startSimulator();
    });
    afterEach(() => simulator.close());

    const converse = async (model: string): Promise<readonly (readonly FunctionResponse[])[]> => {
      expect(await talk(simulator, model)).to.equal('Clear in both.');
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

    it('send every request as the first one, and end the one in progress when they are aborted', async () => {
      const mayAnswer = deferred();
      simulator.enqueue(
        { calls: [{ name: 'weather', arguments: { city: 'Rome' } }] },
        { text: 'Late.', fault: { kind: 'stall', until: mayAnswer.promise } },
      );
      const aborting = new AbortController();
      const ended = failure(talk(simulator, 'gemini-2.5-flash', aborting.signal));
      await until(() => simulator.requests.length === 2);
      aborting.abort();
      expect(String(await ended)).to.match(/abort/i);
      mayAnswer.resolve();
      const [first, second] = simulator.requests.map(({ body }) => ({ ...(body as object), contents: [] }));
      expect(second).to.deep.equal(first);
      expect(first).to.have.property('tools');
    });
  });
}

function functionResponsesIn(body: unknown): readonly FunctionResponse[] {
  const { contents } = body as {
    readonly contents: readonly { readonly parts: readonly { readonly functionResponse?: FunctionResponse }[] }[];
  };
  return contents.flatMap(({ parts }) => parts.flatMap(({ functionResponse }) => functionResponse ?? []));
}
