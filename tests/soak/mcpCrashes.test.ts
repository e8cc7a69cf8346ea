/** Processes that are killed while an MCP server works on a task of theirs, or waits for an answer. */
import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { createMcpHandler } from '@modelcontextprotocol/server';
import { expect } from 'chai';
import { fieldsOf } from '../../imports/business/ai/domain/util/json';
import { requestWithTasks } from '../support/mcp/requestWithTasks';
import { serveMcp } from '../support/mcp/serveMcp';
import { serveTasks } from '../support/mcp/serveTasks';
import { createState, createTestServer } from '../support/mcp/testServer';
import { until } from '../support/until';

describe('a process that is killed during a call of an MCP server', () => {
  let place: string;
  const children: ChildProcess[] = [];
  beforeEach(async () => {
    place = await mkdtemp(join(tmpdir(), 'bolide-mcp-'));
  });
  afterEach(async () => {
    for (const child of children.splice(0)) await kill(child);
    await rm(place, { recursive: true, force: true });
  });

  const start = async (url: string, tool: string) => {
    const child = spawn(
      process.execPath,
      ['--require', 'tsx/cjs', 'tests/support/mcp/taskChild.ts', place, url, tool],
      { stdio: ['pipe', 'pipe', 'inherit'], env: { ...process.env, TSX_TSCONFIG_PATH: 'tsconfig.node.json' } },
    );
    children.push(child);
    const lines: string[] = [];
    createInterface({ input: child.stdout }).on('line', (line) => lines.push(line));
    await until(() => lines.includes('ready'));
    return { child, lines, send: (line: string) => child.stdin.write(`${line}\n`) };
  };

  for (const revision of ['2026-07-28', '2025-11-25'] as const)
    it(`leaves the task to the next one, which delivers its result once (${revision})`, async () => {
      const server = await serveTasks(revision);
      const first = await start(server.url, 't_report');
      first.send('run r');
      await until(() => server.polls > 2 && first.lines.filter((line) => line.startsWith('model')).length === 2);
      await kill(first.child);
      const { polls } = server;
      const second = await start(server.url, 't_report');
      await until(() => server.polls > polls + 1);
      server.finish();
      await until(() => second.lines.includes('result the report'));
      await server.close();
      expect(server.created).to.deep.equal(['task-1']);
      expect(server.cancelled).to.deep.equal([]);
      expect(second.lines.filter((line) => line.startsWith('model'))).to.deep.equal(['model 1']);
      expect(second.lines).not.to.include('e tool:needs_review');
    });

  it('leaves the question to the next one, which gives the server the answer', async () => {
    const state = createState();
    const handler = createMcpHandler(() => createTestServer(state));
    const served = await serveMcp((request) => handler.fetch(request));
    const first = await start(served.url, 't_book');
    first.send('run r');
    await until(() => first.lines.includes('e tool:input_required'));
    await kill(first.child);
    const second = await start(served.url, 't_book');
    await until(() => second.lines.includes('e run:started'));
    second.send('submit r {"seats":4}');
    const answered = '{"action":"accept","content":{"seats":4,"outside":true}}';
    await until(() => second.lines.includes(`result ${answered}`));
    expect(state.calls).to.deep.equal(['book', 'book', `booked ${answered} table 7`]);
    await handler.close();
    await served.close();
  });
});

describe('a server that is killed during a call that is a task', () => {
  let place: string;
  const children: ChildProcess[] = [];
  beforeEach(async () => {
    place = await mkdtemp(join(tmpdir(), 'bolide-mcp-'));
  });
  afterEach(async () => {
    for (const child of children.splice(0)) await kill(child);
    await rm(place, { recursive: true, force: true });
  });

  it('tells the client that it does not know what became of it, and does not call the tool again', async () => {
    const start = async () => {
      const args = ['--require', 'tsx/cjs', 'tests/support/mcp/taskServerChild.ts', place];
      const child = spawn(process.execPath, args, {
        stdio: ['ignore', 'pipe', 'inherit'],
        env: { ...process.env, TSX_TSCONFIG_PATH: 'tsconfig.node.json' },
      });
      children.push(child);
      const lines: string[] = [];
      createInterface({ input: child.stdout }).on('line', (line) => lines.push(line));
      await until(() => lines.some((line) => line.startsWith('ready')));
      const [, url = '', token = ''] = lines.find((line) => line.startsWith('ready'))?.split(' ') ?? [];
      return { child, lines, server: { url, token } };
    };
    const first = await start();
    const begun = fieldsOf(await requestWithTasks(first.server, 'tools/call', { name: 'report' }));
    await until(() => first.lines.includes('called'));
    await kill(first.child);
    const second = await start();
    const { taskId } = begun;
    for (let reading = 0; reading < 2; reading += 1)
      expect(await requestWithTasks(second.server, 'tasks/get', { taskId })).to.deep.include({
        ...{ taskId, status: 'failed' },
        error: {
          code: -32_603,
          message: 'The process that ran the tool has ended. Whether the tool took effect is not known.',
        },
      });
    expect(second.lines).not.to.include('called');
  });
});

async function kill(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exited = once(child, 'exit');
  child.kill('SIGKILL');
  await exited;
}
