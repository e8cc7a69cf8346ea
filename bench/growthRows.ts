/** The rows of `npm run bench:growth`: each stores data in one process, and is measured in the next. */
import { readFile } from 'node:fs/promises';
import { setTimeout as pause } from 'node:timers/promises';
import pLimit from 'p-limit';
import { AgenticLoop } from '../imports/business/ai/application/services/AgenticLoop';
import { RunRecovery } from '../imports/business/ai/application/services/RunRecovery';
import type { ILLMProvider } from '../imports/business/ai/domain/interfaces/ILLMProvider';
import type { Item } from '../imports/business/ai/domain/types/ResponsesAPITypes';
import type { DocumentDatabase } from '../imports/business/ai/infrastructure/persistence/databases/DocumentDatabase';
import { openDatabase } from '../imports/business/ai/infrastructure/persistence/databases/openDatabase';
import { DocumentRunList } from '../imports/business/ai/infrastructure/persistence/runs/DocumentRunList';
import { openRunStore } from '../imports/business/ai/infrastructure/persistence/runs/DocumentRunStore';
import { RunRetention } from '../imports/business/ai/infrastructure/persistence/runs/RunRetention';
import { DocumentRequestStore } from '../imports/business/ai/infrastructure/persistence/requests/DocumentRequestStore';
import { ToolRegistry } from '../imports/business/ai/infrastructure/tools/ToolRegistry';
import { startSimulator } from '../imports/simulator/startSimulator';
import { startServer } from '../imports/startup/node/startServer';
import { CAPABILITIES } from '../imports/testing/capabilities';
import { answer, callItem, response } from '../imports/testing/responses';
import { cachedDashboard } from '../server/cachedDashboard';
import { seedDatabase } from '../scripts/seed/seedDatabase';
import { seededRandom } from '../scripts/seed/seededRandom';

/** @param scaled scales a count. @returns what was measured; of the last part */
type Part = (directory: string, scaled: (count: number) => number) => Promise<string | undefined>;

export interface GrowthRow {
  readonly name: string;
  readonly goal: string;
  /** Each runs in a process of its own. */
  readonly parts: readonly Part[];
}

const POSTS = 100;
const IDLE_MS = 20_000;
const DAY_MS = 86_400_000;
/** Somebody else submits its result. */
const WAIT = {
  name: 'wait',
  description: 'Waits.',
  parameters: { type: 'object', properties: {} },
  external: true,
  blocking: false,
  timeout: DAY_MS,
} as const;

export const GROWTH_ROWS: readonly GrowthRow[] = [
  ...[100, 20_000].flatMap((runs): GrowthRow[] => [
    { name: `POST /runs with ${runs} finished runs`, goal: 'the same for each', parts: [seed(runs), postRuns] },
    {
      name: `POST /runs with ${runs} runs that wait`,
      goal: 'the same for each',
      parts: [startWaiting(runs), postRuns],
    },
  ]),
  { name: 'idle with 20000 finished runs', goal: '≤ 1 %', parts: [seed(20_000), idle] },
  { name: 'idle with 20000 runs that wait', goal: '≤ 1 %', parts: [startWaiting(20_000), idleWaiting] },
  { name: 'bytes written in a turn, turns 10 and 60', goal: 'the same for each', parts: [bytesOfTurns] },
  { name: 'start of 10000 runs that wait', goal: '≤ 20 s', parts: [startWaiting(10_000)] },
  { name: 'server: start of 10000 runs that wait', goal: '≤ 60 s', parts: [startOnServer(10_000)] },
  { name: 'recovery of 10000 runs that wait', goal: '≤ 10 s', parts: [startWaiting(10_000), recover(10_000)] },
  { name: 'removal of 20000 old runs', goal: '≤ 10 s', parts: [seed(20_000), sweep(0)] },
  { name: 'compaction of 20000 old runs', goal: '≤ 20 s', parts: [seed(20_000), sweep(1_000 * DAY_MS)] },
  { name: 'start with 100000 finished runs', goal: '≤ 2 s', parts: [seed(100_000), open] },
  {
    name: 'start with 100000 finished and 10000 waiting runs',
    goal: '≤ 1 s',
    parts: [seed(100_000), startWaiting(10_000), open],
  },
  {
    name: 'first page of 110000 runs',
    goal: '≤ 50 ms',
    parts: [seed(100_000), startWaiting(10_000), firstPage],
  },
  { name: 'recovery of 1000 runs that wait', goal: '≤ 1 s', parts: [startWaiting(1_000), recover(1_000)] },
];

/** The engine is a parameter of the benchmark. */
function placeIn(directory: string): { readonly DATA_DIR: string; readonly DATA_ENGINE: string | undefined } {
  return { DATA_DIR: directory, DATA_ENGINE: process.env['DATA_ENGINE'] };
}

function openIn(directory: string): Promise<DocumentDatabase> {
  return openDatabase(placeIn(directory));
}

