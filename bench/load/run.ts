/**
 * Measures a server under 200 runs at once of 5 turns and 8 calls each: `npm run bench:load -- [--runs 200]
 * [--seconds 40] [--readers 500] [--follow own|all] [--store sqlite|mongo] [--servers 1,2,3] [--profile <directory>]
 * [--save]`. Vendor, servers and readers are processes of their own; several servers share a MongoDB, and the runs.
 * Prints runs per second, CPU time of a run, the event loop's delay, and memory over time. `--minutes 10` measures for
 * longer. `MONGO_URL` names the MongoDB; default: the stand-in of the tests.
 */
import { fork } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { Agent } from 'node:http';
import { loadavg, tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { build } from 'esbuild';
import { end } from '../gateway/contenders';
import { mongoUrl } from '../mongoUrl';
import { saveSection, table } from '../resultsPage';
import type { Delays, ReaderQuestion, ReaderReport } from './messages';
import { ADMIN_TOKEN, BUILD, Server, Servers } from './servers';

const WARM_UP_MS = 5_000;
/** Milliseconds of a tick, in which Linux counts the CPU time of other processes. */
const TICK_MS = 10;

interface Load {
  readonly runs: number;
  readonly readers: number;
  readonly follow: string;
  readonly store: string;
  readonly servers: number;
  readonly ms: number;
  readonly profiles: string | undefined;
}

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      runs: { type: 'string', default: '200' },
      seconds: { type: 'string', default: '40' },
      minutes: { type: 'string' },
      readers: { type: 'string', default: '0,500' },
      follow: { type: 'string', default: 'own' },
      store: { type: 'string', default: 'sqlite' },
      servers: { type: 'string', default: '1' },
      profile: { type: 'string' },
      save: { type: 'boolean', default: false },
    },
  });
  await bundle();
  const ms = values.minutes === undefined ? Number(values.seconds) * 1_000 : Number(values.minutes) * 60_000;
  const rows: (readonly string[])[] = [];
  for (const store of values.store.split(','))
    for (const servers of values.servers.split(','))
      for (const readers of values.readers.split(','))
        rows.push(
          await measure({
            store,
            servers: Number(servers),
            readers: Number(readers),
            runs: Number(values.runs),
            follow: values.follow,
            ms,
            profiles: values.profile,
          }),
        );
  console.log(`\n${table(LOAD.head, rows)}`);
  if (values.save) await saveSection({ ...LOAD, rows });
}

const LOAD = {
  title: 'A server under load',
  intro:
    '`npm run bench:load -- --save`: 200 runs at once of 5 turns and 8 calls each. The processor time in the delays of the event loop excludes what other programs take on the machine.',
  head: [
    'runs',
    'readers',
    'store',
    'servers',
    'runs/s',
    'CPU of a run: servers, database, vendor',
    'failed',
    'loop delay p50, p99, max',
    'CPU in it p50, p99, max',
    'resident memory over time',
    'heap at the end, after a collection',
  ],
  keys: 4,
} as const;

async function bundle(): Promise<void> {
  await build({
    entryPoints: ['vendor', 'server', 'readers'].map((name) => path.join(__dirname, `${name}.ts`)),
    outdir: BUILD,
    bundle: true,
    packages: 'external',
    platform: 'node',
    target: 'node22',
    format: 'cjs',
    sourcemap: 'linked',
    logLevel: 'warning',
  });
}

async function measure(load: Load): Promise<readonly string[]> {
  if (load.servers > 1 && load.store !== 'mongo') throw new Error('Several servers need --store mongo.');
  const directory = await mkdtemp(path.join(tmpdir(), 'bolide-load-'));
  const children: ChildProcess[] = [];
  try {
    const vendor = fork(path.join(BUILD, 'vendor.js'));
    children.push(vendor);
    const [port] = (await once(vendor, 'message')) as [number];
    const vendorUrl = `http://127.0.0.1:${port}`;
    const databaseUrl = load.store === 'mongo' ? await mongoUrl(children) : undefined;
    const database = children[1];
    const servers: Server[] = [];
    for (let index = 0; index < load.servers; index += 1) {
      const server = await Server.start({ directory, vendorUrl, databaseUrl, profiles: load.profiles });
      children.push(server.process);
      servers.push(server);
    }
    return await drive(new Servers(servers), load, { children, vendor, database });
  } finally {
    await Promise.all(children.map(end));
    await rm(directory, { recursive: true, force: true });
  }
}

interface Others {
  readonly children: ChildProcess[];
  readonly vendor: ChildProcess;
  /** Absent: the servers' own, or one that was running. */
  readonly database: ChildProcess | undefined;
}

/** Milliseconds of CPU time so far, where Linux tells it. */
async function cpuOf(child: ChildProcess | undefined): Promise<number | undefined> {
  const stat = child === undefined ? '' : await readFile(`/proc/${child.pid}/stat`, 'utf8').catch(() => '');
  // The command, in parentheses, may contain spaces. https://man7.org/linux/man-pages/man5/proc_pid_stat.5.html
  const [user, system] = stat
    .slice(stat.lastIndexOf(')') + 2)
    .split(' ')
    .slice(11, 13)
    .map(Number);
  return user === undefined || system === undefined ? undefined : (user + system) * TICK_MS;
}

