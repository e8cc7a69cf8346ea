/** Servers that lie, flood, stay silent or go away. None of them harms the process, and each is named in an error. */
import { once } from 'node:events';
import { Readable } from 'node:stream';
import { createMcpHandler } from '@modelcontextprotocol/server';
import { expect } from 'chai';
import type { ToolCallContext } from '../../../../imports/business/ai/domain/interfaces/IToolExecutor';
import { mcp } from '../../../../imports/business/mcp/mcp';
import type { McpOptions } from '../../../../imports/business/mcp/mcp';
import { createMcpFetch } from '../../../../imports/business/mcp/infrastructure/createMcpFetch';
import { McpSource } from '../../../../imports/business/mcp/infrastructure/McpSource';
import { paceStream } from '../../../../imports/business/mcp/infrastructure/pacedStdio';
import { ProgressReporter } from '../../../../imports/business/mcp/infrastructure/ProgressReporter';
import { itInSoak } from '../../../support/soak';
import { failure } from '../../../support/failure';
import { INITIALIZE, jsonRpc, serveMcp, withSessions } from '../../../support/mcp/serveMcp';
import type { ServedMcp } from '../../../support/mcp/serveMcp';
import type { JsonObject } from '../../../../imports/business/ai/domain/types/VendorTypes';
import { createState, createTestServer } from '../../../support/mcp/testServer';
import { RecordingLogger } from '../../../support/RecordingLogger';
import { until } from '../../../support/until';
import { itInVirtualTime } from '../../../support/itInVirtualTime';

const OBJECT = { type: 'object' } as const;
const tool = (name: string, fields: object = {}): object => ({
  name,
  inputSchema: OBJECT,
  ...fields,
});

