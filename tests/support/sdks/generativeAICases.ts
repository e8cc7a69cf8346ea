/** Google's first SDK, `@google/generative-ai`. */
import { GoogleGenerativeAI, SchemaType } from '@google/generative-ai';
import type { GenerativeModel, ModelParams } from '@google/generative-ai';
import { expect } from 'chai';
import { TOKENS } from '../gateway';
import type { Gateway } from '../gateway';
import { PNG, WEATHER_CALLS, WEATHER_RESULTS } from './SdkCase';
import type { SdkCases } from './SdkCase';

const CITY = { type: SchemaType.OBJECT as const, properties: { city: { type: SchemaType.STRING as const } } };
const TOOLS = [{ functionDeclarations: [{ name: 'get_weather', description: 'The weather.', parameters: CITY }] }];

/** @param apiVersion the SDK's default is v1beta */
export function generativeModelOf(
  { gateway, model }: { readonly gateway: Pick<Gateway, 'url'>; readonly model: string },
  params: Partial<ModelParams> = {},
  apiVersion?: string,
  apiKey: string = TOKENS.ann,
): GenerativeModel {
  return new GoogleGenerativeAI(apiKey).getGenerativeModel(
    { ...params, model: `models/${model}` },
    { baseUrl: gateway.url, ...(apiVersion === undefined ? {} : { apiVersion }) },
  );
}

export const GENERATIVE_AI_CASES: SdkCases = {
  generateContent: {
    'reads text and usage': async (context) => {
      for (const version of [undefined, 'v1', 'v1alpha']) {
        context.gateway.simulator.enqueue({ text: 'Grüezi 🌞', usage: { input: 30, output: 7 } });
        const { response } = await generativeModelOf(
          context,
          { systemInstruction: 'Be brief.' },
          version,
        ).generateContent('Hello?');
        expect(response.text()).to.equal('Grüezi 🌞');
        expect(response.usageMetadata).to.include({ promptTokenCount: 30, candidatesTokenCount: 7 });
        expect(context.lastBody()).to.include('Be brief.');
      }
    },
    'sends images': async (context) => {
      context.gateway.simulator.enqueue({ text: 'A pixel.' });
      const { response } = await generativeModelOf(context).generateContent([
        { inlineData: { mimeType: 'image/png', data: PNG } },
        'What is this?',
      ]);
      expect(response.text()).to.equal('A pixel.');
      expect(context.lastBody()).to.include(PNG);
    },
    'returns JSON of a schema': async (context) => {
      context.gateway.simulator.enqueue({ text: '{"city":"Lima"}' });
      const generationConfig = { responseMimeType: 'application/json', responseSchema: CITY };
      const { response } = await generativeModelOf(context, { generationConfig }).generateContent('A city.');
      expect(JSON.parse(response.text())).to.deep.equal({ city: 'Lima' });
    },
  },
  generateContentStream: {
    'streams text and parallel calls': async (context) => {
      context.gateway.simulator.enqueue({ text: 'one two three four', calls: WEATHER_CALLS });
      const { stream, response } = await generativeModelOf(context, { tools: TOOLS }).generateContentStream('Count.');
      let text = '';
      const calls: unknown[] = [];
      // `text()` of a chunk and the SDK's aggregated response repeat a chunk's last part.
      for await (const chunk of stream)
        for (const part of chunk.candidates?.[0]?.content.parts ?? []) {
          text += part.text ?? '';
          if (part.functionCall !== undefined) calls.push(part.functionCall.args);
        }
      expect(text).to.equal('one two three four');
      expect(calls).to.deep.equal(WEATHER_CALLS.map((call) => call.arguments));
      expect((await response).candidates?.[0]?.finishReason).to.equal('STOP');
    },
  },
  startChat: {
    'sends results of parallel calls': async (context) => {
      context.gateway.simulator.enqueue({ calls: WEATHER_CALLS }, { text: 'Sunny in both.' });
      const chat = generativeModelOf(context, { tools: TOOLS }).startChat();
      const first = await chat.sendMessage('How is the weather?');
      const results = (first.response.functionCalls() ?? []).map(({ name }, index) => ({
        functionResponse: { name, response: { output: WEATHER_RESULTS[index] } },
      }));
      expect((await chat.sendMessage(results)).response.text()).to.equal('Sunny in both.');
      expect((await chat.getHistory()).map(({ role }) => role)).to.deep.equal(['user', 'model', 'function', 'model']);
      for (const result of WEATHER_RESULTS) expect(context.lastBody()).to.include(result);
    },
    'streams an answer': async (context) => {
      context.gateway.simulator.enqueue({ text: 'one two three four' });
      const { stream } = await generativeModelOf(context).startChat().sendMessageStream('Count.');
      let text = '';
      for await (const chunk of stream) text += chunk.text();
      expect(text).to.equal('one two three four');
    },
  },
  countTokens: {
    'counts a request': async (context) => {
      const { totalTokens } = await generativeModelOf(context).countTokens('How many tokens are these, more or less?');
      expect(totalTokens).to.be.within(5, 40);
    },
  },
};