async function drive(servers: Servers, load: Load, { children, vendor, database }: Others): Promise<readonly string[]> {
  const agent = new Agent({ keepAlive: true, maxSockets: 64 });
  const readers = load.readers === 0 ? undefined : fork(path.join(BUILD, 'readers.js'));
  if (readers !== undefined) children.push(readers);
  const ends = new Map<string, () => void>();
  const early = new Set<string>();
  const failures: string[] = [];
  let finished = 0;
  const over = new AbortController();
  servers.onEnd = (executionId, error) => {
    finished += 1;
    if (error !== undefined) failures.push(error);
    const resolve = ends.get(executionId);
    if (resolve === undefined) early.add(executionId);
    else resolve();
    ends.delete(executionId);
  };
  const issue = async (index: number, scope: string): Promise<string> => {
    const userId = `user-${index}`;
    const body = { name: scope, userId, scopes: [scope] };
    return (await servers.of(0).post<{ readonly token: string }>(agent, '/api/tokens', ADMIN_TOKEN, body)).token;
  };
  // One after another, since the server lets nobody take all of it.
  const tokens: string[] = [];
  for (let index = 0; index < load.runs; index += 1) tokens.push(await issue(index, 'admin'));
  if (readers !== undefined) {
    const read: string[] = [];
    for (let index = 0; index < load.readers; index += 1)
      read.push(load.follow === 'all' ? ADMIN_TOKEN : await issue(index % load.runs, 'read'));
    tell(readers, { type: 'read', urls: read.map((_each, index) => servers.of(index).url), tokens: read });
  }
  const worker = async (token: string, index: number): Promise<void> => {
    const server = servers.of(index);
    while (!over.signal.aborted) {
      const run = {
        requestId: crypto.randomUUID(),
        providerId: 'openai',
        model: 'gpt-5-mini',
        input: 'What is the weather in all cities?',
        tools: ['get_weather'],
      };
      try {
        const { executionId } = await server.post<{ readonly executionId: string }>(agent, '/api/runs', token, run);
        if (early.delete(executionId)) continue;
        await new Promise<void>((resolve) => ends.set(executionId, resolve));
      } catch (error) {
        failures.push(String(error));
        await pause(100);
      }
    }
  };
  const workers = tokens.map(worker);
  await pause(Math.min(WARM_UP_MS, load.ms / 4));
  const first = await servers.read('begin');
  const [vendorBefore, databaseBefore] = [await cpuOf(vendor), await cpuOf(database)];
  const [warm, since] = [finished, performance.now()];
  if (failures.length > 0) console.log(`failed at first: ${JSON.stringify(countOf(failures), undefined, 2)}`);
  failures.length = 0;
  const memory: number[] = [first.rss];
  const every = load.ms / 10;
  for (let sample = 1; sample <= 10; sample += 1) {
    await pause(since + sample * every - performance.now());
    memory.push((await servers.read('read')).rss);
  }
  const last = await servers.read('read');
  const [vendorAfter, databaseAfter] = [await cpuOf(vendor), await cpuOf(database)];
  const seconds = (performance.now() - since) / 1_000;
  const done = finished - warm;
  const report = readers === undefined ? undefined : await reportOf(readers);
  if (report !== undefined) console.log(`readers: ${JSON.stringify(report)}, server: ${JSON.stringify(last)}`);
  over.abort();
  readers?.disconnect();
  while (ends.size > 0) await pause(100);
  await Promise.all(workers);
  agent.destroy();
  const idle = await servers.read('collect');
  if (failures.length > 0) console.log(`failed: ${JSON.stringify(countOf(failures), undefined, 2)}`);
  const each = (before: number | undefined, after: number | undefined): string =>
    before === undefined || after === undefined ? '–' : `${((after - before) / done).toFixed(1)} ms`;
  const row = [
    String(load.runs),
    load.readers === 0 ? 'none' : `${load.readers} of ${load.follow === 'all' ? 'all runs' : 'own runs'}`,
    load.store,
    String(load.servers),
    (done / seconds).toFixed(1),
    [each(first.cpu, last.cpu), each(databaseBefore, databaseAfter), each(vendorBefore, vendorAfter)].join(', '),
    `${failures.length} of ${done}`,
    delaysOf(last.delay),
    delaysOf(last.step),
    memory.map((bytes) => Math.round(bytes / 2 ** 20)).join(', ') + ' MB',
    `${Math.round(idle.heap / 2 ** 20)} MB, ${Math.round(idle.rss / 2 ** 20)} MB resident`,
  ];
  console.log(`${row.join(' | ')} | load ${loadavg()[0]?.toFixed(1)}`);
  return row;
}

function tell(readers: ChildProcess, question: ReaderQuestion): void {
  readers.send(question);
}

async function reportOf(readers: ChildProcess): Promise<ReaderReport> {
  const answer = once(readers, 'message') as Promise<[ReaderReport]>;
  tell(readers, { type: 'report' });
  return (await answer)[0];
}

function delaysOf({ p50, p99, max }: Delays): string {
  return `${[p50, p99, max].map((ms) => ms.toFixed(0)).join(', ')} ms`;
}

function countOf(texts: readonly string[]): Readonly<Record<string, number>> {
  const counts: Record<string, number> = {};
  for (const text of texts) counts[text] = (counts[text] ?? 0) + 1;
  return counts;
}

void main().then(
  () => process.exit(),
  (error: unknown) => {
    console.error(error);
    process.exit(1);
  },
);
