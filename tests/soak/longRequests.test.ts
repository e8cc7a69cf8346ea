/** The largest requests that the server takes never keep its event loop from others for long. */
import { once } from 'node:events';
import { expect } from 'chai';
import { WebSocket } from 'ws';
import { DEFAULT_HTTP_LIMITS } from '../../imports/api/createHttpApi';
import type { ServerProcess } from '../support/startServerProcess';
import { startServerProcess } from '../support/startServerProcess';
import type { Upstream } from '../support/startUpstream';
import { startUpstream } from '../support/startUpstream';

const { maxBodyBytes, maxJsonValues } = DEFAULT_HTTP_LIMITS;
/** A little less than the limits. */
const BYTES = maxBodyBytes - 100_000;
const VALUES = maxJsonValues - 1_000;

const MODELS = {
  openai: 'openai/gpt-5-mini',
  groq: 'groq/llama-3.3-70b-versatile',
  anthropic: 'anthropic/claude-sonnet-4-5',
  google: 'google/gemini-2.5-flash',
} as const;

/** The entries of a list, as many as fit in a request whose entries have that many values each. */
function list(values: number, entry: (index: number) => string): string {
  return Array.from({ length: Math.floor(VALUES / values) }, (_, index) => entry(index)).join(',');
}

/** Repeats the unit as often as it fits in a body. */
function fill(unit: string): string {
  return unit.repeat(Math.floor(BYTES / Buffer.byteLength(unit)));
}

const message = (): string => '{"role":"user","content":"a"}';

/** Parts of the unit in which a schema is handled: few, since nothing is made of most of it. */
const SCHEMA_STALL = 0.3;

/** Bodies with as many values as are permitted, from which each wire's request is converted. */
const BODIES: readonly (readonly [title: string, path: string, body: (model: string) => string, limit?: number])[] = [
  ['items', '/v1/responses', (model) => `{"model":"${model}","input":[${list(3, message)}]}`],
  [
    'parts',
    '/v1/responses',
    (model) =>
      `{"model":"${model}","input":[{"role":"user","content":[${list(3, () => '{"type":"input_text","text":"a"}')}]}]}`,
  ],
  [
    'calls with their outputs',
    '/v1/responses',
    (model) =>
      `{"model":"${model}","input":[${list(
        9,
        (index) =>
          `{"type":"function_call","call_id":"c${index}","name":"f","arguments":"{}"},{"type":"function_call_output","call_id":"c${index}","output":"x"}`,
      )}]}`,
  ],
  [
    'tools',
    '/v1/responses',
    (model) =>
      `{"model":"${model}","input":"a","tools":[${list(8, (index) => `{"type":"function","name":"t${index}","parameters":{"type":"object","properties":{"a":{"type":"string"}}}}`)}]}`,
  ],
  [
    'properties of one tool',
    '/v1/responses',
    (model) =>
      `{"model":"${model}","input":"a","tools":[{"type":"function","name":"t","parameters":{"type":"object","properties":{${list(2, (index) => `"p${index}":{"type":"string"}`)}}}}]}`,
    SCHEMA_STALL,
  ],
  [
    'members of one tool',
    '/v1/responses',
    (model) =>
      `{"model":"${model}","input":"a","tools":[{"type":"function","name":"t","parameters":{"type":"object","allOf":[${list(4, (index) => `{"properties":{"p${index}":{"type":"string"}}}`)}]}}]}`,
    SCHEMA_STALL,
  ],
  [
    'required properties of a format',
    '/v1/responses',
    (model) =>
      `{"model":"${model}","input":"a","text":{"format":{"type":"json_schema","name":"f","strict":true,"schema":{"type":"object","additionalProperties":false,"properties":{${list(3, (index) => `"p${index}":{"type":"string"}`)}},"required":[${list(3, (index) => `"p${index}"`)}]}}}}`,
    SCHEMA_STALL,
  ],
  [
    'allowed tools',
    '/v1/responses',
    (model) =>
      `{"model":"${model}","input":"a","tools":[${list(6, (index) => `{"type":"function","name":"t${index}"}`)}],"tool_choice":{"type":"allowed_tools","tools":[${list(6, (index) => `{"type":"function","name":"t${index}"}`)}]}}`,
  ],
  ['messages', '/v1/chat/completions', (model) => `{"model":"${model}","messages":[${list(3, message)}]}`],
  ['messages', '/v1/messages', (model) => `{"model":"${model}","max_tokens":9,"messages":[${list(3, message)}]}`],
];

