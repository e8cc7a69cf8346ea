/** Google's SDK `@google/genai`, with its default version of the API and with others. */
import { ApiError, FunctionCallingConfigMode, GoogleGenAI } from '@google/genai';
import type { CallableTool, Content, FunctionDeclaration, GenerateContentResponse } from '@google/genai';
import { expect } from 'chai';
import { failure } from '../failure';
import { TOKENS } from '../gateway';
import type { Gateway } from '../gateway';
import { PNG, WEATHER_CALLS, WEATHER_RESULTS, WEATHER_SCHEMA, weatherIn } from './SdkCase';
import type { SdkCase, SdkCases, SdkContext } from './SdkCase';

export const genAIOf = (
  { gateway }: { readonly gateway: Pick<Gateway, 'url'> },
  apiVersion?: string,
  apiKey: string = TOKENS.ann,
): GoogleGenAI =>
  new GoogleGenAI({
    apiKey,
    ...(apiVersion === undefined ? {} : { apiVersion }),
    httpOptions: { baseUrl: gateway.url, retryOptions: { attempts: 1 } },
  });

const WEATHER: FunctionDeclaration = {
  name: 'get_weather',
  description: 'The weather.',
  parametersJsonSchema: WEATHER_SCHEMA,
};
const CONFIG = { tools: [{ functionDeclarations: [WEATHER] }], automaticFunctionCalling: { disable: true } };
const ASK = 'How is the weather?';

const argumentsOf = (response: GenerateContentResponse): unknown => response.functionCalls?.map(({ args }) => args);

async function collect(stream: AsyncIterable<GenerateContentResponse>) {
  const chunks: GenerateContentResponse[] = [];
  for await (const chunk of stream) chunks.push(chunk);
  return { text: chunks.map((chunk) => chunk.text ?? '').join(''), last: chunks.at(-1)! };
}

/** The same case with each version in the path. */
function withVersions(title: string, run: (context: SdkContext, client: GoogleGenAI) => Promise<void>) {
  return Object.fromEntries(
    [undefined, 'v1', 'v1beta', 'v1alpha'].map((version): [string, SdkCase] => [
      `${title}${version === undefined ? '' : ` below /${version}`}`,
      (context) => run(context, genAIOf(context, version)),
    ]),
  );
}

const resultContent = (response: GenerateContentResponse): Content => ({
  role: 'user',
  parts: (response.functionCalls ?? []).map(({ id, name }, index) => ({
    functionResponse: {
      ...(id === undefined ? {} : { id }),
      name: name ?? '',
      response: { output: WEATHER_RESULTS[index] },
    },
  })),
});

