/** `chat.completions` of OpenAI's SDK. */
import { expect } from 'chai';
import OpenAI from 'openai';
import { zodFunction, zodResponseFormat } from 'openai/helpers/zod';
import { z } from 'zod';
import { TOKENS } from '../gateway';
import { PNG, WEATHER_CALLS, WEATHER_RESULTS, WEATHER_SCHEMA, weatherIn } from './SdkCase';
import type { SdkCases, SdkContext } from './SdkCase';

type Messages = OpenAI.Chat.ChatCompletionMessageParam[];

export const openaiOf = ({ gateway }: Pick<SdkContext, 'gateway'>): OpenAI =>
  new OpenAI({ apiKey: TOKENS.ann, baseURL: `${gateway.url}/v1`, maxRetries: 0 });

const ASK: Messages = [{ role: 'user', content: 'Hello?' }];
const TOOLS: OpenAI.Chat.ChatCompletionFunctionTool[] = [
  {
    type: 'function',
    function: { name: 'get_weather', description: 'The weather.', parameters: WEATHER_SCHEMA, strict: true },
  },
];
const City = z.object({ city: z.string() });

function runnableTool(cities: string[]): OpenAI.Chat.ChatCompletionTool & Record<string, unknown> {
  return {
    type: 'function',
    function: {
      name: 'get_weather',
      description: 'The weather.',
      parameters: WEATHER_SCHEMA,
      parse: (text: string) => City.parse(JSON.parse(text)),
      function: ({ city }: z.infer<typeof City>) => {
        cities.push(city);
        return weatherIn(city);
      },
    },
  } as OpenAI.Chat.ChatCompletionTool & Record<string, unknown>;
}

