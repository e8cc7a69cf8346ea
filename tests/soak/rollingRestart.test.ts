/** Three processes are restarted one after the other under load: no request fails, and no run waits for long. */
import { fork } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import type { Simulator } from '../../imports/simulator/Simulator';
import type { Conversation } from '../../imports/simulator/model/Conversation';
import type { ModelTurn } from '../../imports/simulator/model/ModelTurn';
import { startSimulator } from '../../imports/simulator/startSimulator';
import { bundleChild } from '../support/bundleChild';
import { RoundRobinProxy } from '../support/RoundRobinProxy';
import { startTestMongo } from '../support/startTestMongo';
import type { TestMongo } from '../support/startTestMongo';
import { until } from '../support/until';

const TOKEN = 'token-of-the-rolling-restart';
const SERVERS = 3;
/** Milliseconds between two runs that are started. */
const PACE = 500;
/** Runs without a restart, whose waits those of a restart are compared with. */
const CALM_RUNS = 5;
/** Milliseconds that a restart may make a run wait. */
const LONGEST_WAIT = 2_000;
/** Calls of the tool `step` in each run. */
const STEPS = 2;
/** What a few runs are asked, which call `think` once: others must not wait for them. */
const SLOW = 'Think about it.';
/** Seconds for which a process that is not ready any more goes on, so that the balancer notices. */
const NOTICE = 1;

function respond({ turns }: Conversation): ModelTurn {
  const isSlow = turns.some((turn) => turn.type === 'user' && turn.text === SLOW);
  const results = turns.filter(({ type }) => type === 'result').length;
  if (results >= (isSlow ? 1 : STEPS)) return { calls: [], text: 'Done.', ending: 'complete' };
  return { calls: [{ name: isSlow ? 'think' : 'step', arguments: '{}' }], ending: 'complete' };
}

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
    const exited = once(this.child, 'exit');
    this.child.kill('SIGTERM');
    const [code] = (await exited) as [unknown];
    return code;
  }

  kill(): void {
    this.child.kill('SIGKILL');
  }
}

describe('a rolling restart of three processes under load', () => {
  let mongo: TestMongo;
  let simulator: Simulator;
  let proxy: RoundRobinProxy;
  let bundle: string;
  let directory: string;
  const servers = new Set<Server>();

  before(async () => {
    [mongo, simulator, proxy, bundle, directory] = await Promise.all([
      startTestMongo(),
      startSimulator({ model: { respond } }),
      RoundRobinProxy.start(),
      bundleChild(join(__dirname, '../support/restartChild.ts')),
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
      SHUTDOWN_NOTICE_SECONDS: String(NOTICE),
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
    const slow: string[] = [];
    const requested: Promise<void>[] = [];
    const request = async (input: string, started: string[]): Promise<void> => {
      const requestId = `r${requested.length}`;
      try {
        const response = await call('/runs', {
          requestId,
          providerId: 'openai',
          model: 'gpt-5',
          input,
          tools: ['step', 'think'],
        });
        const body = (await response.json()) as { readonly executionId?: string };
        if (body.executionId === undefined) failed.push(`${requestId}: ${JSON.stringify(body)}`);
        else started.push(body.executionId);
      } catch (error) {
        failed.push(`${requestId}: ${String(error)}`);
      }
    };
    // Without a restart, runs wait for a slow machine, too, on which another process starts.
    const calm: string[] = [];
    let started = calm;
    const load = setInterval(() => requested.push(request('Go.', started)), PACE);
    await start();
    await until(() => proxy.readyCount === SERVERS + 1 && calm.length >= CALM_RUNS);
    const usual = Math.max(...(await waitsOf(calm, failed)));
    started = runs;
    for (const old of [...servers].slice(0, SERVERS)) {
      // What a deployment does: the next one is ready, then the old one is stopped. The balancer asks `/ready` only.
      await start();
      await until(() => proxy.readyCount === SERVERS + 2);
      // One in each process.
      for (let count = 0; count < SERVERS + 2; count += 1) requested.push(request(SLOW, slow));
      expect(await old.stop()).to.equal(0);
      proxy.remove(old.url);
      servers.delete(old);
    }
    clearInterval(load);
    await Promise.all(requested);
    const longest = Math.max(...(await waitsOf(runs, failed)));
    await waitsOf(slow, failed);
    expect(failed).to.deep.equal([]);
    expect(proxy.failures).to.deep.equal([]);
    console.log(`      ${runs.length} runs, none failed; longest ${longest} ms, without a restart ${usual} ms`);
    expect(longest).to.be.at.most(usual + LONGEST_WAIT);
  });

  /** Milliseconds from the request of each run to its end. */
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