describe('a hostile MCP server', () => {
  const open: (() => Promise<void>)[] = [];
  let logger: RecordingLogger;
  beforeEach(() => {
    logger = new RecordingLogger();
  });
  afterEach(async () => {
    for (const close of open.splice(0).reverse()) await close();
  });

  const context = (fields: Partial<ToolCallContext> = {}): ToolCallContext => ({
    signal: new AbortController().signal,
    userId: 'ann',
    callId: 'c',
    executionId: 'e',
    idempotencyKey: 'e:c',
    progress: () => undefined,
    ...fields,
  });
  const serve = async (handle: (request: Request) => Promise<Response>): Promise<ServedMcp> => {
    const served = await serveMcp(handle);
    open.push(() => served.close());
    return served;
  };
  const connect = (url: string, options: Partial<McpOptions> = {}): McpSource => {
    const source = mcp({
      name: 't',
      url,
      allowPrivateHosts: true,
      logger,
      ...options,
    });
    open.push(() => source.close());
    return source;
  };
  const sourceOf = async (
    results: Parameters<typeof jsonRpc>[0],
    options: Partial<McpOptions> = {},
  ): Promise<McpSource> => connect((await serve(jsonRpc({ ...INITIALIZE, ...results }))).url, options);
  /** Calls the only tool. */
  const call = async (source: McpSource, fields: Partial<ToolCallContext> = {}): Promise<unknown> => {
    const [first] = await source.list();
    return first?.execute?.({}, context(fields));
  };

  it('is not reached at a private address that is not permitted', async () => {
    let requests = 0;
    const { url } = await serve(() =>
      Promise.resolve(new Response(null, { status: 500, statusText: `${(requests += 1)}` })),
    );
    for (const allowPrivateHosts of [false, ['10.0.0.0/8']])
      expect(await failure(connect(url, { allowPrivateHosts }).list())).to.have.property('code', 'connection-failed');
    expect(requests).to.equal(0);
  });

  it('cannot redirect requests, with their headers, to another origin', async () => {
    const thief = await serve(() => Promise.resolve(new Response(null, { status: 200 })));
    const { url } = await serve(() =>
      Promise.resolve(new Response(null, { status: 307, headers: { location: thief.url } })),
    );
    await failure(connect(url, { headers: { authorization: 'Bearer secret' } }).list());
    expect(thief.requests).to.deep.equal([]);
  });

  /** Answers a call with events, then goes on as told, and takes a stream up again, or does not. */
  const dyingSource = async (
    events: string,
    end: 'ends' | 'breaks',
    resumed?: (id: number) => Response,
  ): Promise<McpSource> => {
    let calledAs = 0;
    const answer = jsonRpc({
      ...INITIALIZE,
      'tools/list': () => ({ tools: [tool('a')] }),
      'tools/call': () => {
        const body = new ReadableStream<Uint8Array>({
          start(controller) {
            controller.enqueue(Buffer.from(events));
            if (end === 'ends') controller.close();
          },
          pull: (controller) => (end === 'breaks' ? controller.error(new Error('gone')) : undefined),
        });
        return new Response(body, { headers: { 'content-type': 'text/event-stream' } });
      },
    });
    const { url } = await serve(async (request) => {
      if (request.method === 'GET' && request.headers.has('last-event-id') && resumed !== undefined)
        return resumed(calledAs);
      const { id, method } = request.method === 'POST' ? ((await request.clone().json()) as JsonObject) : {};
      if (method === 'tools/call') calledAs = Number(id);
      return answer(request);
    });
    return connect(url, { timeout: 5_000 });
  };

  for (const end of ['ends', 'breaks'] as const)
    it(`whose stream ${end} without an answer fails the call at once`, async () => {
      const error = await failure(call(await dyingSource(': hello\n\n', end)));
      expect(String(error)).to.include('The connection to the MCP server ended before it answered.');
    });

  it('whose stream ends and is not taken up again fails the call then', async () => {
    const error = await failure(call(await dyingSource('retry: 10\nid: 1\ndata: \n\n', 'ends')));
    expect(String(error)).to.include('It cannot be resumed: status 405.');
  });

  it('whose stream ends and is taken up again answers', async () => {
    const source = await dyingSource('retry: 10\nid: 1\ndata: \n\n', 'ends', (id) => {
      const message = { jsonrpc: '2.0', id, result: { content: [{ type: 'text', text: 'late' }] } };
      const headers = { 'content-type': 'text/event-stream' };
      return new Response(`id: 2\ndata: ${JSON.stringify(message)}\n\n`, { headers });
    });
    expect(JSON.stringify(await call(source))).to.include('late');
  });

  it('that reuses names, or makes two names the same, has one tool of each', async () => {
    const source = await sourceOf({
      'tools/list': () => ({
        tools: [tool('a', { description: 'first' }), tool('a', { description: 'second' }), tool('b.c'), tool('b/c')],
      }),
    });
    const tools = await source.list();
    expect(tools[0]).to.include({ name: 't_a', description: 'first' });
    expect(new Set(tools.map(({ name }) => name)).size).to.equal(3);
    expect(logger.warnings.join()).to.include('"a": the server has listed another tool of this name');
  });

  it('that lists tools without end is cut off', async () => {
    let page = 0;
    const source = await sourceOf(
      {
        'tools/list': () => ({
          tools: Array.from({ length: 10 }, (_, index) => tool(`tool${page}_${index}`)),
          nextCursor: `${(page += 1)}`,
        }),
      },
      { maxTools: 25 },
    );
    expect(await source.list()).to.have.length(25);
    expect(page).to.equal(25);
    expect(logger.warnings.length).to.equal(11);
    expect(logger.warnings.at(-1)).to.include('225 tools');
  });

  it('has descriptions bounded, without invisible characters, and names and schemas of a sane size', async () => {
    const source = await sourceOf(
      {
        'tools/list': () => ({
          tools: [
            tool('long', { description: 'x'.repeat(1_000) }),
            tool('hidden', {
              description: 'Reads.\u200b\u{e0049}\u{e0067}\u202e\u0007 Now.',
            }),
            tool('n'.repeat(300)),
            tool('huge', {
              inputSchema: { ...OBJECT, description: 'x'.repeat(70_000) },
            }),
          ],
        }),
      },
      { maxDescriptionLength: 50 },
    );
    const tools = await source.list();
    expect(tools.map(({ name }) => name)).to.deep.equal(['t_long', 't_hidden']);
    expect(tools[0]?.description).to.have.length(50);
    expect(tools[1]?.description).to.equal('Reads. Now.');
  });

  it('that sends 100 MB is stopped at the limit, as JSON and as an event', async () => {
    let sent = 0;
    const endless = (type: string): Response => {
      const chunk = Buffer.alloc(64 * 1024, 'x');
      return new Response(
        new ReadableStream({
          pull: (controller) => {
            sent += chunk.length;
            if (sent >= 100 * 1024 * 1024) controller.close();
            else controller.enqueue(chunk);
          },
        }),
        { headers: { 'content-type': type } },
      );
    };
    for (const type of ['application/json', 'text/event-stream']) {
      sent = 0;
      const source = await sourceOf(
        {
          'tools/list': () => ({ tools: [tool('big')] }),
          'tools/call': () => endless(type),
        },
        { maxMessageBytes: 1024 * 1024, timeout: 5_000 },
      );
      const error = await failure(call(source));
      expect(String(error)).to.include('a message of more than 1048576 bytes');
      // What sockets and streams buffer beside the limit.
      expect(sent).to.be.below(16 * 1024 * 1024);
    }
  });

  itInVirtualTime(
    'that never answers costs a call its time limit, and then the calls of that user, or of all, fail at once for a while',
    async () => {
      let calls = 0;
      const source = await sourceOf(
        {
          'tools/list': () => ({ tools: [tool('silent')] }),
          'tools/call': () => {
            calls += 1;
            return new Promise(() => undefined);
          },
        },
        { timeout: 150 },
      );
      const [silent] = await source.list();
      const callAs = (userId: string): Promise<unknown> =>
        failure(Promise.resolve(silent?.execute?.({}, context({ userId }))));
      for (let attempt = 0; attempt < 5; attempt += 1) expect(String(await callAs('mallory'))).to.match(/timed out/i);
      expect(await callAs('mallory')).to.have.property('code', 'connection-failed');
      // What one user asks for may be what the server does not answer.
      expect(source.health).to.include({ state: 'connected', failures: 0 });
      for (let attempt = 0; attempt < 2; attempt += 1) expect(String(await callAs('bob'))).to.match(/timed out/i);
      expect(source.health).to.include({ state: 'unreachable', failures: 5 });
      expect(source.health.retryAt).to.be.greaterThan(Date.now());
      for (const userId of ['mallory', 'bob', 'carl'])
        expect(await callAs(userId)).to.have.property('code', 'connection-failed');
      // A request may have timed out before the server had read it.
      expect(calls).to.be.at.most(7);
    },
  );

  itInVirtualTime('that floods a stream is read at a bounded rate, and others have their turn', async () => {
    const notice = 'data: {"jsonrpc":"2.0","method":"notifications/tools/list_changed"}\n\n';
    const { url } = await serve(() =>
      Promise.resolve(new Response(notice.repeat(10_000), { headers: { 'content-type': 'text/event-stream' } })),
    );
    const fetch = createMcpFetch({ allowPrivateHosts: true, timeout: 60_000, maxMessageBytes: 1_000_000 });
    open.push(async () => fetch.close());
    const startedAt = Date.now();
    const text = await (await fetch(url)).text();
    expect(text).to.have.length(notice.length * 10_000);
    // A thousand a second, and the rest of the chunk in which they arrive.
    expect(Date.now() - startedAt).to.be.within(3_000, 15_000);
  });

  itInVirtualTime('that floods its standard output is read at a bounded rate until it is closed', async () => {
    const notice = '{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}\n';
    const output = Readable.from(Array<Buffer>(20).fill(Buffer.from(notice.repeat(500))));
    let lines = 0;
    output.on('data', (chunk: Buffer) => (lines += chunk.length / notice.length));
    const readFreely = paceStream(output);
    const startedAt = Date.now();
    await until(() => lines >= 5_000);
    expect(Date.now() - startedAt).to.be.within(4_000, 5_000);
    expect(lines).to.equal(5_000);
    readFreely();
    await once(output, 'end');
    expect(lines).to.equal(10_000);
    expect(Date.now() - startedAt).to.be.below(5_000);
  });

  itInVirtualTime('that does not answer when it is connected does not hold up the start', async () => {
    const { url } = await serve(() => new Promise(() => undefined));
    const source = connect(url, { connectTimeout: 50 });
    expect(await failure(source.list())).to.have.property('code', 'connection-failed');
    expect(source.health).to.include({ state: 'unreachable', failures: 1 });
  });

  it('that answers with something else is refused', async () => {
    for (const result of [{ content: 'text' }, 'text', { content: [{ type: 'film' }] }, null]) {
      const source = await sourceOf({
        'tools/list': () => ({ tools: [tool('odd')] }),
        'tools/call': () => result,
      });
      expect(await failure(call(source))).to.be.instanceOf(Error);
      await source.close();
    }
  });

  it('that breaks the promise of its output schema is refused', async () => {
    const sum = {
      type: 'object',
      properties: { sum: { type: 'number' } },
      required: ['sum'],
    };
    for (const [structuredContent, problem] of [
      [{ sum: 'three' }, 'must be a number'],
      [undefined, 'there is no structured content'],
    ] as const) {
      const source = await sourceOf({
        'tools/list': () => ({ tools: [tool('add', { outputSchema: sum })] }),
        'tools/call': () => ({
          content: [{ type: 'text', text: '3' }],
          structuredContent,
        }),
      });
      expect(await failure(call(source)))
        .to.have.property('message')
        .that.includes(problem);
    }
  });

  itInSoak('has its schemas compiled and its results checked off the event loop', async () => {
    const evil = {
      type: 'object',
      properties: { a: { type: 'string', pattern: '^(a+)+$' } },
    };
    const source = await sourceOf({
      'tools/list': () => ({ tools: [tool('slow', { outputSchema: evil })] }),
      'tools/call': () => ({
        content: [],
        structuredContent: { a: `${'a'.repeat(40)}!` },
      }),
    });
    let turns = 0;
    let hasEnded = false;
    const turn = (): void => {
      turns += 1;
      if (!hasEnded) setImmediate(turn);
    };
    turn();
    expect(await failure(call(source))).to.be.instanceOf(Error);
    hasEnded = true;
    expect(turns).to.be.above(20);
  });

  itInVirtualTime('that floods with progress is thinned out, and what comes after the end is dropped', async () => {
    const reported: number[] = [];
    const reporter = new ProgressReporter((fraction) => void reported.push(fraction));
    for (let step = 0; step < 10_000; step += 1) reporter.report({ progress: step, total: 10_000 });
    expect(reported).to.deep.equal([0]);
    await until(() => reported.length === 2);
    expect(reported[1]).to.equal(0.9999);
    reporter.end();
    reporter.report({ progress: 1 });
    expect(reported).to.have.length(2);
  });

  it('that forgets its sessions gets a new one, and the call is made once', async () => {
    const state = createState();
    let handle = withSessions(() => createTestServer(state, ['2025-11-25']));
    const { url } = await serve((request) => handle(request));
    const source = connect(url);
    const [add] = await source.list();
    handle = withSessions(() => createTestServer(state, ['2025-11-25']));
    expect(await add?.execute?.({ a: 1, b: 2 }, context())).to.deep.equal({
      sum: 3,
    });
    expect(state.calls).to.deep.equal(['add']);
  });

  itInVirtualTime(
    'that is away is tried again with pauses, and says that its tools may have changed when it is back',
    async () => {
      const first = await serve(() => Promise.resolve(new Response(null, { status: 503 })));
      const port = Number(new URL(first.url).port);
      await first.close();
      const source = new McpSource(
        { name: 't', url: first.url, allowPrivateHosts: true },
        { logger, findViolations: () => Promise.resolve([]), retryDelay: 20 },
      );
      open.push(() => source.close());
      let changes = 0;
      source.onChange(() => (changes += 1));
      expect(await failure(source.list())).to.have.property('code', 'connection-failed');
      await until(() => source.health.failures >= 3);
      const handler = createMcpHandler(() => createTestServer(createState()));
      open.push(() => handler.close());
      const served = await serveMcp((request) => handler.fetch(request), port);
      open.push(() => served.close());
      await until(() => changes > 0);
      expect(await source.list()).to.have.length(12);
      expect(source.health).to.include({ state: 'connected', failures: 0 });
    },
  );
});