export const GOOGLE_GENAI_CASES: SdkCases = {
  'models.generateContent': {
    ...withVersions('reads text and usage', async ({ gateway, model, lastBody }, { models }) => {
      gateway.simulator.enqueue({ text: 'Grüezi 🌞', usage: { input: 30, output: 7 } });
      const response = await models.generateContent({
        model,
        contents: 'Hello?',
        config: { systemInstruction: 'Be brief.' },
      });
      expect(response.text).to.equal('Grüezi 🌞');
      expect(response.candidates?.[0]?.finishReason).to.equal('STOP');
      expect(response.usageMetadata).to.include({ promptTokenCount: 30, candidatesTokenCount: 7 });
      expect(lastBody()).to.include('Be brief.');
    }),
    'returns parallel results and signed thoughts': async (context) => {
      context.gateway.simulator.enqueue(
        { reasoning: 'I need the weather of both.', calls: WEATHER_CALLS },
        { text: 'Sunny in both.' },
      );
      const { models } = genAIOf(context);
      const config = { ...CONFIG, thinkingConfig: { includeThoughts: true, thinkingBudget: 1_024 } };
      const question: Content = { role: 'user', parts: [{ text: ASK }] };
      const first = await models.generateContent({ model: context.model, contents: [question], config });
      expect(argumentsOf(first)).to.deep.equal(WEATHER_CALLS.map((call) => call.arguments));
      const second = await models.generateContent({
        model: context.model,
        contents: [question, first.candidates![0]!.content!, resultContent(first)],
        config,
      });
      expect(second.text).to.equal('Sunny in both.');
      for (const result of WEATHER_RESULTS) expect(context.lastBody()).to.include(result);
    },
    'calls functions by itself': async (context) => {
      context.gateway.simulator.enqueue({ calls: WEATHER_CALLS }, { text: 'Sunny in both.' });
      const cities: unknown[] = [];
      const tool: CallableTool = {
        tool: () => Promise.resolve({ functionDeclarations: [WEATHER] }),
        callTool: (calls) =>
          Promise.resolve(
            calls.map(({ id, name, args }) => {
              const city = String(args?.['city']);
              cities.push(city);
              return {
                functionResponse: {
                  ...(id === undefined ? {} : { id }),
                  name: name ?? '',
                  response: { output: weatherIn(city) },
                },
              };
            }),
          ),
      };
      const response = await genAIOf(context).models.generateContent({
        model: context.model,
        contents: ASK,
        config: { tools: [tool] },
      });
      expect(response.text).to.equal('Sunny in both.');
      expect(cities).to.deep.equal(['Zürich', 'Lima']);
      for (const result of WEATHER_RESULTS) expect(context.lastBody()).to.include(result);
    },
    'sends images': async (context) => {
      context.gateway.simulator.enqueue({ text: 'A pixel.' });
      const response = await genAIOf(context).models.generateContent({
        model: context.model,
        contents: [{ inlineData: { mimeType: 'image/png', data: PNG } }, { text: 'What is this?' }],
      });
      expect(response.text).to.equal('A pixel.');
      expect(context.lastBody()).to.include(PNG);
    },
    'returns JSON of a schema': async (context) => {
      context.gateway.simulator.enqueue({ text: '{"city":"Lima"}' });
      const response = await genAIOf(context).models.generateContent({
        model: context.model,
        contents: 'A city.',
        config: { responseMimeType: 'application/json', responseJsonSchema: WEATHER_SCHEMA },
      });
      expect(JSON.parse(response.text ?? '')).to.deep.equal({ city: 'Lima' });
    },
    'demands a call': async (context) => {
      context.gateway.simulator.enqueue({ calls: WEATHER_CALLS.slice(0, 1) });
      const functionCallingConfig = { mode: FunctionCallingConfigMode.ANY, allowedFunctionNames: ['get_weather'] };
      const response = await genAIOf(context).models.generateContent({
        model: context.model,
        contents: ASK,
        config: { ...CONFIG, toolConfig: { functionCallingConfig } },
      });
      expect(argumentsOf(response)).to.deep.equal([{ city: 'Zürich' }]);
    },
    'reports text that was cut off': async (context) => {
      context.gateway.simulator.enqueue({ text: 'Once upon', incomplete: 'max_output_tokens' });
      const response = await genAIOf(context).models.generateContent({
        model: context.model,
        contents: 'A tale.',
        config: { maxOutputTokens: 16 },
      });
      expect(response.candidates?.[0]?.finishReason).to.equal('MAX_TOKENS');
      expect(response.text).to.equal('Once upon');
    },
    'sends stop sequences, or says that the vendor has none': async (context) => {
      context.gateway.simulator.enqueue({ text: 'one' });
      // OpenAI's reasoning models accept none.
      const model = /openai$/.test(context.vendor) ? `${context.vendor}/gpt-4.1-mini` : context.model;
      const response = await genAIOf(context).models.generateContent({
        model,
        contents: 'Count.',
        config: { stopSequences: ['END', 'FIN'] },
      });
      const warnings = response.sdkHttpResponse?.headers?.['x-bolide-warnings'] ?? '';
      expect(context.lastBody().includes('"END","FIN"') !== warnings.includes('stop'), warnings).to.equal(true);
    },
  },
  'models.generateContentStream': {
    ...withVersions('streams text', async ({ gateway, model }, { models }) => {
      gateway.simulator.enqueue({ text: 'one two three four', usage: { input: 30, output: 7 } });
      const { text, last } = await collect(await models.generateContentStream({ model, contents: 'Count.' }));
      expect(text).to.equal('one two three four');
      expect(last.candidates?.[0]?.finishReason).to.equal('STOP');
      expect(last.usageMetadata).to.include({ promptTokenCount: 30, candidatesTokenCount: 7 });
    }),
    'streams parallel calls': async (context) => {
      context.gateway.simulator.enqueue({ text: 'Let me look.', calls: WEATHER_CALLS });
      const stream = await genAIOf(context).models.generateContentStream({
        model: context.model,
        contents: ASK,
        config: CONFIG,
      });
      const calls: unknown[] = [];
      for await (const { functionCalls = [] } of stream) calls.push(...functionCalls.map(({ args }) => args));
      expect(calls).to.deep.equal(WEATHER_CALLS.map((call) => call.arguments));
    },
  },
  'models.countTokens': withVersions('counts a request', async ({ model }, { models }) => {
    const { totalTokens } = await models.countTokens({ model, contents: 'How many tokens are these, more or less?' });
    expect(totalTokens).to.be.within(5, 40);
  }),
  'models.list': withVersions('lists the vendor’s models', async ({ vendor }, { models }) => {
    const names: string[] = [];
    for await (const { name } of await models.list()) names.push(name ?? '');
    expect(names.some((name) => name.startsWith(`models/${vendor}/`))).to.equal(true);
  }),
  'models.get': withVersions('finds every name that works in a request', async ({ vendor, model }, { models }) => {
    for (const name of [model, vendor])
      expect(await models.get({ model: name })).to.have.property('name', `models/${name}`);
    expect(await failure(models.get({ model: 'nothing' })))
      .to.be.instanceOf(ApiError)
      .and.have.property('status', 404);
  }),
  'chats.create': {
    'holds a conversation': async (context) => {
      context.gateway.simulator.enqueue(
        { reasoning: 'A name.', text: 'Hello, Ada.' },
        { reasoning: 'They said it.', text: 'Your name is Ada.' },
        { text: 'Four letters short of Adalind.' },
      );
      const chat = genAIOf(context).chats.create({
        model: context.model,
        config: { thinkingConfig: { includeThoughts: true, thinkingBudget: 1_024 } },
      });
      expect((await chat.sendMessage({ message: 'My name is Ada.' })).text).to.equal('Hello, Ada.');
      const { text } = await collect(await chat.sendMessageStream({ message: 'What is my name?' }));
      expect(text).to.equal('Your name is Ada.');
      expect((await chat.sendMessage({ message: 'How long is it?' })).text).to.equal('Four letters short of Adalind.');
      for (const earlier of ['My name is Ada.', 'Hello, Ada.', 'What is my name?'])
        expect(context.lastBody()).to.include(earlier);
      expect(chat.getHistory(true)).to.deep.equal(chat.getHistory());
    },
  },
};
