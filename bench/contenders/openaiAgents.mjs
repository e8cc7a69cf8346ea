/** OpenAI's Agents SDK, used as its guides show. It supports only OpenAI's wires. */
import { Agent, OpenAIResponsesModel, run, setTracingDisabled, tool } from '@openai/agents';
import OpenAI from 'openai';

export function create({ wire, baseURL, tool: definition, models, weather }) {
  if (wire !== 'openai') return {};
  setTracingDisabled(true);
  const model = new OpenAIResponsesModel(new OpenAI({ apiKey: 'bench', baseURL }), models.openai);
  const { name, description, parameters } = definition;
  const plainAgent = new Agent({ name: 'bench', model });
  const toolAgent = new Agent({
    name: 'bench',
    model,
    tools: [tool({ name, description, parameters, strict: true, execute: weather })],
  });
  return {
    ask: async (question) => (await run(plainAgent, question)).finalOutput,
    async stream(question) {
      let length = 0;
      for await (const text of (await run(plainAgent, question, { stream: true })).toTextStream())
        length += text.length;
      return length;
    },
    loop: async (question) => (await run(toolAgent, question, { maxTurns: 100 })).finalOutput,
  };
}
