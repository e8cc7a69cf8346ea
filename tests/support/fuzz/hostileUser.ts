/** A user who tries to take the server from others, in a process of its own: `hostileUser.ts <url> <token> <way>`. */
import { once } from 'node:events';
import { Agent, request as send } from 'node:http';
import type { ClientRequest } from 'node:http';
import { WebSocket } from 'ws';

const [url = '', token = '', way = ''] = process.argv.slice(2);
const MODEL = 'groq/llama-3.3-70b-versatile';
/** Requests at the same time. */
const PARALLEL = 20;
const NOBODY = 'http://127.0.0.1:9/x.png';

const agent = new Agent({ keepAlive: true, maxSockets: 200 });

function open(method: string, path: string, headers: Readonly<Record<string, string | number>> = {}): ClientRequest {
  const { hostname, port } = new URL(url);
  const authorized = { authorization: `Bearer ${token}`, 'content-type': 'application/json', ...headers };
  // What becomes of the requests does not matter.
  return send({ hostname, port, path, method, agent, headers: authorized }).on('error', () => undefined);
}

async function call(method: string, path: string, body?: string): Promise<void> {
  const request = open(method, path, body === undefined ? {} : { 'content-length': Buffer.byteLength(body) });
  request.end(body);
  const ended = once(request, 'close');
  request.once('response', (response) => response.resume().on('error', () => undefined));
  await ended;
}

const chat = (content: unknown): string => JSON.stringify({ model: MODEL, messages: [{ role: 'user', content }] });

/** A schema whose pattern takes long to refuse the answer. */
const SCHEMA = JSON.stringify({
  model: MODEL,
  input: 'Hello',
  text: {
    format: {
      type: 'json_schema',
      name: 's',
      schema: {
        type: 'object',
        properties: Object.fromEntries(
          Array.from({ length: 200 }, (_, at) => [`p${at}`, { type: 'string', pattern: `^(a+)+${at}$` }]),
        ),
      },
    },
  },
});
const ITEMS = `{"model":"${MODEL}","input":[${Array<string>(30_000).fill('{"role":"user","content":"a"}').join()}]}`;
const CALL = '{"type":"function_call","call_id":"c","name":"f","arguments":"{}"}';
const CALLS = `{"model":"${MODEL}","input":[${Array<string>(18_000).fill(CALL).join()}]}`;
const LONG = chat('x'.repeat(8 * 1024 * 1024));

/** What is done again and again, by each of `PARALLEL` at the same time. */
const WAYS: Readonly<Record<string, () => Promise<void>>> = {
  'parallel calls': () => call('POST', '/v1/chat/completions', chat('Hello')),
  'huge bodies': () => call('POST', '/v1/chat/completions', LONG),
  'many items': () => call('POST', '/v1/responses', ITEMS),
  'repeated calls': () => call('POST', '/v1/responses', CALLS),
  'slow readers': async () => {
    const request = open('GET', '/api/runs/stream');
    request.end();
    request.once('response', (response) => response.pause().on('error', () => undefined));
    await once(request, 'close');
  },
  'slow writers': async () => {
    const request = open('POST', '/v1/chat/completions', { 'content-length': 1_000_000 });
    const timer = setInterval(() => request.write(' '), 50);
    await once(request, 'close');
    clearInterval(timer);
  },
  schemas: () => call('POST', '/v1/responses', SCHEMA),
  'idle sockets': async () => {
    const socket = new WebSocket(`${url.replace('http', 'ws')}/v1/responses`, {
      headers: { authorization: `Bearer ${token}` },
    });
    socket.on('error', () => undefined);
    await once(socket, 'close');
  },
  sessions: () => call('POST', '/api/session', JSON.stringify({ token })),
  'stored responses': () =>
    call('POST', '/v1/responses', JSON.stringify({ model: MODEL, input: 'x'.repeat(200_000), store: true })),
  'failing downloads': () =>
    call(
      'POST',
      '/v1/chat/completions',
      chat(Array.from({ length: 20 }, (_, at) => ({ type: 'image_url', image_url: { url: `${NOBODY}?${at}` } }))),
    ),
  aborts: async () => {
    const request = open('POST', '/v1/chat/completions');
    request.end(chat('Hello'));
    await once(request, 'finish');
    request.destroy();
  },
  'list queries': () => call('GET', '/api/runs?limit=200&search=a%20b%20c'),
};

async function main(): Promise<void> {
  const act = WAYS[way];
  if (act === undefined) throw new Error(`There is no way "${way}".`);
  process.on('disconnect', () => process.exit());
  process.send?.('started');
  const worker = async (): Promise<never> => {
    for (;;) await act().catch(() => undefined);
  };
  await Promise.all(Array.from({ length: PARALLEL }, worker));
}

void main();
