/** The lower bound: `node:http` and `JSON` only, without limits, retries or proper error handling. */
import { Agent, request } from 'node:http';
import type { IncomingMessage } from 'node:http';
import { MODELS, TOOL } from '../Contender';
import type { Contender, Setting, weather } from '../Contender';
import { historyToAnthropic } from '../histories';
import type { HistoryItem } from '../histories';
import type { BenchWire } from '../workloads';

type Json = Record<string, unknown>;
type City = Parameters<typeof weather>[0];

const PATHS: Readonly<Record<BenchWire, string>> = {
  openai: '/responses',
  anthropic: '/v1/messages',
  chat: '/chat/completions',
};

export function create({ wire, baseURL, weather }: Setting): Contender {
  const agent = new Agent({ keepAlive: true });
  const url = new URL(baseURL + PATHS[wire]);
  const secret =
    wire === 'anthropic'
      ? { 'x-api-key': 'bench', 'anthropic-version': '2023-06-01' }
      : { authorization: 'Bearer bench' };
  const send = (body: object): Promise<IncomingMessage> =>
    new Promise((resolve, reject) => {
      const bytes = JSON.stringify(body);
      const headers = { ...secret, 'content-type': 'application/json', 'content-length': Buffer.byteLength(bytes) };
      request({ agent, hostname: url.hostname, port: url.port, path: url.pathname, method: 'POST', headers }, resolve)
        .on('error', reject)
        .end(bytes);
    });
  const post = async (body: object): Promise<Json> => {
    let text = '';
    for await (const chunk of (await send(body)).setEncoding('utf8')) text += chunk as string;
    return JSON.parse(text) as Json;
  };
  const fixed = wire === 'anthropic' ? { model: MODELS.anthropic, max_tokens: 4_096 } : { model: MODELS[wire] };
  const bodyOf = (question: string): object =>
    wire === 'openai' ? { ...fixed, input: question } : { ...fixed, messages: [{ role: 'user', content: question }] };
  const stream = async (question: string): Promise<number> => {
    let rest = '';
    let length = 0;
    for await (const chunk of (await send({ ...bodyOf(question), stream: true })).setEncoding('utf8')) {
      const lines = (rest + (chunk as string)).split('\n');
      rest = lines.pop() ?? '';
      for (const line of lines)
        if (line.startsWith('data: {')) length += deltaOf(wire, JSON.parse(line.slice(6)) as Json).length;
    }
    return length;
  };
  const sendHistory = async (history: readonly HistoryItem[]): Promise<string> =>
    textOf(
      wire,
      await post(
        wire === 'anthropic'
          ? { ...fixed, messages: historyToAnthropic(history), tools: ANTHROPIC_TOOLS }
          : { ...fixed, input: history, tools: OPENAI_TOOLS },
      ),
    );
  return {
    ask: async (question) => textOf(wire, await post(bodyOf(question))),
    stream,
    transcode: stream,
    loop: (question) =>
      wire === 'anthropic' ? anthropicLoop(post, fixed, question, weather) : openaiLoop(post, fixed, question, weather),
    send: sendHistory,
    resend: { prepare: (history) => history, send: sendHistory },
  };
}

const ANTHROPIC_TOOLS = [{ name: TOOL.name, description: TOOL.description, input_schema: TOOL.parameters }];
const OPENAI_TOOLS = [{ type: 'function', ...TOOL, strict: true }];

async function openaiLoop(
  post: (body: object) => Promise<Json>,
  fixed: object,
  question: string,
  run: typeof weather,
): Promise<string> {
  const input: Json[] = [{ role: 'user', content: question }];
  for (;;) {
    const response = await post({ ...fixed, input, tools: OPENAI_TOOLS });
    const output = response.output as Json[];
    const calls = output.filter(({ type }) => type === 'function_call');
    if (calls.length === 0) return textOf('openai', response);
    input.push(
      ...output,
      ...calls.map((call) => ({
        type: 'function_call_output',
        call_id: call.call_id,
        output: JSON.stringify(run(JSON.parse(call.arguments as string) as City)),
      })),
    );
  }
}

async function anthropicLoop(
  post: (body: object) => Promise<Json>,
  fixed: object,
  question: string,
  run: typeof weather,
): Promise<string> {
  const messages: Json[] = [{ role: 'user', content: question }];
  for (;;) {
    const message = await post({ ...fixed, messages, tools: ANTHROPIC_TOOLS });
    const content = message.content as Json[];
    const uses = content.filter(({ type }) => type === 'tool_use');
    if (uses.length === 0) return textOf('anthropic', message);
    const results = uses.map(({ id, input }) => ({
      type: 'tool_result',
      tool_use_id: id,
      content: JSON.stringify(run(input as City)),
    }));
    messages.push({ role: 'assistant', content }, { role: 'user', content: results });
  }
}

function textOf(wire: BenchWire, response: Json): string {
  const blocks = (
    wire === 'anthropic' ? response.content : (response.output as Json[]).flatMap(({ content }) => content)
  ) as Json[];
  return blocks.map(({ text }) => text as string).join('');
}

function deltaOf(wire: BenchWire, event: Json): string {
  if (wire === 'openai') return event.type === 'response.output_text.delta' ? (event.delta as string) : '';
  if (wire === 'anthropic') return event.type === 'content_block_delta' ? ((event.delta as Json).text as string) : '';
  return (event.choices as { delta: { content?: string } }[])[0]?.delta.content ?? '';
}
