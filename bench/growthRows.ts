/** The rows of `npm run bench:growth`: each stores data in one process, and is measured in the next. */
import { readdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import pLimit from 'p-limit';
import { AgenticLoop } from '../imports/business/ai/application/services/AgenticLoop';
import { RunRecovery } from '../imports/business/ai/application/services/RunRecovery';
import type { ILLMProvider } from '../imports/business/ai/domain/interfaces/ILLMProvider';
import type { Item } from '../imports/business/ai/domain/types/ResponsesAPITypes';
import type { DocumentDatabase } from '../imports/database/DocumentDatabase';
import { openDatabase } from '../imports/database/openDatabase';
import { DocumentRunList } from '../imports/business/ai/infrastructure/persistence/runs/DocumentRunList';
import { openRunStore } from '../imports/business/ai/infrastructure/persistence/runs/DocumentRunStore';
import { RUNS } from '../imports/business/ai/infrastructure/persistence/runs/runDocuments';
import type { RunDocument } from '../imports/business/ai/infrastructure/persistence/runs/runDocuments';
import { RunRetention } from '../imports/business/ai/infrastructure/persistence/runs/RunRetention';
import { DocumentRequestStore } from '../imports/business/requestLog/infrastructure/DocumentRequestStore';
import { ToolRegistry } from '../imports/business/ai/infrastructure/tools/ToolRegistry';
import { startSimulator } from '../imports/simulator/startSimulator';
import { startServer } from '../imports/host/node/startServer';
import type { RunningServer } from '../imports/host/node/startServer';
import { CAPABILITIES } from '../imports/testing/capabilities';
import { answer, callItem, response } from '../imports/testing/responses';
import { cachedDashboard } from '../server/cachedDashboard';
import { seedDatabase } from '../scripts/seed/seedDatabase';
import { seededRandom } from '../scripts/seed/seededRandom';

/** @param scaled scales a count. @returns what was measured; of the last part */
export type Part = (directory: string, scaled: (count: number) => number) => Promise<string | undefined>;

export interface GrowthRow {
  readonly name: string;
  readonly goal: string;
  /** Store what is measured on. Each runs in a process of its own. */
  readonly stored: readonly Part[];
  readonly measure: Part;
}

const POSTS = 100;
const IDLE_MS = 20_000;
const DAY_MS = 86_400_000;
/** Retention finds nothing to remove. */
const KEEP = { RUNS_KEEP_WHOLE_DAYS: '3650', RUNS_KEEP_DAYS: '3650' } as const;
/** Somebody else submits its result. */
const WAIT = {
  name: 'wait',
  description: 'Waits.',
  parameters: { type: 'object', properties: {} },
  kind: 'external',
  blocking: false,
  timeout: DAY_MS,
} as const;

const NOTHING: readonly Part[] = [];
const FINISHED: readonly Part[] = [seed(20_000)];
const WAITING: readonly Part[] = [startWaiting(20_000)];
const MANY: readonly Part[] = [seed(100_000), startWaiting(10_000)];

export const GROWTH_ROWS: readonly GrowthRow[] = [
  {
    name: 'POST /api/runs with 100 finished runs',
    goal: 'the same for each',
    stored: [seed(100)],
    measure: postRuns(0),
  },
  {
    name: 'POST /api/runs with 20000 finished runs',
    goal: 'the same for each',
    stored: FINISHED,
    measure: postRuns(0),
  },
  { name: 'idle with 20000 finished runs', goal: '≤ 1 %', stored: FINISHED, measure: idle(0) },
  { name: 'removal of 20000 old runs', goal: '≤ 10 s', stored: [seed(20_000)], measure: sweep(0) },
  { name: 'compaction of 20000 old runs', goal: '≤ 20 s', stored: [seed(20_000)], measure: sweep(1_000 * DAY_MS) },
  {
    name: 'POST /api/runs with 100 runs that wait',
    goal: 'the same for each',
    stored: [startWaiting(100)],
    measure: postRuns(100),
  },
  {
    name: 'POST /api/runs with 20000 runs that wait',
    goal: 'the same for each',
    stored: WAITING,
    measure: postRuns(20_000),
  },
  { name: 'idle with 20000 runs that wait', goal: '≤ 1 %', stored: WAITING, measure: idleWaiting },
  {
    name: 'bytes written in a turn: turn 10, turn 60, mean',
    goal: '≤ 24 KB',
    stored: NOTHING,
    measure: bytesOfTurns,
  },
  { name: 'start of 10000 runs that wait', goal: '≤ 20 s', stored: [], measure: startWaiting(10_000) },
  { name: 'server: start of 10000 runs that wait', goal: '≤ 60 s', stored: [], measure: startOnServer(10_000) },
  { name: 'recovery of 1000 runs that wait', goal: '≤ 1 s', stored: [startWaiting(1_000)], measure: recover(1_000) },
  {
    name: 'recovery of 10000 runs that wait',
    goal: '≤ 10 s',
    stored: [startWaiting(10_000)],
    measure: recover(10_000),
  },
  { name: '110000 runs: size on the disk', goal: '–', stored: MANY, measure: size },
  { name: '110000 runs: start', goal: '≤ 1 s', stored: MANY, measure: open },
  { name: '110000 runs: first page of the list', goal: '≤ 50 ms', stored: MANY, measure: firstPage },
  { name: '110000 runs: POST /api/runs', goal: 'as with 100', stored: MANY, measure: postRuns(10_000) },
  { name: '110000 runs: idle', goal: '≤ 1 %', stored: MANY, measure: idle(10_000) },
  { name: '110000 runs: compaction of the files', goal: '–', stored: MANY, measure: purge },
  { name: '110000 runs: removal of 20000', goal: '≤ 10 s', stored: MANY, measure: sweepSome(20_000) },
];

function openIn(directory: string): Promise<DocumentDatabase> {
  return openDatabase({ DATA_DIR: directory });
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

/** @param waiting how many stored runs the server takes over first */
function postRuns(waiting: number): Part {
  return (directory, scaled) =>
    withServer(directory, scaled(waiting), async (server) => {
      const post = async (): Promise<void> => {
        const posted = await fetch(`${server.url}/api/runs`, {
          method: 'POST',
          headers: { authorization: `Bearer ${server.token}`, 'content-type': 'application/json' },
          body: JSON.stringify({ requestId: crypto.randomUUID(), providerId: 'openai', input: 'Hello' }),
        });
        if (posted.status !== 202) throw new Error(`POST /api/runs: ${posted.status} ${await posted.text()}`);
        const { executionId } = (await posted.json()) as { readonly executionId: string };
        await server.host.module.loop.waitForResult(executionId);
      };
      for (let warm = 0; warm < 20; warm += 1) await post();
      // Sweeps at the start have ended by then.
      await pause(3_000);
      const cost = await cpuOf(async () => {
        for (let count = 0; count < POSTS; count += 1) await post();
      });
      return `${(cost / POSTS).toFixed(1)} ms`;
    });
}

/** @param waiting how many stored runs the server takes over first */
function idle(waiting: number): Part {
  return (directory, scaled) =>
    withServer(directory, scaled(waiting), async () => {
      await pause(5_000);
      return percent(await cpuOf(() => pause(IDLE_MS)));
    });
}

async function withServer(
  directory: string,
  waiting: number,
  measure: (server: RunningServer) => Promise<string>,
): Promise<string> {
  const server = await startServer({
    env: { PORT: '0', DATA_DIR: directory, ...KEEP },
    tools: [WAIT],
    dashboard: cachedDashboard,
  });
  await untilOwned(server.host.module.loop, waiting);
  const figure = await measure(server);
  await server.close();
  return figure;
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
        DATA_DIR: directory,
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

/** @param runs the oldest ones */
function sweepSome(runs: number): Part {
  return async (directory, scaled) => {
    const database = await openIn(directory);
    await openStores(database);
    const [last] = await database
      .collection<RunDocument>(RUNS)
      .find({ endedAt: { $gt: 0 } }, { sort: { endedAt: 1 }, limit: scaled(runs), fields: { endedAt: 1 } })
      .then((found) => found.slice(-1));
    const retention = new RunRetention(database, {
      times: { compactAfter: 1_000 * DAY_MS, removeAfter: DAY_MS },
      now: () => (last?.endedAt ?? 0) + DAY_MS + 1,
    });
    await retention.ready();
    const from = await bytesWritten();
    let removed = 0;
    const cost = await cpuOf(async () => ({ removed } = await retention.sweep()));
    const bytes = (await bytesWritten()) - from;
    await database.close();
    return `${seconds(cost)} for ${removed}, ${megabytes(bytes)}`;
  };
}

async function purge(directory: string): Promise<string> {
  const { database, loop } = await openLoop(directory, { provider: providerOf(() => answer('done')) });
  await loop.execute('ann', { model: 'm', input: 'go' });
  const from = await bytesWritten();
  const cost = await cpuOf(async () => database.purge?.());
  const bytes = (await bytesWritten()) - from;
  await loop.close();
  await database.close();
  return `${seconds(cost)}, ${megabytes(bytes)}`;
}

async function size(directory: string): Promise<string> {
  const files = await readdir(directory, { recursive: true, withFileTypes: true });
  const sizes = files
    .filter((entry) => entry.isFile())
    .map(async ({ parentPath, name }) => (await stat(join(parentPath, name))).size);
  return megabytes((await Promise.all(sizes)).reduce((sum, bytes) => sum + bytes, 0));
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
  await new RunRetention(database).ready();
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
  const last = await bytesWritten();
  await loop.close();
  await database.close();
  const atEnd = (await bytesWritten()) - last;
  const of = (at: number): string => `${(((written[at] ?? 0) - (written[at - 1] ?? 0)) / 1_000).toFixed(1)} KB`;
  const mean = ((written[60] ?? 0) - (written[0] ?? 0)) / 60_000;
  return `${of(10)}, ${of(60)}, ${mean.toFixed(1)} KB; ${(atEnd / 61_000).toFixed(1)} KB at the end`;
}

/** Everything that this process has written so far. Linux counts it. */
async function bytesWritten(): Promise<number> {
  const [, bytes] = /^wchar: (\d+)$/m.exec(await readFile('/proc/self/io', 'utf8')) ?? [];
  return Number(bytes);
}

interface LoopOptions {
  readonly provider: ILLMProvider;
  /** The result of the tool `look`. */
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

/** Returns options of a loop whose runs call a tool whose result somebody else submits. */
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
    validateAccess: () => Promise.resolve({ valid: true }),
    stream: () => {
      throw new Error('Streaming is not expected here.');
    },
    // The loop passes the items of the conversation.
    generate: async (_userId, { input }) => respond(input as readonly Item[]),
  };
}

async function untilOwned(loop: AgenticLoop, runs: number): Promise<void> {
  while (loop.local.size < runs) await pause(20);
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

function megabytes(bytes: number): string {
  return `${(bytes / 1e6).toFixed(bytes < 1e7 ? 1 : 0)} MB`;
}

function seconds(ms: number): string {
  return `${(ms / 1_000).toFixed(1)} s`;
}
