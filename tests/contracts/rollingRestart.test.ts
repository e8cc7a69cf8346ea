/** Three processes are restarted one after the other under load: no request fails, and no run waits for long. */
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
import { describeInFull } from '../support/describeInFull';
import { RoundRobinProxy } from '../support/RoundRobinProxy';
import { startTestMongo } from '../support/startTestMongo';
import type { TestMongo } from '../support/startTestMongo';
import { until } from '../support/until';

const TOKEN = 'token-of-the-rolling-restart';
const SERVERS = 3;
/** Milliseconds between two runs that are started. */
const PACE = 500;
/** Milliseconds that a restart may make a run wait. */
const LONGEST_WAIT = 2_000;
const CALM_RUNS = 20;
/** How long a process goes on answering after the balancer could know that it goes: a pre-stop hook's time. */
const PRE_STOP = 2_000;

class Server {
  private readonly child: ChildProcess;
  private output = '';

  constructor(bundle: string, env: NodeJS.ProcessEnv) {
    this.child = fork(bundle, [], { execArgv: [], env, stdio: ['ignore', 'pipe', 'inherit', 'ipc'] });
    this.child.stdout?.on('data', (data: Buffer) => (this.output += data.toString()));
  }

  get url(): string {
    return /http:\/\/[\d.:]+/.exec(this.output)?.[0] ?? '';
  }

  async stop(): Promise<unknown> {
    this.child.kill('SIGTERM');
    const [code] = (await once(this.child, 'exit')) as [unknown];
    return code;
  }

  kill(): void {
    this.child.kill('SIGKILL');
  }
}

describeInFull('a rolling restart of three processes under load', function () {
  this.timeout(180_000);
  let mongo: TestMongo;
  let simulator: Simulator;
  let proxy: RoundRobinProxy;
  let bundle: string;
  let directory: string;
  const servers = new Set<Server>();

  before(async () => {
    [mongo, simulator, proxy, bundle, directory] = await Promise.all([
      startTestMongo(),
      startSimulator({ model: { respond: () => ({ calls: [], text: 'Done.', ending: 'complete' }) } }),
      RoundRobinProxy.start(),
      bundleChild(join(__dirname, '../support/drainChild.ts')),
      mkdtemp(join(tmpdir(), 'bolide-rolling-')),
    ]);
  });
  after(async () => {
    for (const server of servers) server.kill();
    await Promise.all([proxy.close(), simulator.close(), mongo.stop(), rm(directory, { recursive: true }), rm(bundle)]);
  });

  const start = async (): Promise<Server> => {
    const server = new Server(bundle, {
      PATH: process.env['PATH'],
      PORT: '0',
      DATA_DIR: directory,
      MONGO_URL: mongo.url,
      JOBS_ENGINE: 'local',
      LOG_LEVEL: 'warn',
      BOLIDE_API_TOKEN: TOKEN,
      USER_REQUESTS_PER_MINUTE: '100000',
      AI_SECRET_KEYS: `k1:${Buffer.alloc(32, 1).toString('base64')}`,
      OPENAI_API_KEY: 'k',
      OPENAI_API_BASE: simulator.baseURL('openai'),
    });
    servers.add(server);
    await until(() => server.url !== '');
    proxy.add(server.url);
    return server;
  };
  const call = (path: string, body?: object): Promise<Response> =>
    fetch(proxy.url + path, {
      headers: { authorization: `Bearer ${TOKEN}`, 'content-type': 'application/json' },
      ...(body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) }),
    });

  it('fails no request, and lets no run wait for more than two seconds', async () => {
    for (let count = 0; count < SERVERS; count += 1) await start();
    await until(() => proxy.readyCount === SERVERS);
    const failed: string[] = [];
    const runs: string[] = [];
    const requested: Promise<void>[] = [];
    const load = setInterval(() => {
      const requestId = `r${requested.length}`;
      requested.push(
        call('/runs', { requestId, providerId: 'openai', model: 'gpt-5', input: `Run ${requestId}` }).then(
          async (response) => {
            const body = (await response.json()) as { readonly executionId?: string };
            if (body.executionId === undefined) failed.push(`${requestId}: ${JSON.stringify(body)}`);
            else runs.push(body.executionId);
          },
          (error: unknown) => failed.push(`${requestId}: ${String(error)}`),
        ) as Promise<void>,
      );
    }, PACE);
    for (const old of [...servers]) {
      // What a deployment does: the next one is ready, the balancer leaves the old one out, and it is stopped.
      await start();
      await until(() => proxy.readyCount === SERVERS + 1);
      proxy.remove(old.url);
      await new Promise((resolve) => setTimeout(resolve, PRE_STOP));
      expect(await old.stop()).to.equal(0);
      servers.delete(old);
    }
    clearInterval(load);
    await Promise.all(requested);
    expect(failed).to.deep.equal([]);
    expect(proxy.failures).to.deep.equal([]);
    const longest = Math.max(...(await waitsOf(runs, failed)));
    expect(failed).to.deep.equal([]);
    // The same without a restart, since a slow machine makes runs wait, too.
    const others: string[] = [];
    for (let count = 0; count < CALM_RUNS; count += 1) {
      const body = { requestId: `calm${count}`, providerId: 'openai', model: 'gpt-5', input: 'Calm' };
      const { executionId } = (await (await call('/runs', body)).json()) as { readonly executionId: string };
      others.push(executionId);
      await new Promise((resolve) => setTimeout(resolve, PACE));
    }
    const calm = Math.max(...(await waitsOf(others, failed)));
    console.log(`      ${runs.length} runs, none failed; longest ${longest} ms, without a restart ${calm} ms`);
    expect(longest).to.be.at.most(calm + LONGEST_WAIT);
  });

  /** Milliseconds from the request of each run to its end. The vendor answers at once. */
  const waitsOf = async (runs: readonly string[], failed: string[]): Promise<readonly number[]> => {
    const waits: number[] = [];
    for (const executionId of runs) {
      let run = await read(executionId);
      await until(async () => {
        run = await read(executionId);
        return run.endedAt !== undefined;
      });
      if (run.state !== 'completed') failed.push(`${executionId}: ${run.state}`);
      waits.push((run.endedAt ?? Infinity) - run.createdAt);
    }
    return waits;
  };

  interface Shown {
    readonly run: { readonly state: string; readonly createdAt: number; readonly endedAt?: number };
  }

  const read = async (executionId: string): Promise<Shown['run']> =>
    ((await (await call(`/runs/${executionId}`)).json()) as Shown).run;
});
