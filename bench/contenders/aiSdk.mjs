/** Vercel's AI SDK, used as its guides show. */
import { createAnthropic } from '@ai-sdk/anthropic';
import { createOpenAI } from '@ai-sdk/openai';
import { generateText, jsonSchema, stepCountIs, streamText, tool } from 'ai';

export function create({ wire, baseURL, tool: definition, models, weather }) {
  if (wire === 'chat') return {};
  const model =
    wire === 'anthropic'
      ? createAnthropic({ apiKey: 'bench', baseURL: `${baseURL}/v1` })(models.anthropic)
      : createOpenAI({ apiKey: 'bench', baseURL })(models.openai);
  const { name, description, parameters } = definition;
  const tools = { [name]: tool({ description, inputSchema: jsonSchema(parameters), execute: weather }) };
  return {
    ask: async (prompt) => (await generateText({ model, prompt })).text,
    async stream(prompt) {
      let length = 0;
      for await (const text of streamText({ model, prompt }).textStream) length += text.length;
      return length;
    },
    loop: async (prompt) => (await generateText({ model, prompt, tools, stopWhen: stepCountIs(100) })).text,
  };
}
