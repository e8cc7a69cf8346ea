/** Frameworks with the gateway as their OpenAI or Anthropic: the AI SDK, LangChain, OpenAI's Agents SDK. */
import { createAnthropic } from '@ai-sdk/anthropic';
import { createOpenAI } from '@ai-sdk/openai';
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { HumanMessage, ToolMessage } from '@langchain/core/messages';
import type { AIMessageChunk, BaseMessage } from '@langchain/core/messages';
import { tool as langChainTool } from '@langchain/core/tools';
import { ChatOpenAI } from '@langchain/openai';
import { generateText, isStepCount, Output, streamText, tool } from 'ai';
import type { LanguageModel } from 'ai';
import { expect } from 'chai';
import { z } from 'zod';
import { failure } from '../failure';
import { TOKENS } from '../gateway';
import { agents } from './openAIAgents';
import { PNG, WEATHER_CALLS, WEATHER_RESULTS, weatherIn } from './SdkCase';
import type { SdkCase, SdkCases, SdkContext } from './SdkCase';

const { Agent, OpenAIProvider, Runner, tool: agentTool } = agents;

const City = z.object({ city: z.string() });
const USAGE = { input: 30, output: 7 };
const FAILURE = { status: 429, body: { error: { message: 'Slow down.', type: 'rate_limit_error' } } };

function expectResults({ lastBody }: SdkContext): void {
  for (const result of WEATHER_RESULTS) expect(lastBody()).to.include(result);
}

// ---- the AI SDK

const AI_SDK_MODELS: Readonly<Record<string, (context: SdkContext) => LanguageModel>> = {
  '@ai-sdk/openai, responses': ({ gateway, model }) =>
    createOpenAI({ baseURL: `${gateway.url}/v1`, apiKey: TOKENS.ann }).responses(model),
  '@ai-sdk/openai, chat': ({ gateway, model }) =>
    createOpenAI({ baseURL: `${gateway.url}/v1`, apiKey: TOKENS.ann }).chat(model),
  '@ai-sdk/anthropic': ({ gateway, model }) =>
    createAnthropic({ baseURL: `${gateway.url}/v1`, apiKey: TOKENS.ann })(model),
  '@ai-sdk/openai-compatible': ({ gateway, model }) =>
    createOpenAICompatible({
      name: 'bolide',
      baseURL: `${gateway.url}/v1`,
      apiKey: TOKENS.ann,
      includeUsage: true,
      supportsStructuredOutputs: true,
    })(model),
};

const weather = tool({
  description: 'The weather.',
  inputSchema: City,
  execute: ({ city }) => weatherIn(city),
});

