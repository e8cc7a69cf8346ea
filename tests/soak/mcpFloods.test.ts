/** MCP servers that flood their client with notifications, each in a process of its own. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import { expect } from 'chai';
import { mcp } from '../../imports/business/mcp/mcp';
import type { ToolCallContext } from '../../imports/business/ai/domain/interfaces/IToolExecutor';
import { RecordingLogger } from '../support/RecordingLogger';

/** Each call of its tools is answered after a flood of the notifications that its name says. */
const SERVER = `
  const FLOODS = {
    list_changed: () => '{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}',
    progress: (token, count) => JSON.stringify({ jsonrpc: '2.0', method: 'notifications/progress', params: { progressToken: token, progress: count } }),
  };
  const COUNTS = { list_changed: 200_000, progress: 100_000 };
  function messagesFor({ id, method, params }) {
    if (id === undefined) return [];
    const tools = Object.keys(FLOODS).map((name) => ({ name, inputSchema: { type: 'object' } }));
    const result = {
      initialize: { protocolVersion: params?.protocolVersion, capabilities: { tools: { listChanged: true } }, serverInfo: { name: 's', version: '0' } },
      'tools/list': { tools },
      'tools/call': { content: [{ type: 'text', text: 'over' }] },
    }[method];
    const end = JSON.stringify({ jsonrpc: '2.0', id, ...(result === undefined ? { error: { code: -32601, message: 'Method not found' } } : { result }) });
    if (method !== 'tools/call') return [end];
    const { name, _meta } = params;
    return [...Array.from({ length: COUNTS[name] }, (_, count) => FLOODS[name](_meta?.progressToken, count)), end];
  }
  if (process.argv[1] === 'stdio') {
    let text = '';
    process.stdin.on('data', (chunk) => {
      text += chunk;
      for (let end; (end = text.indexOf('\\n')) >= 0; text = text.slice(end + 1))
        process.stdout.write(messagesFor(JSON.parse(text.slice(0, end))).map((message) => message + '\\n').join(''));
    });
  } else {
    const server = require('node:http').createServer(async (request, response) => {
      if (request.method !== 'POST') return response.writeHead(405).end();
      let text = '';
      for await (const chunk of request) text += chunk;
      const messages = messagesFor(JSON.parse(text));
      if (messages.length === 0) return response.writeHead(202).end();
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.end(messages.map((message) => 'data: ' + message + '\\n\\n').join(''));
    });
    server.listen(0, '127.0.0.1', () => console.log(server.address().port));
  }
`;
/** Milliseconds. Goal for a step of the event loop, in the processor time of its thread. */
const LONGEST_STEP = 100;
const INTERVAL = 5;
const MEASURED = 5_000;

const cpuMs = ({ user, system }: NodeJS.CpuUsage): number => (user + system) / 1_000;

describe('An MCP server that floods its client', () => {
  const open: (() => unknown)[] = [];
  afterEach(async () => {
    for (const close of open.splice(0).reverse()) await close();
  });

  const connect = async (transport: 'stdio' | 'http'): Promise<ReturnType<typeof mcp>> => {
    const options = { name: 's', logger: new RecordingLogger(), timeout: 300_000 };
    if (transport === 'stdio') return mcp({ ...options, command: process.execPath, args: ['-e', SERVER, 'stdio'] });
    const child = spawn(process.execPath, ['-e', SERVER, 'http'], { stdio: ['ignore', 'pipe', 'inherit'] });
    open.push(() => child.kill('SIGKILL'));
    const [port] = (await once(child.stdout, 'data')) as [Buffer];
    return mcp({ ...options, url: `http://127.0.0.1:${port.toString().trim()}/mcp`, allowPrivateHosts: true });
  };

  for (const transport of ['stdio', 'http'] as const)
    for (const notice of ['list_changed', 'progress'])
      it(`with ${notice} over ${transport} holds up no other work`, async () => {
        const source = await connect(transport);
        open.push(() => source.close());
        const tool = (await source.list()).find(({ name }) => name.endsWith(notice));
        const over = new AbortController();
        const context: ToolCallContext = {
          ...{ signal: over.signal, userId: 'ann', callId: 'c', executionId: 'e', idempotencyKey: 'e:c' },
          progress: () => undefined,
        };
        let longest = 0;
        let at = performance.now();
        let used = process.threadCpuUsage();
        const timer = setInterval(() => {
          const now = performance.now();
          longest = Math.max(longest, Math.min(now - at - INTERVAL, cpuMs(process.threadCpuUsage(used))));
          at = now;
          used = process.threadCpuUsage();
        }, INTERVAL);
        const called = Promise.resolve(tool?.execute?.({}, context)).then(
          () => 'answered',
          (error: unknown) => String(error),
        );
        const ended = await Promise.race([called, delay(MEASURED, 'flooding')]);
        clearInterval(timer);
        over.abort(new Error('The measurement is over.'));
        // Without a bound, it is over by now.
        expect(ended).to.equal('flooding');
        expect(longest).to.be.lessThan(LONGEST_STEP);
      });
});