export const OPENAI_CHAT_CASES: SdkCases = {
  'chat.completions.create': {
    'reads text and usage': async (context) => {
      context.gateway.simulator.enqueue({ text: 'Grüezi 🌞', usage: { input: 30, output: 7 } });
      const completion = await openaiOf(context).chat.completions.create({ model: context.model, messages: ASK });
      expect(completion.choices[0]?.message).to.include({ role: 'assistant', content: 'Grüezi 🌞' });
      expect(completion.choices[0]?.finish_reason).to.equal('stop');
      expect(completion.usage).to.include({ prompt_tokens: 30, completion_tokens: 7, total_tokens: 37 });
    },
    'streams chunks': async (context) => {
      context.gateway.simulator.enqueue({ text: 'one two three four', usage: { input: 30, output: 7 } });
      const stream = await openaiOf(context).chat.completions.create({
        model: context.model,
        messages: ASK,
        stream: true,
        stream_options: { include_usage: true },
      });
      let text = '';
      const finishes: string[] = [];
      let usage: OpenAI.CompletionUsage | null | undefined;
      for await (const chunk of stream) {
        text += chunk.choices[0]?.delta.content ?? '';
        const reason = chunk.choices[0]?.finish_reason;
        if (reason !== undefined && reason !== null) finishes.push(reason);
        usage = chunk.usage ?? usage;
      }
      expect(text).to.equal('one two three four');
      expect(finishes).to.deep.equal(['stop']);
      expect(usage).to.include({ prompt_tokens: 30, completion_tokens: 7 });
    },
    'sends results of parallel calls': async (context) => {
      context.gateway.simulator.enqueue({ text: 'Let me look.', calls: WEATHER_CALLS }, { text: 'Sunny in both.' });
      const { chat } = openaiOf(context);
      const body = { model: context.model, tools: TOOLS };
      const first = await chat.completions.create({ ...body, messages: ASK });
      expect(first.choices[0]?.finish_reason).to.equal('tool_calls');
      const message = first.choices[0]!.message;
      const calls = (message.tool_calls ?? []).filter((call) => call.type === 'function');
      expect(calls.map((call): unknown => JSON.parse(call.function.arguments))).to.deep.equal(
        WEATHER_CALLS.map((call) => call.arguments),
      );
      expect(new Set(calls.map(({ id }) => id)).size).to.equal(2);
      const results: Messages = calls.map(({ id }, index) => ({
        role: 'tool',
        tool_call_id: id,
        content: WEATHER_RESULTS[index]!,
      }));
      const second = await chat.completions.create({ ...body, messages: [...ASK, message, ...results] });
      expect(second.choices[0]?.message.content).to.equal('Sunny in both.');
      for (const result of WEATHER_RESULTS) expect(context.lastBody()).to.include(result);
    },
    'sends images': async (context) => {
      context.gateway.simulator.enqueue({ text: 'A pixel.' });
      const content: OpenAI.Chat.ChatCompletionContentPart[] = [
        { type: 'text', text: 'What is this?' },
        { type: 'image_url', image_url: { url: `data:image/png;base64,${PNG}` } },
      ];
      const completion = await openaiOf(context).chat.completions.create({
        model: context.model,
        messages: [{ role: 'user', content }],
      });
      expect(completion.choices[0]?.message.content).to.equal('A pixel.');
      expect(context.lastBody()).to.include(PNG);
    },
    'reports text that was cut off': async (context) => {
      context.gateway.simulator.enqueue({ text: 'Once upon', incomplete: 'max_output_tokens' });
      const completion = await openaiOf(context).chat.completions.create({
        model: context.model,
        messages: ASK,
        max_completion_tokens: 2,
      });
      expect(completion.choices[0]).to.deep.include({ finish_reason: 'length' });
      expect(completion.choices[0]?.message.content).to.equal('Once upon');
    },
    'sends stop sequences, or says that the vendor has none': async (context) => {
      context.gateway.simulator.enqueue({ text: 'one' });
      // OpenAI's reasoning models accept none.
      const model = /openai$/.test(context.vendor) ? `${context.vendor}/gpt-4.1-mini` : context.model;
      const { data, response } = await openaiOf(context)
        .chat.completions.create({ model, messages: ASK, stop: ['END', 'FIN'] })
        .withResponse();
      expect(data.choices[0]?.message.content).to.equal('one');
      const warnings = response.headers.get('x-bolide-warnings') ?? '';
      expect(context.lastBody().includes('"END","FIN"') !== warnings.includes('stop'), warnings).to.equal(true);
    },
    'returns reasoning to the vendor that wrote it': async (context) => {
      context.gateway.simulator.enqueue(
        { reasoning: 'I need the weather.', calls: WEATHER_CALLS.slice(0, 1) },
        { text: 'Sunny.' },
      );
      const { chat } = openaiOf(context);
      const body = { model: context.model, tools: TOOLS, reasoning_effort: 'low' as const };
      const first = await chat.completions.create({ ...body, messages: ASK });
      const message = first.choices[0]!.message;
      const second = await chat.completions.create({
        ...body,
        messages: [
          ...ASK,
          message,
          { role: 'tool', tool_call_id: message.tool_calls?.[0]?.id ?? '', content: WEATHER_RESULTS[0]! },
        ],
      });
      expect(second.choices[0]?.message.content).to.equal('Sunny.');
    },
  },
  'chat.completions.stream': {
    'accumulates parallel calls': async (context) => {
      context.gateway.simulator.enqueue({ calls: WEATHER_CALLS, usage: { input: 30, output: 7 } });
      const stream = openaiOf(context).chat.completions.stream({
        model: context.model,
        messages: ASK,
        tools: TOOLS,
        stream_options: { include_usage: true },
      });
      const done: unknown[] = [];
      stream.on('tool_calls.function.arguments.done', ({ name, arguments: text }) =>
        done.push({ name, arguments: JSON.parse(text) as unknown }),
      );
      const completion = await stream.finalChatCompletion();
      expect(done).to.deep.equal(WEATHER_CALLS);
      expect(completion.choices[0]?.finish_reason).to.equal('tool_calls');
      expect(completion.usage).to.include({ prompt_tokens: 30, completion_tokens: 7 });
    },
  },
  'chat.completions.parse': {
    'returns typed values': async (context) => {
      context.gateway.simulator.enqueue({ text: '{"city":"Lima"}' });
      const completion = await openaiOf(context).chat.completions.parse({
        model: context.model,
        messages: ASK,
        response_format: zodResponseFormat(City, 'city'),
      });
      expect(completion.choices[0]?.message.parsed).to.deep.equal({ city: 'Lima' });
    },
    'returns typed arguments': async (context) => {
      context.gateway.simulator.enqueue({ calls: WEATHER_CALLS.slice(0, 1) });
      const completion = await openaiOf(context).chat.completions.parse({
        model: context.model,
        messages: ASK,
        tools: [zodFunction({ name: 'get_weather', parameters: City })],
      });
      const [call] = completion.choices[0]?.message.tool_calls ?? [];
      expect(call).to.have.nested.property('function.parsed_arguments').that.deep.equals({ city: 'Zürich' });
    },
  },
  'chat.completions.runTools': Object.fromEntries(
    [false, true].map((stream) => [
      `calls functions until the answer${stream ? ', streaming' : ''}`,
      async (context: SdkContext) => {
        context.gateway.simulator.enqueue({ calls: WEATHER_CALLS }, { text: 'Sunny in both.' });
        const cities: string[] = [];
        const { completions } = openaiOf(context).chat;
        const body = { model: context.model, messages: ASK, tools: [runnableTool(cities) as never] };
        const runner = stream ? completions.runTools({ ...body, stream: true }) : completions.runTools(body);
        expect(await runner.finalContent()).to.equal('Sunny in both.');
        expect(cities).to.deep.equal(['Zürich', 'Lima']);
        for (const result of WEATHER_RESULTS) expect(context.lastBody()).to.include(result);
      },
    ]),
  ),
};