function seed(runs: number): Part {
  return async (directory, scaled) => {
    const database = await openIn(directory);
    // A server declares its indexes before it stores anything.
    await openStores(database);
    await seedDatabase(database, { runs: scaled(runs), waiting: 0, now: Date.now(), random: seededRandom(1) });
    await database.close();
    return undefined;
  };
}

async function postRuns(directory: string): Promise<string> {
  const server = await startServer({
    env: { PORT: '0', ...placeIn(directory) },
    tools: [WAIT],
    dashboard: cachedDashboard,
  });
  const post = async (): Promise<void> => {
    const posted = await fetch(`${server.url}/runs`, {
      method: 'POST',
      headers: { authorization: `Bearer ${server.token}`, 'content-type': 'application/json' },
      body: JSON.stringify({ requestId: crypto.randomUUID(), providerId: 'openai', input: 'Hello' }),
    });
    if (posted.status !== 202) throw new Error(`POST /runs: ${posted.status} ${await posted.text()}`);
    const { executionId } = (await posted.json()) as { readonly executionId: string };
    await server.host.module.loop.waitForResult(executionId);
  };
  for (let warm = 0; warm < 20; warm += 1) await post();
  // Sweeps at the start have ended by then.
  await pause(3_000);
  const cost = await cpuOf(async () => {
    for (let count = 0; count < POSTS; count += 1) await post();
  });
  await server.close();
  return `${(cost / POSTS).toFixed(1)} ms`;
}

async function idle(directory: string): Promise<string> {
  const server = await startServer({
    env: { PORT: '0', ...placeIn(directory), RUNS_KEEP_WHOLE_DAYS: '3650', RUNS_KEEP_DAYS: '3650' },
    tools: [WAIT],
    dashboard: cachedDashboard,
  });
  await pause(5_000);
  const cost = await cpuOf(() => pause(IDLE_MS));
  await server.close();
  return percent(cost);
}

async function idleWaiting(directory: string, scaled: (count: number) => number): Promise<string> {
  const { database, loop, recovery } = await openLoop(directory, loopThatWaits());
  await recovery.start();
  await untilOwned(loop, scaled(20_000));
  await pause(2_000);
  const cost = await cpuOf(() => pause(IDLE_MS));
  recovery.stop();
  await loop.close();
  await database.close();
  return percent(cost);
}

function startWaiting(runs: number): Part {
  return async (directory, scaled) => {
    const { database, loop } = await openLoop(directory, loopThatWaits());
    const from = performance.now();
    const cost = await cpuOf(async () => {
      const starts = Array.from({ length: scaled(runs) }, (_, index) =>
        loop.execute(`user ${index % 50}`, { model: 'm', input: 'go', tools: ['wait'], onPending: 'return' }),
      );
      await Promise.all(starts);
    });
    const elapsed = performance.now() - from;
    await loop.close();
    await database.close();
    return `${seconds(cost)} (${seconds(elapsed)} elapsed)`;
  };
}

/** With everything that a server does for a run. */
function startOnServer(runs: number): Part {
  return async (directory, scaled) => {
    const simulator = await startSimulator();
    const server = await startServer({
      env: {
        PORT: '0',
        ...placeIn(directory),
        OPENAI_API_KEY: 'bench',
        OPENAI_API_BASE: simulator.baseURL('openai'),
        AI_ALLOW_PRIVATE_HOSTS: 'true',
      },
      tools: [WAIT],
      dashboard: cachedDashboard,
    });
    let waiting = 0;
    let onAll = (): void => undefined;
    server.host.module.loop.on('tool:executing', () => {
      waiting += 1;
      if (waiting === scaled(runs)) onAll();
    });
    const from = performance.now();
    const cost = await cpuOf(async () => {
      const all = new Promise<void>((resolve) => (onAll = resolve));
      const limit = pLimit(20);
      await Promise.all(
        Array.from({ length: scaled(runs) }, (_, index) =>
          limit(() =>
            server.host.operations['ai.runs.start'](
              { userId: `user ${index % 50}`, source: 'job', isAdmin: true },
              { requestId: `r${index}`, providerId: 'openai', input: 'Please call wait.', tools: ['wait'] },
            ),
          ),
        ),
      );
      await all;
    });
    const elapsed = performance.now() - from;
    await server.close();
    await simulator.close();
    return `${seconds(cost)} (${seconds(elapsed)} elapsed)`;
  };
}

function recover(runs: number): Part {
  return async (directory, scaled) => {
    const { database, loop, recovery } = await openLoop(directory, loopThatWaits());
    const from = performance.now();
    const cost = await cpuOf(async () => {
      await recovery.start();
      await untilOwned(loop, scaled(runs));
    });
    const elapsed = performance.now() - from;
    recovery.stop();
    await loop.close();
    await database.close();
    return `${seconds(cost)} (${seconds(elapsed)} elapsed)`;
  };
}

