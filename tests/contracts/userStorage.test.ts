/** What the requests of one user may store. */
import { randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { expect } from 'chai';
import type { CollectionBound } from '../../imports/database/StoredCollection';
import { COLLECTIONS } from '../../imports/host/collections';
import { LimitedServer } from '../support/LimitedServer';
import { until } from '../support/until';

const LIMIT = 1_024 ** 2;
/** What was admitted, and what its runs have stored since. */
const WITH_ANSWERS = LIMIT * 1.2;
const LONG = 'A long text. '.repeat(15_000);
/** Two of them fit. */
const LONGER = LONG + LONG;

describe('the storage of a user', () => {
  let server: LimitedServer;
  let users = 0;
  before(async () => {
    server = await LimitedServer.start({ STORAGE_MB_PER_USER: '1', MCP_TOOLS: '*' });
  });
  after(() => server.close());

  /** The token of a user who has stored nothing. */
  const someone = (): Promise<string> => server.issue(`user-${(users += 1)}`);
  const run = (token: string, input = LONG) =>
    server.send(token, 'POST', '/api/runs', {
      ...{ providerId: 'openai', input, tools: [], requestId: randomUUID() },
    });
  const usageOf = async (token: string, query = '') => {
    const response = await server.send(token, 'GET', `/api/storage${query}`);
    return (await response.json()) as { readonly bytes: number; readonly limit: number; readonly kinds: object };
  };

  it('is filled up to the bound; a refusal says what there is, and a deletion makes room', async () => {
    const { ann, bob } = server.tokens;
    const ids: string[] = [];
    let response = await run(ann);
    for (; response.status < 300 && ids.length < 20; response = await run(ann))
      ids.push(((await response.json()) as { readonly executionId: string }).executionId);
    expect(response.status).to.equal(507);
    expect(await response.text())
      .to.include('storage-full')
      .and.to.match(/runs \d\.\d MB/);
    const part = { type: 'text', text: LONG };
    for (const [path, body] of [
      ['/api/chat', { id: 'c', model: 'openai', messages: [{ id: 'm', role: 'user', parts: [part] }] }],
      ['/api/input', { conversation: 'c', message: LONG, model: 'openai' }],
    ] as const)
      expect((await server.send(ann, 'POST', path, body)).status, path).to.equal(507);
    expect((await run(bob)).status, 'another user').to.equal(202);

    const usage = await usageOf(ann);
    expect(usage).to.include({ limit: LIMIT });
    expect(usage.bytes).to.be.within(LIMIT / 2, WITH_ANSWERS);
    expect(Object.keys(usage.kinds)[0]).to.equal('runs');
    expect(await usageOf(bob, '?userId=ann')).to.deep.equal(usage);
    for (const id of ids) await until(async () => (await server.send(ann, 'DELETE', `/api/runs/${id}`)).status === 200);
    expect((await run(ann)).status, 'after a deletion').to.equal(202);
  });

  it('is not exceeded by requests that arrive together', async () => {
    const token = await someone();
    const responses = await Promise.all(Array.from({ length: 30 }, () => run(token)));
    expect(responses.map(({ status }) => status)).to.include(507);
    expect((await usageOf(token)).bytes).to.be.within(LIMIT / 2, WITH_ANSWERS);
  });

  /** Everything that starts a run, or has a conversation stored. */
  const STARTING: Readonly<Record<string, (token: string) => Promise<Response>>> = {
    'POST /api/runs': (token) => run(token, LONGER),
    'POST /api/chat': (token) => {
      const message = { id: randomUUID(), role: 'user', parts: [{ type: 'text', text: LONGER }] };
      return server.send(token, 'POST', '/api/chat', { id: message.id, model: 'openai', messages: [message] });
    },
    'POST /api/input': (token) =>
      server.send(token, 'POST', '/api/input', { conversation: 'c', message: LONGER, model: 'openai' }),
    'POST /api/ag-ui': (token) =>
      server.send(token, 'POST', '/api/ag-ui', {
        ...{ threadId: 't', runId: randomUUID(), messages: [{ id: 'm', role: 'user', content: LONGER }] },
        ...{ tools: [], context: [], state: {}, forwardedProps: { bolide: { model: 'openai' } } },
      }),
    'POST /api/batches': (token) =>
      server.send(token, 'POST', '/api/batches', {
        ...{ batchId: randomUUID(), providerId: 'openai', requests: [{ input: LONGER }] },
      }),
    'start_run over MCP': (token) =>
      fetch(`${server.url}/mcp`, {
        method: 'POST',
        headers: {
          ...{ authorization: `Bearer ${token}`, 'content-type': 'application/json' },
          accept: 'application/json, text/event-stream',
        },
        body: JSON.stringify({
          ...{ jsonrpc: '2.0', id: 1, method: 'tools/call' },
          params: { name: 'start_run', arguments: { input: LONGER, model: 'openai' } },
        }),
      }),
    'ai.runs.start, as DDP calls it': async () => {
      const actor = { userId: `user-${users}`, isAdmin: true, source: 'method' } as const;
      const request = { requestId: randomUUID(), providerId: 'openai', input: LONGER, tools: [] };
      return new Response(
        await server.server.host.operations['ai.runs.start'](actor, request).then(JSON.stringify, String),
      );
    },
  };
  for (const [name, start] of Object.entries(STARTING))
    it(`is charged for what it stores, and refused beyond the bound: ${name}`, async () => {
      const token = await someone();
      let text = '';
      let requests = 0;
      for (; requests < 3 && !text.includes('What you have stored takes'); requests += 1)
        text = await (await start(token)).text();
      expect(text).to.include('What you have stored takes');
      expect(requests, 'a text is charged more than twice').to.be.greaterThan(1);
    });

  it('has the text of a chat once, which the chat keeps when another run follows, and when that is deleted', async () => {
    const token = await someone();
    const first = { id: 'm', role: 'user', parts: [{ type: 'text', text: LONG }] };
    const read = async (): Promise<readonly object[]> => {
      const response = await server.send(token, 'GET', '/api/chat/c');
      return ((await response.json()) as { readonly messages: readonly object[] }).messages;
    };
    const say = async (messages: readonly object[]): Promise<string> => {
      const response = await server.send(token, 'POST', '/api/chat', { id: 'c', model: 'openai', messages });
      return /"executionId":"([^"]+)"/.exec(await response.text())?.[1] ?? '';
    };
    const stored = async (): Promise<Readonly<Record<string, number>>> =>
      ((await usageOf(token)) as { readonly kinds: Readonly<Record<string, number>> }).kinds;
    await say([first]);
    expect((await stored())['runs']).to.be.within(LONG.length, LONG.length + 5_000);
    expect((await stored())['chats']).to.be.below(1_000);
    const [question, answer] = await read();
    expect(question).to.deep.equal(first);
    const next = { id: 'n', role: 'user', parts: [{ type: 'text', text: 'And now?' }] };
    const executionId = await say([first, answer ?? {}, next]);
    expect((await read()).slice(0, 3)).to.deep.equal([first, answer, next]);
    expect((await stored())['chats']).to.be.below(5_000);
    await until(async () => (await server.send(token, 'DELETE', `/api/runs/${executionId}`)).status === 200);
    expect(await read()).to.deep.equal([first, answer, next]);
  });

  it('is charged for conversations that small requests have stored again', async () => {
    const ann = await someone();
    const { executionId } = (await (await run(ann)).json()) as { readonly executionId: string };
    await until(async () =>
      (await (await server.send(ann, 'GET', `/api/runs/${executionId}`)).text()).includes('"completed"'),
    );
    const again = (fields: object) =>
      server.send(ann, 'POST', '/api/runs', { requestId: randomUUID(), providerId: 'openai', tools: [], ...fields });
    const statuses: number[] = [];
    for (const fields of [
      { continues: executionId, input: 'Go on.' },
      { repeats: executionId },
      { forkOf: { executionId, turn: 1 }, input: 'Or this.' },
      { continues: executionId, input: 'Go on.' },
      { continues: executionId, input: 'Go on.' },
    ])
      statuses.push((await again(fields)).status);
    expect(statuses).to.deep.equal([202, 202, 202, 202, 507]);
  });

  it('is charged for the histories that the messages of a conversation have stored again', async () => {
    const ann = await someone();
    const { simulator } = server;
    const before = simulator.requests.length;
    const stream = await server.send(ann, 'GET', '/api/output/stream?conversation=c');
    // Each run has the messages before its own: 56 kB, 112 kB, …
    const sent = { conversation: 'c', message: 'Short. '.repeat(8_000), model: 'openai' };
    for (const answered of [1, 2, 3, 4, 4]) {
      expect((await server.send(ann, 'POST', '/api/input', sent)).status).to.equal(202);
      await until(() => simulator.requests.length === before + answered);
    }
    let events = '';
    for await (const chunk of stream.body ?? []) {
      events += Buffer.from(chunk).toString();
      if (events.includes('What you have stored takes')) break;
    }
    expect(simulator.requests.length - before).to.equal(4);
    expect((await usageOf(ann)).bytes).to.be.within(LIMIT / 2, LIMIT);
  });

  it('is charged for a compressed body as it is stored', async () => {
    const ann = await someone();
    const body = gzipSync(
      JSON.stringify({
        id: 'c',
        model: 'openai',
        messages: [{ id: 'm', role: 'user', parts: [{ type: 'text', text: 'x'.repeat(LIMIT) }] }],
      }),
    );
    const response = await fetch(`${server.url}/api/chat`, {
      method: 'POST',
      headers: { authorization: `Bearer ${ann}`, 'content-type': 'application/json', 'content-encoding': 'gzip' },
      body,
    });
    expect([response.status, (await usageOf(ann)).bytes]).to.deep.equal([507, 0]);
  });

  it('counts what a running run stores', async () => {
    const ann = await someone();
    // Without spaces, it is streamed in one piece.
    server.simulator.enqueue({ text: LONG.replaceAll(' ', '_').repeat(4) });
    await run(ann);
    await until(async () => (await usageOf(ann)).bytes > LIMIT * 0.9);
  });
});

describe('the collections of a server', () => {
  const namesOf = (bound: CollectionBound): readonly string[] =>
    COLLECTIONS.filter((collection) => collection.bound === bound)
      .map(({ name }) => name)
      .toSorted();

  it('are bounded as SECURITY.md says', async () => {
    const text = await readFile(join(__dirname, '../../SECURITY.md'), 'utf8');
    const [, table = ''] = text.split('| bound | collections |');
    const rows = table.split('\n').filter((line) => /^\| .* \| `ai_/.test(line));
    const listed = rows.map((row) => [...row.matchAll(/`(ai_\w+)`/g)].map(([, name]) => name));
    const bounds = ['account', 'evicted', 'entries', 'brief', 'small'] as const;
    expect(listed).to.deep.equal(bounds.map(namesOf));
  });

  it('are bounded wherever requests of users add to them', () => {
    const left = COLLECTIONS.filter(
      ({ bound, ofUsers }) =>
        bound === 'operators' && ofUsers.some(({ author, isLimit }) => author === undefined && isLimit !== true),
    );
    expect(left.map(({ name }) => name)).to.deep.equal([]);
  });
});
