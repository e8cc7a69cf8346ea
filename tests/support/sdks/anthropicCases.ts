/** Anthropic's SDK: `messages`, `beta.messages` and the models. */
import Anthropic from '@anthropic-ai/sdk';
import { betaZodTool } from '@anthropic-ai/sdk/helpers/beta/zod';
import { zodOutputFormat } from '@anthropic-ai/sdk/helpers/zod';
import { expect } from 'chai';
import { z } from 'zod';
import { failure } from '../failure';
import { TOKENS } from '../gateway';
import { PNG, WEATHER_CALLS, WEATHER_RESULTS, WEATHER_SCHEMA, weatherIn } from './SdkCase';
import type { SdkCases, SdkContext } from './SdkCase';

export const anthropicOf = ({ gateway }: Pick<SdkContext, 'gateway'>): Anthropic =>
  new Anthropic({ apiKey: TOKENS.ann, authToken: null, baseURL: gateway.url, maxRetries: 0 });

const ASK: Anthropic.MessageParam[] = [{ role: 'user', content: 'Hello?' }];
const TOOLS: Anthropic.Tool[] = [{ name: 'get_weather', description: 'The weather.', input_schema: WEATHER_SCHEMA }];
const City = z.object({ city: z.string() });

const bodyOf = ({ model }: SdkContext) => ({ model, max_tokens: 2_000, messages: ASK });

const textOf = ({ content }: { readonly content: readonly { readonly type: string }[] }): string =>
  content.map((block) => (block.type === 'text' ? (block as Anthropic.TextBlock).text : '')).join('');

const callsOf = ({ content }: Anthropic.Message): Anthropic.ToolUseBlock[] =>
  content.filter((block) => block.type === 'tool_use');

const resultsOf = (message: Anthropic.Message): Anthropic.MessageParam => ({
  role: 'user',
  content: callsOf(message).map(({ id }, index) => ({
    type: 'tool_result',
    tool_use_id: id,
    content: WEATHER_RESULTS[index]!,
  })),
});

const weatherTool = (cities: string[]) =>
  betaZodTool({
    name: 'get_weather',
    description: 'The weather.',
    inputSchema: City,
    run: ({ city }) => {
      cities.push(city);
      return weatherIn(city);
    },
  });

/** The cases of `messages` and `beta.messages`, whose common methods take the same bodies. */
function messagesCases(
  name: string,
  messagesOf: (context: SdkContext) => Pick<Anthropic.Messages, 'create' | 'stream' | 'parse' | 'countTokens'>,
): SdkCases {
  return {
    [`${name}.create`]: {
      'reads text and usage': async (context) => {
        context.gateway.simulator.enqueue({ text: 'Grüezi 🌞', usage: { input: 30, output: 7 } });
        const message = await messagesOf(context).create({ ...bodyOf(context), system: 'Be brief.' });
        expect(textOf(message)).to.equal('Grüezi 🌞');
        expect(message).to.include({ type: 'message', role: 'assistant', stop_reason: 'end_turn' });
        expect(message.usage).to.include({ input_tokens: 30, output_tokens: 7 });
        expect(context.lastBody()).to.include('Be brief.');
      },
      'streams events': async (context) => {
        context.gateway.simulator.enqueue({ text: 'one two three four', usage: { input: 30, output: 7 } });
        const stream = await messagesOf(context).create({ ...bodyOf(context), stream: true });
        const types: string[] = [];
        let text = '';
        for await (const event of stream) {
          types.push(event.type);
          if (event.type === 'content_block_delta' && event.delta.type === 'text_delta') text += event.delta.text;
          if (event.type === 'message_delta') expect(event.usage.output_tokens).to.equal(7);
        }
        expect(text).to.equal('one two three four');
        expect(types[0]).to.equal('message_start');
        expect(types.at(-1)).to.equal('message_stop');
      },
      'returns parallel results and sealed thinking': async (context) => {
        context.gateway.simulator.enqueue(
          { reasoning: 'I need the weather of both.', calls: WEATHER_CALLS },
          { text: 'Sunny in both.' },
        );
        const messages = messagesOf(context);
        const body = {
          ...bodyOf(context),
          tools: TOOLS,
          thinking: { type: 'enabled' as const, budget_tokens: 1_024 },
        };
        const first = await messages.create(body);
        expect(first.stop_reason).to.equal('tool_use');
        expect(callsOf(first).map(({ input }) => input)).to.deep.equal(WEATHER_CALLS.map((call) => call.arguments));
        expect(new Set(callsOf(first).map(({ id }) => id)).size).to.equal(2);
        const second = await messages.create({
          ...body,
          messages: [...ASK, { role: 'assistant', content: first.content }, resultsOf(first)],
        });
        expect(textOf(second)).to.equal('Sunny in both.');
        for (const result of WEATHER_RESULTS) expect(context.lastBody()).to.include(result);
      },
      'sends images': async (context) => {
        context.gateway.simulator.enqueue({ text: 'A pixel.' });
        const content: Anthropic.ContentBlockParam[] = [
          { type: 'image', source: { type: 'base64', media_type: 'image/png', data: PNG } },
          { type: 'text', text: 'What is this?' },
        ];
        const message = await messagesOf(context).create({ ...bodyOf(context), messages: [{ role: 'user', content }] });
        expect(textOf(message)).to.equal('A pixel.');
        expect(context.lastBody()).to.include(PNG);
      },
      'reports text that was cut off': async (context) => {
        context.gateway.simulator.enqueue({ text: 'Once upon', incomplete: 'max_output_tokens' });
        const message = await messagesOf(context).create({ ...bodyOf(context), max_tokens: 16 });
        expect(message.stop_reason).to.equal('max_tokens');
        expect(textOf(message)).to.equal('Once upon');
      },
      'sends stop sequences, or says that the vendor has none': async (context) => {
        context.gateway.simulator.enqueue({ text: 'one' });
        // OpenAI's reasoning models accept none.
        const model = /openai$/.test(context.vendor) ? `${context.vendor}/gpt-4.1-mini` : context.model;
        const { data, response } = await messagesOf(context)
          .create({ ...bodyOf(context), model, stop_sequences: ['END', 'FIN'] })
          .withResponse();
        expect(textOf(data)).to.equal('one');
        const warnings = response.headers.get('x-bolide-warnings') ?? '';
        expect(context.lastBody().includes('"END","FIN"') !== warnings.includes('stop'), warnings).to.equal(true);
      },
    },
    [`${name}.stream`]: {
      'accumulates thinking, text and parallel calls': async (context) => {
        context.gateway.simulator.enqueue({
          reasoning: 'I need the weather of both.',
          text: 'Let me look.',
          calls: WEATHER_CALLS,
          usage: { input: 30, output: 7, reasoning: 5 },
        });
        const stream = messagesOf(context).stream({
          ...bodyOf(context),
          tools: TOOLS,
          thinking: { type: 'enabled', budget_tokens: 1_024 },
        });
        let text = '';
        stream.on('text', (delta) => (text += delta));
        const message = await stream.finalMessage();
        expect(text).to.equal('Let me look.');
        expect(callsOf(message).map(({ input }) => input)).to.deep.equal(WEATHER_CALLS.map((call) => call.arguments));
        expect(message.usage).to.include({ output_tokens: 12 });
      },
    },
    [`${name}.parse`]: {
      'returns typed values': async (context) => {
        context.gateway.simulator.enqueue({ text: '{"city":"Lima"}' });
        const message = await messagesOf(context).parse({
          ...bodyOf(context),
          output_config: { format: zodOutputFormat(City) },
        });
        expect(message.parsed_output).to.deep.equal({ city: 'Lima' });
      },
    },
    [`${name}.countTokens`]: {
      'counts a request': async (context) => {
        const { input_tokens } = await messagesOf(context).countTokens({
          model: context.model,
          messages: [{ role: 'user', content: 'How many tokens are these, more or less?' }],
          tools: TOOLS,
        });
        expect(input_tokens).to.be.within(5, 400);
      },
    },
  };
}

