/** The reference: the official SDKs, used directly as their guides show. */
import Anthropic from '@anthropic-ai/sdk';
import type { ContentBlockParam, MessageParam, ToolResultBlockParam } from '@anthropic-ai/sdk/resources/messages';
import OpenAI from 'openai';
import type { ResponseInputItem } from 'openai/resources/responses/responses';
import { MODELS, TOOL } from '../Contender';
import type { Contender, Setting, weather } from '../Contender';
import { historyToAnthropic } from '../histories';
import type { HistoryItem } from '../histories';

type City = Parameters<typeof weather>[0];

export function create(setting: Setting): Contender {
  return setting.wire === 'anthropic' ? anthropic(setting) : openai(setting, setting.wire);
}

function openai({ baseURL, weather }: Setting, wire: 'openai' | 'chat'): Contender {
  const client = new OpenAI({ apiKey: 'bench', baseURL, maxRetries: 2 });
  const model = MODELS[wire];
  const tools = [{ type: 'function' as const, ...TOOL, strict: true }];
  const stream = async (input: string): Promise<number> => {
    let length = 0;
    if (wire === 'chat') {
      const chunks = await client.chat.completions.create({
        model,
        messages: [{ role: 'user', content: input }],
        stream: true,
      });
      for await (const chunk of chunks) length += chunk.choices[0]?.delta.content?.length ?? 0;
      return length;
    }
    const events = await client.responses.create({ model, input, stream: true });
    for await (const event of events) if (event.type === 'response.output_text.delta') length += event.delta.length;
    return length;
  };
  return {
    async ask(input) {
      return (await client.responses.create({ model, input })).output_text;
    },
    stream,
    transcode: stream,
    send: async (history) =>
      (await client.responses.create({ model, input: history as ResponseInputItem[], tools })).output_text,
    async loop(question) {
      const input: ResponseInputItem[] = [{ role: 'user', content: question }];
      for (;;) {
        const response = await client.responses.create({ model, input, tools });
        const calls = response.output.filter((item) => item.type === 'function_call');
        if (calls.length === 0) return response.output_text;
        input.push(...(response.output as ResponseInputItem[]));
        const outputs = await Promise.all(
          calls.map((call) => Promise.resolve(weather(JSON.parse(call.arguments) as City))),
        );
        outputs.forEach((output, index) =>
          input.push({
            type: 'function_call_output',
            call_id: calls[index]?.call_id ?? '',
            output: JSON.stringify(output),
          }),
        );
      }
    },
  };
}

function anthropic({ baseURL, weather }: Setting): Contender {
  const client = new Anthropic({ apiKey: 'bench', baseURL, maxRetries: 2 });
  const fixed = { model: MODELS.anthropic, max_tokens: 4_096 };
  const tools = [
    {
      name: TOOL.name,
      description: TOOL.description,
      input_schema: { ...TOOL.parameters, required: [...TOOL.parameters.required] },
    },
  ];
  const stream = async (question: string): Promise<number> => {
    let length = 0;
    const events = await client.messages.create({
      ...fixed,
      messages: [{ role: 'user', content: question }],
      stream: true,
    });
    for await (const event of events)
      if (event.type === 'content_block_delta' && event.delta.type === 'text_delta') length += event.delta.text.length;
    return length;
  };
  const textOf = (message: Anthropic.Message): string =>
    message.content.map((block) => (block.type === 'text' ? block.text : '')).join('');
  const send = async (history: readonly HistoryItem[]): Promise<string> =>
    textOf(await client.messages.create({ ...fixed, messages: historyToAnthropic(history) as MessageParam[], tools }));
  return {
    async ask(question) {
      return textOf(await client.messages.create({ ...fixed, messages: [{ role: 'user', content: question }] }));
    },
    stream,
    transcode: stream,
    async loop(question) {
      const messages: MessageParam[] = [{ role: 'user', content: question }];
      for (;;) {
        const message = await client.messages.create({ ...fixed, messages, tools });
        const uses = message.content.filter((block) => block.type === 'tool_use');
        if (uses.length === 0) return textOf(message);
        messages.push({ role: 'assistant', content: message.content as ContentBlockParam[] });
        const results = await Promise.all(uses.map(({ input }) => Promise.resolve(weather(input as City))));
        messages.push({
          role: 'user',
          content: uses.map(({ id }, index): ToolResultBlockParam => ({
            type: 'tool_result',
            tool_use_id: id,
            content: JSON.stringify(results[index]),
          })),
        });
      }
    },
    send,
    resend: { prepare: (history) => history, send },
  };
}