/** Bodies that are refused, or are no work: one for each way to fill a body. */
const FULL: readonly (readonly [title: string, path: string, status: number, body: string])[] = [
  ['brackets', '/v1/responses', 413, `{"model":"m","input":[${fill('[],')}[]]}`],
  ['nested lists', '/v1/chat/completions', 413, `{"model":"m","x":[${fill(`${'['.repeat(60)}${']'.repeat(60)},`)}1]}`],
  ['keys', '/v1/messages', 413, `{"model":"m","x":{${fill('"a":1,')}"b":1}}`],
  ['numbers', '/v1/embeddings', 413, `{"model":"openai/text-embedding-3-small","input":[${fill('1,')}1]}`],
  ['messages', '/runs', 413, `{"requestId":"r","input":[${fill(`${message()},`)}${message()}]}`],
  ['one string', '/v1/chat/completions', 200, chat(fill('a'))],
  ['one string beyond ASCII', '/v1/chat/completions', 200, chat(fill('ü'))],
  ['one string of escapes', '/v1/chat/completions', 200, chat(fill('\\n'))],
  ['one string of quotes', '/v1/messages/count_tokens', 200, `{"max_tokens":9,${chat(fill('\\"')).slice(1)}`],
  [
    'one image',
    '/v1/chat/completions',
    200,
    chat('').replace(
      '""',
      () => `[{"type":"image_url","image_url":{"url":"data:image/png;base64,${fill('iVBORw0K').slice(0, -200)}"}}]`,
    ),
  ],
];

function chat(text: string): string {
  return `{"model":"${MODELS.groq}","messages":[{"role":"user","content":"${text.slice(0, BYTES - 200)}"}]}`;
}

const ATTEMPTS = 5;

describe('the longest requests', () => {
  let upstream: Upstream;
  let server: ServerProcess;
  let unit: number;
  before(async () => {
    upstream = await startUpstream();
    server = await startServerProcess(upstream.env);
    unit = await server.calibrate();
  });
  after(async () => {
    await server.close();
    await upstream.close();
  });

  /**
   * `limit` is a fraction of what parsing 8 MB of brackets takes, which is about half a second. The shortest of a few
   * attempts counts, since the processor time of the same work varies on a busy machine. Each has a new server, which
   * has seen nothing of the request before.
   */
  const expectShort = async (title: string, work: () => Promise<unknown>, limit = 0.6): Promise<void> => {
    let shortest = Infinity;
    for (let attempt = 0; attempt < ATTEMPTS && shortest >= limit * unit; attempt += 1) {
      if (attempt > 0) {
        await server.close();
        server = await startServerProcess(upstream.env);
      }
      await server.collect();
      await work();
      const { stall } = await server.read();
      shortest = Math.min(shortest, stall);
    }
    const figures = `${title}: ${Math.round(shortest)} ms, with ${Math.round(unit)} ms as the unit`;
    expect(shortest / unit, figures).to.be.lessThan(limit);
  };
  const post = async (path: string, body: string): Promise<number> => {
    const bytes = Buffer.from(body);
    const response = await fetch(server.url + path, {
      method: 'POST',
      headers: { authorization: `Bearer ${server.token}`, 'content-type': 'application/json' },
      body: bytes,
    });
    await response.arrayBuffer();
    return response.status;
  };

  for (const [title, path, body, limit] of BODIES)
    it(`let others have their turn: ${title} for ${path}`, async () => {
      for (const model of Object.values(MODELS))
        await expectShort(model, async () => expect(await post(path, body(model)), model).to.equal(200), limit);
    });

  for (const [title, path, status, body] of FULL)
    it(`let others have their turn: ${title} for ${path}, as much as fits in a body`, async () => {
      await expectShort(path, async () => expect(await post(path, body)).to.equal(status));
    });

  it('let others have their turn on a WebSocket, and name the limit', async () => {
    await expectShort('the socket', async () => {
      const socket = new WebSocket(`${server.url.replace('http', 'ws')}/v1/responses`, {
        headers: { authorization: `Bearer ${server.token}` },
      });
      await once(socket, 'open');
      socket.send(`{"type":"response.create","model":"${MODELS.openai}","input":[${fill('[],')}[]]}`);
      const [data] = (await once(socket, 'message')) as [Buffer];
      expect(JSON.parse(data.toString())).to.have.property('status', 413);
      expect(data.toString()).to.contain(`more than ${maxJsonValues} values`);
      socket.terminate();
    });
  });
});