export const ANTHROPIC_MESSAGES_CASES = messagesCases('messages', (context) => anthropicOf(context).messages);

export const ANTHROPIC_BETA_CASES: SdkCases = {
  // The methods of the beta take a superset of the bodies and return a superset of the messages.
  ...messagesCases('beta.messages', (context) => anthropicOf(context).beta.messages as unknown as Anthropic.Messages),
  'beta.messages.toolRunner': Object.fromEntries(
    [
      { title: 'runs tools until the answer', settings: { stream: false } },
      { title: 'runs tools until the answer, streaming', settings: { stream: true } },
      { title: 'runs tools until the answer with the whole conversation', settings: { thread: false as const } },
      { title: 'runs tools while it streams', settings: { stream: true, runToolsEagerly: true } },
    ].map(({ title, settings }) => [
      title,
      async (context: SdkContext) => {
        context.gateway.simulator.enqueue({ text: 'Let me look.', calls: WEATHER_CALLS }, { text: 'Sunny in both.' });
        const cities: string[] = [];
        const runner = anthropicOf(context).beta.messages.toolRunner({
          ...bodyOf(context),
          ...settings,
          tools: [weatherTool(cities)],
        });
        expect(textOf(await runner.runUntilDone())).to.equal('Sunny in both.');
        expect(cities.toSorted()).to.deep.equal(['Lima', 'Zürich']);
        for (const result of WEATHER_RESULTS) expect(context.lastBody()).to.include(result);
      },
    ]),
  ),
  'beta.messages.thread': {
    'goes on with the whole conversation where the vendor has no threads': async (context) => {
      context.gateway.simulator.enqueue({ text: 'Hello, Ada.' }, { text: 'Ada.' });
      const thread = anthropicOf(context).beta.messages.thread({
        model: context.model,
        max_tokens: 2_000,
        unsupportedRequestBehavior: 'continue_unthreaded',
      });
      await thread.send({ role: 'user', content: 'My name is Ada.' });
      expect(textOf(await thread.send({ role: 'user', content: 'What is my name?' }))).to.equal('Ada.');
      expect(context.lastBody()).to.include('What is my name?');
      if (context.vendor !== 'anthropic') expect(context.lastBody()).to.include('My name is Ada.');
    },
  },
};

export const ANTHROPIC_MODELS_CASES: SdkCases = Object.fromEntries(
  (['models', 'beta.models'] as const).flatMap((name): [string, SdkCases[string]][] => {
    const modelsOf = (context: SdkContext) =>
      name === 'models' ? anthropicOf(context).models : anthropicOf(context).beta.models;
    return [
      [
        `${name}.list`,
        {
          'lists the vendor’s models, page by page': async (context: SdkContext) => {
            const ids: string[] = [];
            for await (const { id } of modelsOf(context).list({ limit: 3 })) ids.push(id);
            expect(ids.some((id) => id.startsWith(`${context.vendor}/`))).to.equal(true);
            expect(new Set(ids).size).to.equal(ids.length);
          },
        },
      ],
      [
        `${name}.retrieve`,
        {
          'finds every name that works in a request': async (context: SdkContext) => {
            for (const id of [context.model, context.vendor])
              expect(await modelsOf(context).retrieve(id)).to.include({ type: 'model', id });
            expect(await failure(modelsOf(context).retrieve('nothing'))).to.be.instanceOf(Anthropic.NotFoundError);
          },
        },
      ],
    ];
  }),
);
