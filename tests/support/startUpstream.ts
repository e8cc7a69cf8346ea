/** A vendor of every wire that reads nothing of its requests and answers at once, so that it costs next to nothing. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Environment } from '../../imports/host/settings/environment';

export interface Upstream {
  /** Variables that set up OpenAI, Groq, Anthropic and Google on it. */
  readonly env: Environment;
  close(): Promise<void>;
}

const ANSWERS: readonly (readonly [path: RegExp, body: object])[] = [
  [
    /\/chat\/completions$/,
    {
      id: 'c',
      object: 'chat.completion',
      created: 1,
      model: 'm',
      choices: [{ index: 0, message: { role: 'assistant', content: 'Hello.' }, finish_reason: 'stop' }],
      usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
    },
  ],
  [
    /\/responses$/,
    {
      id: 'resp_1',
      object: 'response',
      created_at: 1,
      status: 'completed',
      model: 'm',
      output: [
        {
          type: 'message',
          id: 'msg_1',
          role: 'assistant',
          status: 'completed',
          content: [{ type: 'output_text', text: 'Hello.', annotations: [] }],
        },
      ],
      usage: { input_tokens: 1, output_tokens: 1, total_tokens: 2 },
    },
  ],
  [
    /\/messages$/,
    {
      id: 'm',
      type: 'message',
      role: 'assistant',
      model: 'm',
      content: [{ type: 'text', text: 'Hello.' }],
      stop_reason: 'end_turn',
      usage: { input_tokens: 1, output_tokens: 1 },
    },
  ],
  [/\/messages\/count_tokens$/, { input_tokens: 1 }],
  [/:countTokens/, { totalTokens: 1 }],
  [
    /:generateContent/,
    {
      candidates: [{ content: { role: 'model', parts: [{ text: 'Hello.' }] }, finishReason: 'STOP' }],
      usageMetadata: { promptTokenCount: 1, candidatesTokenCount: 1, totalTokenCount: 2 },
    },
  ],
];

export async function startUpstream(): Promise<Upstream> {
  const server = createServer((request, response) => {
    request.resume().once('end', () => {
      const [, body] = ANSWERS.find(([path]) => path.test((request.url ?? '').split('?')[0] ?? '')) ?? [];
      response.writeHead(body === undefined ? 404 : 200, { 'content-type': 'application/json' });
      response.end(JSON.stringify(body ?? { error: { message: 'There is nothing here.' } }));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  // A server that listens on a port has an `AddressInfo` as its address.
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    env: {
      AI_ALLOW_PRIVATE_HOSTS: '1',
      // Load tests send more than one user may.
      USER_REQUESTS_PER_MINUTE: '0',
      USER_PARALLEL_CALLS: '0',
      USER_CONNECTIONS: '0',
      OPENAI_API_KEY: 'simulated',
      OPENAI_API_BASE: `${url}/v1`,
      GROQ_API_KEY: 'simulated',
      GROQ_BASE_URL: url,
      ANTHROPIC_API_KEY: 'simulated',
      ANTHROPIC_BASE_URL: url,
      GOOGLE_API_KEY: 'simulated',
      GOOGLE_BASE_URL: url,
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