/** @param removeAfter milliseconds */
function sweep(removeAfter: number): Part {
  return async (directory) => {
    const database = await openIn(directory);
    await openRunStore(database);
    await new DocumentRunList(database).ready();
    const retention = new RunRetention(database, {
      times: { compactAfter: 0, removeAfter },
      now: () => Date.now() + DAY_MS,
    });
    await retention.ready();
    const cost = await cpuOf(() => retention.sweep());
    await database.close();
    return seconds(cost);
  };
}

async function open(directory: string): Promise<string> {
  let database: DocumentDatabase | undefined;
  const from = performance.now();
  const cost = await cpuOf(async () => {
    database = await openIn(directory);
    await openStores(database);
  });
  const elapsed = performance.now() - from;
  const { rss } = process.memoryUsage();
  await database?.close();
  return `${seconds(cost)} (${seconds(elapsed)} elapsed), ${Math.round(rss / 2 ** 20)} MB`;
}

async function openStores(database: DocumentDatabase): Promise<void> {
  await openRunStore(database);
  await new DocumentRunList(database).ready();
  await new DocumentRequestStore(database).ready();
}

async function firstPage(directory: string): Promise<string> {
  const database = await openIn(directory);
  await openRunStore(database);
  const list = new DocumentRunList(database);
  await list.ready();
  const page = (): Promise<unknown> => list.page({}, { sort: 'createdAt', order: 'desc', limit: 50 });
  const from = performance.now();
  await page();
  const first = performance.now() - from;
  const times: number[] = [];
  for (let count = 0; count < 20; count += 1) {
    const begun = performance.now();
    await page();
    times.push(performance.now() - begun);
  }
  const median = times.toSorted((left, right) => left - right)[10] ?? 0;
  await database.close();
  return `${first.toFixed(1)} ms, then ${median.toFixed(1)} ms`;
}

/** One run whose turns have a call each. */
async function bytesOfTurns(directory: string): Promise<string> {
  const written: number[] = [];
  let turn = 0;
  const provider = providerOf(async () => {
    written.push(await bytesWritten());
    turn += 1;
    return turn > 61
      ? answer('done')
      : response({ output: [callItem({ name: 'look', call_id: `c${turn}`, arguments: { at: turn } })] });
  });
  const { database, loop } = await openLoop(directory, { provider, result: 'x'.repeat(200) });
  await loop.execute('ann', { model: 'm', input: 'go', tools: ['look'], maxIterations: 100 });
  await loop.close();
  await database.close();
  const of = (at: number): string => `${(((written[at] ?? 0) - (written[at - 1] ?? 0)) / 1_000).toFixed(1)} KB`;
  return `${of(10)}, ${of(60)}`;
}

/** Everything that this process has written so far. Linux counts it. */
async function bytesWritten(): Promise<number> {
  const [, bytes] = /^wchar: (\d+)$/m.exec(await readFile('/proc/self/io', 'utf8')) ?? [];
  return Number(bytes);
}

interface LoopOptions {
  readonly provider: ILLMProvider;
  /** Of the tool `look`. */
  readonly result?: string;
}

async function openLoop(
  directory: string,
  { provider, result = '' }: LoopOptions,
): Promise<{
  readonly database: DocumentDatabase;
  readonly loop: AgenticLoop;
  readonly recovery: RunRecovery;
}> {
  const database = await openIn(directory);
  const store = await openRunStore(database);
  await new DocumentRunList(database).ready();
  const tools = new ToolRegistry().register(WAIT).register({ name: 'look', execute: () => result });
  const loop = new AgenticLoop({ provider, toolExecutor: tools, runStore: store });
  return { database, loop, recovery: new RunRecovery({ loop, store }) };
}

/** Its runs call a tool whose result somebody else submits. */
function loopThatWaits(): LoopOptions {
  return {
    provider: providerOf((items) =>
      items.some(({ type }) => type === 'function_call')
        ? answer('I wait.')
        : response({ output: [callItem({ name: 'wait' })] }),
    ),
  };
}

function providerOf(
  respond: (items: readonly Item[]) => ReturnType<typeof answer> | Promise<ReturnType<typeof answer>>,
): ILLMProvider {
  return {
    getProviderName: () => 'scripted',
    getCapabilities: () => CAPABILITIES,
    validateAccess: () => Promise.resolve(true),
    stream: () => {
      throw new Error('Streaming is not expected here.');
    },
    // The loop passes the items of the conversation.
    generate: async (_userId, { input }) => respond(input as readonly Item[]),
  };
}

async function untilOwned(loop: AgenticLoop, runs: number): Promise<void> {
  while (loop.size < runs) await pause(20);
}

/** Milliseconds of CPU time. */
async function cpuOf(work: () => Promise<unknown>): Promise<number> {
  const before = process.cpuUsage();
  await work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1_000;
}

function percent(cpu: number): string {
  return `${((100 * cpu) / IDLE_MS).toFixed(1)} %`;
}

function seconds(ms: number): string {
  return `${(ms / 1_000).toFixed(1)} s`;
}
