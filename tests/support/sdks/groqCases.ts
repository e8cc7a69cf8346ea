/** Groq's SDK. */
import { expect } from 'chai';
import Groq from 'groq-sdk';
import { TOKENS } from '../gateway';
import { PNG, WEATHER_CALLS, WEATHER_RESULTS, WEATHER_SCHEMA } from './SdkCase';
import type { SdkCases, SdkContext } from './SdkCase';

export const groqOf = ({ gateway }: Pick<SdkContext, 'gateway'>): Groq =>
  new Groq({ apiKey: TOKENS.ann, baseURL: `${gateway.url}/groq`, maxRetries: 0 });

type Messages = Groq.Chat.ChatCompletionMessageParam[];

const ASK: Messages = [{ role: 'user', content: 'Hello?' }];
const TOOLS: Groq.Chat.ChatCompletionTool[] = [
  { type: 'function', function: { name: 'get_weather', description: 'The weather.', parameters: WEATHER_SCHEMA } },
];

export const GROQ_CASES: SdkCases = {
  'chat.completions.create': {
    'reads text and usage': async (context) => {
      context.gateway.simulator.enqueue({ text: 'Grüezi 🌞', usage: { input: 30, output: 7 } });
      const completion = await groqOf(context).chat.completions.create({ model: context.model, messages: ASK });
      expect(completion.choices[0]).to.include({ finish_reason: 'stop' });
      expect(completion.choices[0]?.message.content).to.equal('Grüezi 🌞');
      expect(completion.usage).to.include({ prompt_tokens: 30, completion_tokens: 7 });
    },
    'streams chunks': async (context) => {
      context.gateway.simulator.enqueue({ text: 'one two three four' });
      const stream = await groqOf(context).chat.completions.create({
        model: context.model,
        messages: ASK,
        stream: true,
      });
      let text = '';
      for await (const chunk of stream) text += chunk.choices[0]?.delta.content ?? '';
      expect(text).to.equal('one two three four');
    },
    'sends results of parallel calls': async (context) => {
      context.gateway.simulator.enqueue({ calls: WEATHER_CALLS }, { text: 'Sunny in both.' });
      const { completions } = groqOf(context).chat;
      const body = { model: context.model, tools: TOOLS };
      const { message } = (await completions.create({ ...body, messages: ASK })).choices[0]!;
      expect(message.tool_calls?.map((call): unknown => JSON.parse(call.function.arguments))).to.deep.equal(
        WEATHER_CALLS.map((call) => call.arguments),
      );
      const results: Messages = (message.tool_calls ?? []).map(({ id }, index) => ({
        role: 'tool',
        tool_call_id: id,
        content: WEATHER_RESULTS[index]!,
      }));
      const second = await completions.create({ ...body, messages: [...ASK, message, ...results] });
      expect(second.choices[0]?.message.content).to.equal('Sunny in both.');
      for (const result of WEATHER_RESULTS) expect(context.lastBody()).to.include(result);
    },
    'sends images': async (context) => {
      context.gateway.simulator.enqueue({ text: 'A pixel.' });
      const content: Groq.Chat.ChatCompletionContentPart[] = [
        { type: 'text', text: 'What is this?' },
        { type: 'image_url', image_url: { url: `data:image/png;base64,${PNG}` } },
      ];
      await groqOf(context).chat.completions.create({ model: context.model, messages: [{ role: 'user', content }] });
      expect(context.lastBody()).to.include(PNG);
    },
    'returns JSON of a schema': async (context) => {
      context.gateway.simulator.enqueue({ text: '{"city":"Lima"}' });
      const completion = await groqOf(context).chat.completions.create({
        model: context.model,
        messages: ASK,
        response_format: { type: 'json_schema', json_schema: { name: 'city', schema: WEATHER_SCHEMA, strict: true } },
      });
      expect(JSON.parse(completion.choices[0]?.message.content ?? '')).to.deep.equal({ city: 'Lima' });
    },
  },
  'models.list': {
    'lists the vendor’s models': async (context) => {
      const { data } = await groqOf(context).models.list();
      expect(data.some(({ id }) => id.startsWith(`${context.vendor}/`))).to.equal(true);
    },
  },
  'models.retrieve': {
    'finds every name that works in a request': async (context) => {
      for (const name of [context.model, context.vendor])
        expect(await groqOf(context).models.retrieve(name)).to.include({ object: 'model', id: name });
    },
  },
};
