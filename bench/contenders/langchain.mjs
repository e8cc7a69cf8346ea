/** LangChain's models and agents, used as its guides show. */
import { ChatAnthropic } from '@langchain/anthropic';
import { ChatOpenAI } from '@langchain/openai';
import { createAgent, tool } from 'langchain';

export function create({ wire, baseURL, tool: definition, models, weather }) {
  if (wire === 'chat') return {};
  const model =
    wire === 'anthropic'
      ? new ChatAnthropic({ model: models.anthropic, apiKey: 'bench', anthropicApiUrl: baseURL, maxTokens: 4_096 })
      : new ChatOpenAI({ model: models.openai, apiKey: 'bench', configuration: { baseURL }, useResponsesApi: true });
  const { name, description, parameters } = definition;
  const agent = createAgent({
    model,
    tools: [tool((args) => JSON.stringify(weather(args)), { name, description, schema: parameters })],
  });
  return {
    ask: async (question) => (await model.invoke(question)).text,
    async stream(question) {
      let length = 0;
      for await (const chunk of await model.stream(question)) length += chunk.text.length;
      return length;
    },
    loop: async (question) =>
      (await agent.invoke({ messages: [{ role: 'user', content: question }] }, { recursionLimit: 1_000 })).messages.at(
        -1,
      ).text,
  };
}