function aiSdkCases(modelOf: (context: SdkContext) => LanguageModel): Readonly<Record<string, SdkCase>> {
  const call = (context: SdkContext) => ({ model: modelOf(context), maxRetries: 0, maxOutputTokens: 2_000 });
  return {
    'reads text and usage': async (context) => {
      context.gateway.simulator.enqueue({ text: 'Grüezi 🌞', usage: USAGE });
      const { text, usage, finishReason } = await generateText({
        ...call(context),
        instructions: 'Be brief.',
        prompt: 'Hello?',
      });
      expect(text).to.equal('Grüezi 🌞');
      expect(finishReason).to.equal('stop');
      expect(usage).to.include({ inputTokens: 30, outputTokens: 7 });
      expect(context.lastBody()).to.include('Be brief.');
    },
    'streams text': async (context) => {
      context.gateway.simulator.enqueue({ text: 'one two three four', usage: USAGE });
      const result = streamText({ ...call(context), prompt: 'Count.' });
      let text = '';
      for await (const delta of result.textStream) text += delta;
      expect(text).to.equal('one two three four');
      expect(await result.usage).to.include({ inputTokens: 30, outputTokens: 7 });
    },
    'runs tools, with reasoning in between': async (context) => {
      context.gateway.simulator.enqueue(
        { reasoning: 'I need the weather of both.', calls: WEATHER_CALLS },
        { text: 'Sunny in both.' },
      );
      const { text, steps } = await generateText({
        ...call(context),
        prompt: 'How is the weather?',
        tools: { get_weather: weather },
        stopWhen: isStepCount(3),
      });
      expect(text).to.equal('Sunny in both.');
      expect(steps[0]?.toolResults.map(({ output }) => output)).to.deep.equal(WEATHER_RESULTS);
      expectResults(context);
    },
    'streams tool calls': async (context) => {
      context.gateway.simulator.enqueue({ text: 'Let me look.', calls: WEATHER_CALLS }, { text: 'Sunny in both.' });
      const result = streamText({
        ...call(context),
        prompt: 'How is the weather?',
        tools: { get_weather: weather },
        stopWhen: isStepCount(3),
      });
      const inputs: unknown[] = [];
      for await (const part of result.stream) if (part.type === 'tool-call') inputs.push(part.input);
      expect(inputs).to.deep.equal(WEATHER_CALLS.map((scripted) => scripted.arguments));
      expect(await result.text).to.equal('Sunny in both.');
      expectResults(context);
    },
    'returns typed values': async (context) => {
      context.gateway.simulator.enqueue({ text: '{"city":"Lima"}' });
      const { output } = await generateText({
        ...call(context),
        prompt: 'A city.',
        output: Output.object({ schema: City }),
      });
      expect(output).to.deep.equal({ city: 'Lima' });
    },
    'sends images': async (context) => {
      context.gateway.simulator.enqueue({ text: 'A pixel.' });
      await generateText({
        ...call(context),
        messages: [
          {
            role: 'user',
            content: [
              { type: 'text', text: 'What is this?' },
              { type: 'file', mediaType: 'image/png', data: PNG },
            ],
          },
        ],
      });
      expect(context.lastBody()).to.include(PNG);
    },
    'throws with the status of a failure': async (context) => {
      context.gateway.simulator.enqueue(FAILURE);
      const error = await failure(generateText({ ...call(context), prompt: 'Hello?' }));
      expect(error).to.include({ statusCode: 429 });
      expect((error as Error).message).to.include('Slow down.');
    },
  };
}

export const AI_SDK_CASES: SdkCases = Object.fromEntries(
  Object.entries(AI_SDK_MODELS).map(([name, modelOf]) => [name, aiSdkCases(modelOf)]),
);

// ---- LangChain

function langChainCases(useResponsesApi: boolean): Readonly<Record<string, SdkCase>> {
  const chatOf = ({ gateway, model }: SdkContext): ChatOpenAI =>
    new ChatOpenAI({
      model,
      apiKey: TOKENS.ann,
      configuration: { baseURL: `${gateway.url}/v1` },
      maxRetries: 0,
      useResponsesApi,
    });
  const getWeather = langChainTool(({ city }: z.infer<typeof City>) => weatherIn(city), {
    name: 'get_weather',
    description: 'The weather.',
    schema: City,
  });
  return {
    'reads text and usage': async (context) => {
      context.gateway.simulator.enqueue({ text: 'Grüezi 🌞', usage: USAGE });
      const message = await chatOf(context).invoke('Hello?');
      expect(message.text).to.equal('Grüezi 🌞');
      expect(message.usage_metadata).to.include({ input_tokens: 30, output_tokens: 7 });
    },
    'streams text': async (context) => {
      context.gateway.simulator.enqueue({ text: 'one two three four' });
      let text = '';
      for await (const chunk of await chatOf(context).stream('Count.')) text += chunk.text;
      expect(text).to.equal('one two three four');
    },
    'runs tools': async (context) => {
      context.gateway.simulator.enqueue({ calls: WEATHER_CALLS }, { text: 'Sunny in both.' });
      const chat = chatOf(context).bindTools([getWeather]);
      const messages: BaseMessage[] = [new HumanMessage('How is the weather?')];
      const first: AIMessageChunk = await chat.invoke(messages);
      expect(first.tool_calls?.map(({ args }) => args)).to.deep.equal(WEATHER_CALLS.map((call) => call.arguments));
      messages.push(first);
      for (const { id = '', args } of first.tool_calls ?? [])
        messages.push(new ToolMessage({ tool_call_id: id, content: await getWeather.invoke(City.parse(args)) }));
      expect((await chat.invoke(messages)).text).to.equal('Sunny in both.');
      expectResults(context);
    },
    'returns typed values': async (context) => {
      context.gateway.simulator.enqueue({ text: '{"city":"Lima"}' });
      const structured = chatOf(context).withStructuredOutput(City, { name: 'city', method: 'jsonSchema' });
      expect(await structured.invoke('A city.')).to.deep.equal({ city: 'Lima' });
    },
    'throws with the status of a failure': async (context) => {
      context.gateway.simulator.enqueue(FAILURE);
      expect(await failure(chatOf(context).invoke('Hello?'))).to.include({ status: 429 });
    },
  };
}

