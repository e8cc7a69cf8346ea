/**
 * What the app costs under Meteor, counted on the stubs: the observers that each page opens, and the writes, observer
 * notifications and DDP messages of a run.
 */
import type { Topic } from '../../imports/business/ai/domain/types/Topics';
import type { DdpClient } from '../stubs/server/DdpClient';
import type { MemoryCollection } from '../stubs/server/MemoryCollection';
import { openObservers } from '../stubs/server/observers';
import { registry } from '../stubs/server/registry';
import { startMeteorApp } from './meteorApp';
import type { MeteorApp, Person } from './meteorApp';
import { until } from './until';

const changes = (...topics: readonly Topic[]) => topics.map((topic) => ['ai.changes', { topic }] as const);

/** The subscriptions of the dashboard's pages, including those of the navigation. */
export const PAGES = {
  overview: () => changes('runs', 'calls', 'requests'),
  runs: () => changes('runs', 'calls', 'providers'),
  run: (executionId: string) => [['ai.run', { executionId }], ...changes('runs', 'calls', 'requests')],
  tools: () => changes('runs', 'calls'),
  providers: () => changes('runs', 'calls', 'requests', 'providers'),
} as const satisfies Record<string, (executionId: string) => readonly (readonly [string, object?])[]>;

export type PageName = keyof typeof PAGES;

/** Turns of the model, of which the last calls no tools. */
export const RUNS = {
  'plain answer': { turns: 0, callsPerTurn: 0, deltas: 5, isSlow: false },
  'one tool call': { turns: 1, callsPerTurn: 1, deltas: 5, isSlow: false },
  'five turns of four calls': { turns: 5, callsPerTurn: 4, deltas: 5, isSlow: false },
  '2,000 deltas': { turns: 0, callsPerTurn: 0, deltas: 2_000, isSlow: true },
} as const;

export type RunName = keyof typeof RUNS;

export interface RunCost {
  /** Writes by collection. */
  readonly writes: Readonly<Record<string, number>>;
  /** How often an observer was notified of a write, with one admin on the overview and one on the run's page. */
  readonly notifications: number;
  /** DDP messages about documents, and their length as JSON, to the client on the run's page. */
  readonly messages: number;
  readonly bytes: number;
  /** Documents of live text, and how many of them were removed. */
  readonly liveTexts: { readonly added: number; readonly removed: number };
  readonly milliseconds: number;
}

export interface ObserverCost {
  /** Observers for one admin, for a second admin in addition, and for each user. */
  readonly admin: number;
  readonly secondAdmin: number;
  readonly user: number;
}

/** Counts the observers of each page. Every page is closed before the next one opens. */
export async function countObservers(app: MeteorApp): Promise<Readonly<Record<PageName, ObserverCost>>> {
  const executionId = await startRun(app, 'bob', 'plain answer');
  await ended(app, executionId);
  const total = (): number => collections().reduce((sum, [, each]) => sum + openObservers(each).length, 0);
  const costs = {} as Record<PageName, ObserverCost>;
  for (const [page, subscriptions] of Object.entries(PAGES)) {
    const before = total();
    const opened: DdpClient[] = [];
    const openAs = async (person: Person): Promise<number> => {
      const already = total();
      const client = app.client(person);
      opened.push(client);
      for (const [name, ...args] of subscriptions(executionId)) await client.subscribe(name, ...args).ready;
      return total() - already;
    };
    costs[page as PageName] = {
      admin: await openAs('ann'),
      secondAdmin: await openAs('ann'),
      user: await openAs('bob'),
    };
    for (const client of opened) client.close();
    await until(() => total() === before);
  }
  return costs;
}

