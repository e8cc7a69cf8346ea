/**
 * Forty runs whose process is killed several times in a row: each next process takes the runs over, and is killed
 * before, while or after they make progress. All of them end soon after the last start.
 */
import { fork } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { expect } from 'chai';
import type { Conversation } from '../../imports/simulator/model/Conversation';
import type { ModelTurn } from '../../imports/simulator/model/ModelTurn';
import type { Simulator } from '../../imports/simulator/Simulator';
import { startSimulator } from '../../imports/simulator/startSimulator';
import { bundleChild } from '../support/bundleChild';
import { until } from '../support/until';

const TOKEN = 'token-of-the-repeated-crashes';
const RUNS = 40;
/** Calls of the tool `look`, of 150 ms each, in each run. */
const STEPS = 5;
/** Milliseconds between two events of a response, of which there are about ten. */
const PACE = 30;
/** Milliseconds from the last start until all runs have ended, besides what runs take that nothing interrupts. */
const GOAL = 20_000;
const CRASHES = [1, 2, 3, 6];
/** Milliseconds from the first model call of a process to its end. No run ends in six such lives. */
const LIVES = [0, 300];

let modelCalls = 0;

function respond({ turns }: Conversation): ModelTurn {
  modelCalls += 1;
  const results = turns.filter(({ type }) => type === 'result').length;
  if (results >= STEPS) return { calls: [], text: 'Done.', ending: 'complete' };
  return { calls: [{ name: 'look', arguments: '{}' }], ending: 'complete' };
}

describe('forty runs whose process is killed several times in a row', () => {
  let simulator: Simulator;
  let bundle: string;
  let child: ChildProcess | undefined;

  before(async () => {
    bundle = await bundleChild(join(__dirname, '../support/restartChild.ts'));
    simulator = await startSimulator({ model: { respond }, chunkDelayMs: PACE });
  });
  after(async () => {
    child?.kill('SIGKILL');
    await Promise.all([simulator.close(), rm(bundle)]);
  });

  /** @returns its address */
  const start = async (directory: string): Promise<string> => {
    let output = '';
    child = fork(bundle, [], {
      execArgv: [],
      env: {
        PATH: process.env['PATH'],
        PORT: '0',
        DATA_DIR: directory,
        LOG_LEVEL: 'warn',
        USER_REQUESTS_PER_MINUTE: '0',
        BOLIDE_API_TOKEN: TOKEN,
        OPENAI_API_KEY: 'k',
        OPENAI_API_BASE: simulator.baseURL('openai'),
      },
      stdio: ['ignore', 'pipe', 'inherit', 'ipc'],
    });
    child.stdout?.on('data', (data: Buffer) => (output += data.toString()));
    const address = (): string | undefined => /http:\/\/[\d.:]+/.exec(output)?.[0];
    await until(() => address() !== undefined);
    return address() ?? '';
  };
  const kill = async (): Promise<void> => {
    const exited = once(child!, 'exit');
    child!.kill('SIGKILL');
    await exited;
  };
  const call = async <Answer>(url: string, path: string, body?: object): Promise<Answer> => {
    const response = await fetch(`${url}/api${path}`, {
      headers: { authorization: `Bearer ${TOKEN}`, 'content-type': 'application/json' },
      ...(body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) }),
    });
    expect(response.ok, await response.clone().text()).to.equal(true);
    return (await response.json()) as Answer;
  };
  const startRun = async (url: string, requestId: string): Promise<string> =>
    (
      await call<{ readonly executionId: string }>(url, '/runs', {
        requestId,
        providerId: 'openai',
        model: 'gpt-5',
        input: 'Go.',
        tools: ['look'],
      })
    ).executionId;
  const stateOf = async (url: string, executionId: string): Promise<string> =>
    (await call<{ readonly run: { readonly state: string } }>(url, `/runs/${executionId}`)).run.state;

  interface Ends {
    /** Milliseconds from the last start until half of the runs, and all of them, have ended. */
    readonly half: number;
    readonly all: number;
  }

  /** @param life milliseconds from the first model call of a process to its end */
  const measure = async (crashes: number, life: number): Promise<Ends> => {
    const directory = await mkdtemp(join(tmpdir(), 'bolide-crashes-'));
    let url = await start(directory);
    let startedAt = performance.now();
    let seen = modelCalls;
    const runs = await Promise.all(
      Array.from({ length: RUNS }, (_each, index) => startRun(url, `run-${life}-${crashes}-${index}`)),
    );
    for (let crash = 1; crash <= crashes; crash += 1) {
      await until(() => modelCalls > seen);
      await pause(life);
      await kill();
      seen = modelCalls;
      url = await start(directory);
      startedAt = performance.now();
    }
    const ends: number[] = [];
    let left = runs;
    while (left.length > 0) {
      const states = await Promise.all(left.map((executionId) => stateOf(url, executionId)));
      const ended = left.filter((_run, index) => states[index] === 'completed');
      ends.push(...ended.map(() => performance.now() - startedAt));
      left = left.filter((executionId) => !ended.includes(executionId));
      if (left.length > 0) await pause(100);
    }
    await kill();
    await rm(directory, { recursive: true });
    const [half = 0, all = 0] = [ends[RUNS / 2], ends.at(-1)];
    console.log(
      `      half have ended after ${seconds(half)}, all after ${seconds(all)}; load ${loadavg()[0]?.toFixed(1)}`,
    );
    return { half, all };
  };

  let calm: Ends;
  it('end without a crash', async function () {
    this.timeout(PATIENCE);
    calm = await measure(0, 0);
  });

  for (const life of LIVES)
    for (const crashes of CRASHES)
      it(`end within ${seconds(GOAL)} more after ${crashes} crashes, each ${life} ms after the first call`, async function () {
        this.timeout(PATIENCE);
        const { all } = await measure(crashes, life);
        expect(all).to.be.below(GOAL + calm.all);
      });
});

/** Milliseconds of each test, even on a slow machine. */
const PATIENCE = 180_000;

function seconds(milliseconds: number): string {
  return `${(milliseconds / 1_000).toFixed(1)} s`;
}
