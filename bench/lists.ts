/**
 * Measures what lists, totals and reports cost at many runs: `npm run bench:lists -- [--runs 100000] [--rounds 7]
 * [--directory <DATA_DIR>] [--save]`. Without a directory it seeds a temporary one. CPU time counts, since other
 * programs share the machine; `elapsed` is what a client waits.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import type { DocumentCollection, StoredDocument } from '../imports/database/DocumentCollection';
import type { DocumentDatabase } from '../imports/database/DocumentDatabase';
import { openSqliteDatabase } from '../imports/database/sqlite/SqliteDatabase';
import { DocumentRequestStore } from '../imports/business/requestLog/infrastructure/DocumentRequestStore';
import { DocumentRunList } from '../imports/business/ai/infrastructure/persistence/runs/DocumentRunList';
import { openRunStore } from '../imports/business/ai/infrastructure/persistence/runs/DocumentRunStore';
import { seedDatabase } from '../scripts/seed/seedDatabase';
import { seededRandom } from '../scripts/seed/seededRandom';
import { listQueries } from './listQueries';
import type { ListQuery } from './listQueries';
import { saveSection, table } from './resultsPage';
import { median } from './statistics';

const OPTIONS = {
  runs: { type: 'string', default: '100000' },
  rounds: { type: 'string', default: '7' },
  directory: { type: 'string' },
  /** Writes RESULTS.md. */
  save: { type: 'boolean', default: false },
} as const;

const HEAD = ['query', 'goal', 'CPU ms', 'elapsed ms', 'first CPU ms', 'rows'];
/** Milliseconds of CPU time until the database is open and indexed. */
const START_GOAL = 2_000;

/** Milliseconds of CPU time that a query of 100,000 runs may take. */
const GOAL = 200;

interface Cost {
  /** Milliseconds. */
  readonly cpu: number;
  readonly elapsed: number;
}

async function main(): Promise<void> {
  const { values } = parseArgs({ options: OPTIONS });
  const directory = values.directory ?? (await mkdtemp(join(tmpdir(), 'bolide-lists-')));
  try {
    if (values.directory === undefined) await seed(directory, Number(values.runs));
    const rounds = Number(values.rounds);
    const rows = await measure(directory, rounds);
    if (values.save)
      await saveSection({
        title: `Lists of ${Number(values.runs).toLocaleString('en')} runs in the embedded store`,
        intro: '`npm run bench:lists -- --save`: milliseconds, medians of the rounds. CPU time counts.',
        head: HEAD,
        keys: 1,
        rows,
        rounds,
      });
  } finally {
    if (values.directory === undefined) await rm(directory, { recursive: true });
  }
}

async function seed(directory: string, runs: number): Promise<void> {
  const database = await openSqliteDatabase({ directory });
  await openRunStore(database);
  await new DocumentRequestStore(database).ready();
  const waiting = Math.round(runs / 100);
  await seedDatabase(database, { runs, waiting, now: Date.now(), random: seededRandom(1) });
  await database.close();
}

/** @returns the rows of the results */
async function measure(directory: string, rounds: number): Promise<string[][]> {
  let database: Awaited<ReturnType<typeof openSqliteDatabase>> | undefined;
  const start = await costOf(async () => {
    database = await openSqliteDatabase({ directory });
  });
  if (database === undefined) throw new Error('The database did not open.');
  const opened = database;
  try {
    const keys = new Map<string, string[]>();
    const recording = recordIndexes(opened, keys);
    const indexes = await costOf(async () => {
      await openRunStore(recording);
      await new DocumentRunList(recording).ready();
      await new DocumentRequestStore(recording).ready();
    });
    globalThis.gc?.();
    const { heapUsed, rss } = process.memoryUsage();
    console.log(
      `Opened in ${seconds(start)}, indexed in ${seconds(indexes)}; ${megabytes(heapUsed)} of heap, ${megabytes(rss)} resident.\n`,
    );
    const rows = [
      row('open and index', START_GOAL, {
        cpu: start.cpu + indexes.cpu,
        elapsed: start.elapsed + indexes.elapsed,
      }),
    ];
    for (const query of listQueries(opened, Date.now())) rows.push(await measureQuery(query, rounds));
    console.log(table(HEAD, rows));
    console.log('\n| collection | indexes |\n| --- | --- |');
    for (const [name, list] of keys) console.log(`| ${name} | ${list.join(', ')} |`);
    return rows;
  } finally {
    await opened.close();
  }
}

/** @param keys the indexes that are created, by collection, such as `state, -createdAt` */
function recordIndexes(database: DocumentDatabase, keys: Map<string, string[]>): DocumentDatabase {
  return {
    isExclusive: database.isExclusive,
    collection<T extends StoredDocument>(name: string): DocumentCollection<T> {
      const collection = database.collection<T>(name);
      const recording = Object.create(collection) as DocumentCollection<T>;
      recording.ensureIndex = (fields, options) => {
        const described = Object.entries(fields).map(([field, direction]) => (direction === 1 ? field : `-${field}`));
        keys.set(name, [...(keys.get(name) ?? []), `\`${described.join(', ')}\``]);
        return collection.ensureIndex(fields, options);
      };
      return recording;
    },
    close: () => database.close(),
  };
}

async function measureQuery({ name, run }: ListQuery, rounds: number): Promise<string[]> {
  const costs: Cost[] = [];
  let found = 0;
  for (let round = 0; round <= rounds; round += 1)
    costs.push(
      await costOf(async () => {
        found = await run();
      }),
    );
  // The first time counts by itself: it compiles code and may fill what later queries use.
  const [first = { cpu: 0 }, ...others] = costs;
  const cost = { cpu: median(others.map(({ cpu }) => cpu)), elapsed: median(others.map(({ elapsed }) => elapsed)) };
  return row(name, GOAL, cost, first.cpu.toFixed(1), String(found));
}

function row(name: string, goal: number, { cpu, elapsed }: Cost, first = '–', found = '–'): string[] {
  const milliseconds = cpu.toFixed(1);
  return [name, `≤ ${goal}`, cpu <= goal ? milliseconds : `**${milliseconds}**`, elapsed.toFixed(1), first, found];
}

async function costOf(work: () => Promise<unknown>): Promise<Cost> {
  const before = process.cpuUsage();
  const from = performance.now();
  await work();
  const { user, system } = process.cpuUsage(before);
  return { cpu: (user + system) / 1_000, elapsed: performance.now() - from };
}

function seconds({ cpu, elapsed }: Cost): string {
  return `${(cpu / 1_000).toFixed(1)} s of CPU (${(elapsed / 1_000).toFixed(1)} s elapsed)`;
}

function megabytes(bytes: number): string {
  return `${Math.round(bytes / 2 ** 20)} MB`;
}

main().catch((error: unknown) => {
  console.error(error);
  process.exitCode = 1;
});