/** Runs once with one admin on the overview and one on the run's page, and counts. */
export async function countRun(app: MeteorApp, name: RunName): Promise<RunCost> {
  // The first run of a process, of a user and of a minute also creates counters.
  await ended(app, await startRun(app, 'bob', 'plain answer'));
  await app.host.requestLog.flush();
  await app.host.module.usageSettled();
  const overview = app.client('ann');
  for (const [publication, ...args] of PAGES.overview()) await overview.subscribe(publication, ...args).ready;
  const page = app.client('ann');
  const writes: Record<string, number> = {};
  let notifications = 0;
  const unwatch = collections().map(([collection, memory]) =>
    memory.watch(({ ids, isById }) => {
      writes[collection] = (writes[collection] ?? 0) + 1;
      for (const { selector } of openObservers(memory))
        if (!isById || typeof selector._id !== 'string' || ids.includes(selector._id)) notifications += 1;
    }),
  );
  const startedAt = performance.now();
  const executionId = await startRun(app, 'bob', name);
  await page.subscribe('ai.run', { executionId }).ready;
  await ended(app, executionId);
  await until(() => page.documents('ai_runs').some(({ state }) => state === 'completed'));
  const milliseconds = performance.now() - startedAt;
  for (const stop of unwatch) stop();
  const documents = page.messages.filter(({ collection }) => collection !== undefined);
  const liveTexts = documents.filter(({ collection }) => collection === 'ai_deltas');
  overview.close();
  page.close();
  return {
    writes,
    notifications,
    messages: documents.length,
    bytes: documents.reduce((sum, message) => sum + JSON.stringify(message).length, 0),
    liveTexts: {
      added: liveTexts.filter(({ msg }) => msg === 'added').length,
      removed: liveTexts.filter(({ msg }) => msg === 'removed').length,
    },
    milliseconds,
  };
}

/** Starts the app, measures everything, and stops it. */
export async function measureMeteor(): Promise<{
  readonly observers: Readonly<Record<PageName, ObserverCost>>;
  readonly ofProcess: number;
  readonly runs: Readonly<Record<RunName, RunCost>>;
}> {
  const app = await startMeteorApp();
  try {
    const ofProcess = collections().reduce((sum, [, each]) => sum + openObservers(each).length, 0);
    const observers = await countObservers(app);
    const runs = {} as Record<RunName, RunCost>;
    for (const name of Object.keys(RUNS) as RunName[]) runs[name] = await countRun(app, name);
    return { observers, ofProcess, runs };
  } finally {
    await app.stop();
  }
}

let requests = 0;

async function startRun(app: MeteorApp, person: Person, name: RunName): Promise<string> {
  const { turns, callsPerTurn, deltas, isSlow } = RUNS[name];
  const calls = Array.from({ length: callsPerTurn }, (_, call) => ({
    name: 'clock',
    arguments: { text: `call ${call}` },
  }));
  for (let turn = 0; turn < turns; turn += 1) app.simulator.enqueue({ calls });
  app.simulator.enqueue({
    text: Array.from({ length: deltas }, (_, word) => `word${word}`).join(' '),
    ...(isSlow ? { fault: { kind: 'slow', chunkBytes: 800, delayMs: 3 } } : {}),
  });
  const { executionId } = (await app.call(person, 'ai.runs.start', {
    requestId: `cost-${(requests += 1)}`,
    providerId: 'shared',
    input: 'Go',
    tools: ['clock'],
  })) as { executionId: string };
  return executionId;
}

/** The run has ended and is counted in the statistics. */
async function ended(app: MeteorApp, executionId: string): Promise<void> {
  const runs = app.host.database.published('ai_runs');
  const stats = app.host.database.published('ai_stats');
  await until(async () => {
    const run = await runs.findOneAsync({ _id: executionId, state: 'completed', counted: 'completed' });
    const open = await stats.find({ state: 'running', count: { $gt: 0 } }).countAsync();
    return run !== undefined && open === 0;
  });
  await until(async () => {
    const counts = (await stats.find({}).fetchAsync()) as unknown as readonly { readonly count: number }[];
    return counts.reduce((sum, { count }) => sum + count, 0) === (await runs.find({}).countAsync());
  });
}

function collections(): readonly (readonly [string, MemoryCollection])[] {
  return [...registry.collections];
}
