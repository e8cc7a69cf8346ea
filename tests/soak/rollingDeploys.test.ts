/**
 * A server that is stopped by a signal finishes what it can, and leaves its runs to another process at once. One that
 * lacks a tool leaves them to one that has it.
 */
import { fork } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import type { Simulator } from '../../imports/simulator/Simulator';
import { startSimulator } from '../../imports/simulator/startSimulator';
import { bundleChild } from '../support/bundleChild';
import type { ToolStart } from '../support/drainChild';
import { startTestMongo } from '../support/startTestMongo';
import type { TestMongo } from '../support/startTestMongo';
import { until } from '../support/until';

const TOKEN = 'token-of-the-rolling-deploys';

class Server {
  readonly child: ChildProcess;
  readonly started: ToolStart[] = [];
  readonly exited: Promise<unknown[]>;
  private output = '';

  constructor(bundle: string, env: Readonly<Record<string, string>>) {
    this.child = fork(bundle, [], { execArgv: [], env, stdio: ['ignore', 'pipe', 'inherit', 'ipc'] });
    this.exited = once(this.child, 'exit');
    this.child.stdout?.on('data', (data: Buffer) => (this.output += data.toString()));
    this.child.on('message', (message: ToolStart | 'ready') => {
      if (message !== 'ready') this.started.push(message);
    });
  }

  get url(): string {
    return /http:\/\/[\d.:]+/.exec(this.output)?.[0] ?? '';
  }

  get tools(): readonly string[] {
    return this.started.map(({ tool }) => tool).sort();
  }

  async call(path: string, body?: object): Promise<Response> {
    return fetch(this.url + path, {
      headers: { authorization: `Bearer ${TOKEN}`, 'content-type': 'application/json' },
      ...(body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) }),
    });
  }

  async start(tools: readonly string[]): Promise<string> {
    const response = await this.call('/runs', { requestId: 'r1', providerId: 'openai', input: 'Go.', tools });
    const { executionId } = (await response.json()) as { readonly executionId: string };
    return executionId;
  }

  /** Waits where a user may ask no more often. */
  async read(executionId: string): Promise<StoredViews> {
    const response = await this.call(`/runs/${executionId}`);
    const body = (await response.json()) as StoredViews;
    if (response.ok) return body;
    const retryAfter = Number(response.headers.get('retry-after'));
    if (response.status !== 429) throw new Error(`${response.status}: ${JSON.stringify(body)}`);
    await new Promise((resolve) => setTimeout(resolve, retryAfter * 1_000));
    return this.read(executionId);
  }
}

interface StoredViews {
  readonly run: { readonly state: string; readonly awaitedTools?: { readonly names: readonly string[] } };
  readonly toolCalls: readonly { readonly name: string; readonly state: string }[];
}