export const LANGCHAIN_CASES: SdkCases = {
  'ChatOpenAI, chat': langChainCases(false),
  'ChatOpenAI, responses': langChainCases(true),
};

// ---- OpenAI's Agents SDK

function agentsCases(useResponses: boolean): Readonly<Record<string, SdkCase>> {
  const runnerOf = ({ gateway }: SdkContext) =>
    new Runner({
      modelProvider: new OpenAIProvider({ apiKey: TOKENS.ann, baseURL: `${gateway.url}/v1`, useResponses }),
      // Traces would go to OpenAI.
      tracingDisabled: true,
    });
  const getWeather = agentTool({
    name: 'get_weather',
    description: 'The weather.',
    parameters: City,
    execute: ({ city }) => weatherIn(city),
  });
  return {
    'runs tools until the answer': async (context) => {
      context.gateway.simulator.enqueue({ calls: WEATHER_CALLS }, { text: 'Sunny in both.' });
      const agent = new Agent({
        name: 'Meteorologist',
        instructions: 'Be brief.',
        model: context.model,
        tools: [getWeather],
      });
      const result = await runnerOf(context).run(agent, 'How is the weather?');
      expect(result.finalOutput).to.equal('Sunny in both.');
      expectResults(context);
      expect(context.lastBody()).to.include('Be brief.');
    },
    'streams a run': async (context) => {
      context.gateway.simulator.enqueue({ calls: WEATHER_CALLS }, { text: 'Sunny in both.' });
      const agent = new Agent({ name: 'Meteorologist', model: context.model, tools: [getWeather] });
      const result = await runnerOf(context).run(agent, 'How is the weather?', { stream: true });
      let text = '';
      for await (const delta of result.toTextStream()) text += delta;
      await result.completed;
      expect(text).to.equal('Sunny in both.');
      expectResults(context);
    },
    'returns typed values': async (context) => {
      context.gateway.simulator.enqueue({ text: '{"city":"Lima"}' });
      const agent = new Agent({ name: 'Geographer', model: context.model, outputType: City });
      expect((await runnerOf(context).run(agent, 'A city.')).finalOutput).to.deep.equal({ city: 'Lima' });
    },
    'hands over to another agent': async (context) => {
      context.gateway.simulator.enqueue(
        { calls: [{ name: 'transfer_to_Geographer', arguments: {} }] },
        { text: 'Lima.' },
      );
      const geographer = new Agent({ name: 'Geographer', model: context.model });
      const agent = Agent.create({ name: 'Receptionist', model: context.model, handoffs: [geographer] });
      const result = await runnerOf(context).run(agent, 'A city.');
      expect(result.finalOutput).to.equal('Lima.');
      expect(result.lastAgent?.name).to.equal('Geographer');
    },
  };
}

export const AGENTS_CASES: SdkCases = {
  'Agents, responses': agentsCases(true),
  'Agents, chat': agentsCases(false),
};