describe('a server that is stopped by a signal', () => {
  let mongo: TestMongo;
  let bundle: string;
  let simulator: Simulator;
  let directory: string;
  let children: Server[];

  before(async () => {
    [mongo, bundle] = await Promise.all([startTestMongo(), bundleChild(join(__dirname, '../support/drainChild.ts'))]);
  });
  after(async () => {
    await mongo.stop();
    await rm(bundle);
  });
  beforeEach(async () => {
    [simulator, directory] = await Promise.all([startSimulator(), mkdtemp(join(tmpdir(), 'bolide-drain-'))]);
    children = [];
  });
  afterEach(async () => {
    for (const { child } of children) child.kill('SIGKILL');
    await simulator.close();
    await rm(directory, { recursive: true });
  });

  let databases = 0;
  const startServers = async (graceSeconds: string): Promise<readonly [Server, Server]> => {
    const start = startsServers(graceSeconds);
    return [await start({ FIRST: 'yes' }), await start({})];
  };
  /** @returns starts a server on one and the same database, and resolves when it listens */
  const startsServers = (graceSeconds: string): ((more: Readonly<Record<string, string>>) => Promise<Server>) => {
    const database = new URL(mongo.url);
    database.pathname += `_${(databases += 1)}`;
    const env = {
      PATH: process.env['PATH'] ?? '',
      PORT: '0',
      DATA_DIR: directory,
      MONGO_URL: database.href,
      JOBS_ENGINE: 'local',
      BOLIDE_API_TOKEN: TOKEN,
      AI_SECRET_KEYS: `k1:${Buffer.alloc(32, 1).toString('base64')}`,
      OPENAI_API_KEY: 'k',
      OPENAI_API_BASE: simulator.baseURL('openai'),
      SHUTDOWN_GRACE_SECONDS: graceSeconds,
    };
    return async (more) => {
      const server = new Server(bundle, { ...env, ...more });
      children.push(server);
      await until(() => server.url !== '');
      return server;
    };
  };

  it('is not ready at once, lets tools finish, and leaves the rest of the run to another process', async () => {
    const [first, second] = await startServers('600');
    simulator.enqueue({ calls: [{ name: 'wait' }] });
    simulator.enqueue({ text: 'Done.' });
    const executionId = await first.start(['wait']);
    await until(() => first.tools.length === 1);
    await simulator.nextRequest();
    expect((await first.call('/ready')).status).to.equal(200);
    first.child.kill('SIGTERM');
    await until(async () => (await first.call('/ready')).status === 503);
    expect((await first.call('/health')).status).to.equal(200);
    expect((await first.call('/runs', { requestId: 'r2', providerId: 'openai', input: 'Go.' })).status).to.equal(503);
    expect((await first.call('/v1/responses', { model: 'openai', input: 'Go.' })).status).to.equal(503);
    first.child.send('finished');
    expect(await first.exited).to.deep.equal([0, null]);
    const request = await simulator.nextRequest();
    expect(JSON.stringify(request.body)).to.contain('finished');
    await until(async () => (await second.read(executionId)).run.state === 'completed');
    // Nothing of it was left to a person, or run again.
    expect((await second.read(executionId)).toolCalls.map(({ state }) => state)).to.deep.equal(['completed']);
    expect(second.tools).to.deep.equal([]);
  });

  it('interrupts tools when the time is over, and says of each whether it may run again', async () => {
    const [first, second] = await startServers('0.2');
    const names = ['careful', 'keyed', 'unkeyed', 'deaf'];
    simulator.enqueue({ calls: names.map((name) => ({ name })) });
    const executionId = await first.start(names);
    await until(() => first.tools.length === names.length);
    first.child.kill('SIGTERM');
    expect(await first.exited).to.deep.equal([0, null]);
    await until(() => second.tools.length === 2);
    await until(async () => (await second.read(executionId)).toolCalls.every(({ state }) => state !== 'executing'));
    const states = (await second.read(executionId)).toolCalls.map(({ name, state }) => [name, state]);
    expect(Object.fromEntries(states)).to.deep.equal({
      careful: 'completed',
      keyed: 'completed',
      unkeyed: 'needs_review',
      deaf: 'needs_review',
    });
    expect(second.tools).to.deep.equal(['careful', 'keyed']);
    const keyOf = ({ started }: Server): string | undefined => started.find(({ tool }) => tool === 'keyed')?.key;
    expect(keyOf(second)).to.equal(keyOf(first));
  });

  it('hands its runs over at once at the second signal', async () => {
    const [first, second] = await startServers('600');
    simulator.enqueue({ calls: [{ name: 'keyed' }] });
    await first.start(['keyed']);
    await until(() => first.tools.length === 1);
    first.child.kill('SIGTERM');
    await until(async () => (await first.call('/ready')).status === 503);
    first.child.kill('SIGTERM');
    expect(await first.exited).to.deep.equal([0, null]);
    await until(() => second.tools.length === 1);
    expect(second.started).to.deep.equal(first.started);
  });

  it('is not kept from handing its runs over by a model call that does not end', async () => {
    const [first, second] = await startServers('0.2');
    simulator.enqueue(() => new Promise(() => undefined));
    const executionId = await first.start([]);
    await simulator.nextRequest();
    simulator.enqueue({ text: 'Done elsewhere.' });
    first.child.kill('SIGTERM');
    expect(await first.exited).to.deep.equal([0, null]);
    await until(async () => (await second.read(executionId)).run.state === 'completed');
  });

  for (const order of ['before', 'after'] as const)
    for (const signal of ['SIGTERM', 'SIGKILL'] as const)
      it(`leaves its runs to one that has their tools, and starts ${order} its ${signal}`, async () => {
        const start = startsServers('0.2');
        const [first, old] = [await start({ FIRST: 'yes' }), await start({ LACKS: 'keyed' })];
        const early = order === 'before' ? await start({}) : undefined;
        simulator.enqueue({ calls: [{ name: 'keyed' }] });
        const executionId = await first.start(['keyed']);
        await until(() => first.tools.length === 1);
        simulator.enqueue({ text: 'Done.' });
        first.child.kill(signal);
        await first.exited;
        if (early === undefined) {
          await until(async () => (await old.read(executionId)).run.awaitedTools !== undefined);
          expect((await old.read(executionId)).run.awaitedTools?.names).to.deep.equal(['keyed']);
          // Nobody is there to continue it, until a process with its tool comes.
          old.child.kill('SIGKILL');
          await old.exited;
        }
        const next = early ?? (await start({}));
        await until(async () => (await next.read(executionId)).run.state === 'completed');
        const { run, toolCalls } = await next.read(executionId);
        expect(run).to.not.have.property('awaitedTools');
        expect(toolCalls.map(({ state }) => state)).to.deep.equal(['completed']);
        expect(next.started).to.deep.equal(first.started);
        expect(old.started).to.deep.equal([]);
      });
});
