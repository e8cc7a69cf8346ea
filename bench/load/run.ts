/**
 * Measures a server under 200 runs at once of 5 turns and 8 calls each: `npm run bench:load -- [--runs 200]
 * [--seconds 40] [--readers 500] [--follow own|all] [--store sqlite|mongo] [--profile <directory>] [--save]`. Vendor,
 * server and readers are processes of their own. Prints runs per second, CPU time of a run, the event loop's delay,
 * and memory over time. `--minutes 10` measures for longer. `MONGO_URL` names the MongoDB; default: the stand-in of the
 * tests.
 */
import { fork } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { Agent, request as httpRequest } from 'node:http';
import { loadavg, tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { build } from 'esbuild';
import { end } from '../gateway/contenders';
import { mongoUrl } from '../mongoUrl';
import { saveSection, table } from '../resultsPage';
import type { Delays, Question, ReaderQuestion, ReaderReport, Reading, ServerMessage } from './messages';

const BUILD = path.join(__dirname, '..', '.build', 'load');
const WARM_UP_MS = 5_000;

interface Load {
  readonly runs: number;
  readonly readers: number;
  readonly follow: string;
  readonly store: string;
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
      profile: { type: 'string' },
      save: { type: 'boolean', default: false },
    },
  });
  await bundle();
  const ms = values.minutes === undefined ? Number(values.seconds) * 1_000 : Number(values.minutes) * 60_000;
  const rows: (readonly string[])[] = [];
  for (const store of values.store.split(','))
    for (const readers of values.readers.split(','))
      rows.push(
        await measure({
          store,
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
    'runs/s',
    'CPU of a run',
    'failed',
    'loop delay p50, p99, max',
    'CPU in it p50, p99, max',
    'resident memory over time',
    'heap at the end, after a collection',
  ],
  keys: 3,
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
  const directory = await mkdtemp(path.join(tmpdir(), 'bolide-load-'));
  const children: ChildProcess[] = [];
  try {
    const vendor = fork(path.join(BUILD, 'vendor.js'));
    children.push(vendor);
    const [port] = (await once(vendor, 'message')) as [number];
    const server = await Server.start(load, {
      directory,
      vendorUrl: `http://127.0.0.1:${port}`,
      databaseUrl: load.store === 'mongo' ? await mongoUrl(children) : undefined,
    });
    children.push(server.process);
    return await drive(server, load, children);
  } finally {
    await Promise.all(children.map(end));
    await rm(directory, { recursive: true, force: true });
  }
}

interface Place {
  readonly directory: string;
  readonly vendorUrl: string;
  readonly databaseUrl: string | undefined;
}

class Server {
  readonly process: ChildProcess;
  onEnd: (executionId: string, error: string | undefined) => void = () => undefined;
  private answer: (reading: Reading) => void = () => undefined;
  url = '';
  token = '';

  private constructor(child: ChildProcess) {
    this.process = child;
  }

  static async start({ profiles }: Load, { directory, vendorUrl, databaseUrl }: Place): Promise<Server> {
    if (profiles !== undefined) await mkdir(profiles, { recursive: true });
    const server = new Server(
      fork(path.join(BUILD, 'server.js'), [], {
        env: {
          PATH: process.env['PATH'],
          HOME: process.env['HOME'],
          PORT: '0',
          DATA_DIR: directory,
          ...(databaseUrl === undefined ? {} : { MONGO_URL: databaseUrl }),
          LOG_LEVEL: 'warn',
          USER_REQUESTS_PER_MINUTE: '0',
          // All readers are one user's.
          USER_CONNECTIONS: '0',
          STORAGE_MB_PER_USER: '100000',
          AI_ALLOW_PRIVATE_HOSTS: 'true',
          OPENAI_API_KEY: 'simulated',
          OPENAI_API_BASE: `${vendorUrl}/v1`,
        },
        execArgv: [
          '--expose-gc',
          ...(profiles === undefined ? [] : ['--enable-source-maps', '--cpu-prof', '--cpu-prof-dir', profiles]),
        ],
        stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
      }),
    );
    const ready = new Promise<void>((resolve, reject) => {
      server.process.once('exit', () => reject(new Error('The server has ended.')));
      server.process.on('message', (message: ServerMessage) => {
        if (message.type === 'end') server.onEnd(message.executionId, message.error);
        else if (message.type === 'reading') server.answer(message.reading);
        else {
          server.url = message.url;
          server.token = message.token;
          resolve();
        }
      });
    });
    await ready;
    return server;
  }

  read(question: Question): Promise<Reading> {
    return new Promise((resolve) => {
      this.answer = resolve;
      this.process.send(question);
    });
  }

  post<Answer>(agent: Agent, route: string, token: string, body: object): Promise<Answer> {
    return new Promise((resolve, reject) => {
      const request = httpRequest(`${this.url}${route}`, {
        agent,
        method: 'POST',
        headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      });
      request.on('error', reject);
      request.on('response', (response) => {
        let text = '';
        response.setEncoding('utf8');
        response.on('data', (chunk: string) => (text += chunk));
        response.on('end', () => {
          if ((response.statusCode ?? 500) < 300) resolve(JSON.parse(text) as Answer);
          else reject(new Error(`POST ${route}: ${response.statusCode} ${text}`));
        });
      });
      request.end(JSON.stringify(body));
    });
  }
}

async function drive(server: Server, load: Load, children: ChildProcess[]): Promise<readonly string[]> {
  const agent = new Agent({ keepAlive: true, maxSockets: 64 });
  const readers = load.readers === 0 ? undefined : fork(path.join(BUILD, 'readers.js'));
  if (readers !== undefined) children.push(readers);
  const ends = new Map<string, () => void>();
  const early = new Set<string>();
  const failures: string[] = [];
  let finished = 0;
  const over = new AbortController();
  server.onEnd = (executionId, error) => {
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
    return (await server.post<{ readonly token: string }>(agent, '/api/tokens', server.token, body)).token;
  };
  // One after another, since the server lets nobody take all of it.
  const tokens: string[] = [];
  for (let index = 0; index < load.runs; index += 1) tokens.push(await issue(index, 'admin'));
  if (readers !== undefined) {
    const read: string[] = [];
    for (let index = 0; index < load.readers; index += 1)
      read.push(load.follow === 'all' ? server.token : await issue(index % load.runs, 'read'));
    tell(readers, { type: 'read', url: server.url, tokens: read });
  }
  const worker = async (token: string): Promise<void> => {
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
  const first = await server.read('begin');
  const [warm, since] = [finished, performance.now()];
  if (failures.length > 0) console.log(`failed at first: ${JSON.stringify(countOf(failures), undefined, 2)}`);
  failures.length = 0;
  const memory: number[] = [first.rss];
  const every = load.ms / 10;
  for (let sample = 1; sample <= 10; sample += 1) {
    await pause(since + sample * every - performance.now());
    memory.push((await server.read('read')).rss);
  }
  const last = await server.read('read');
  const seconds = (performance.now() - since) / 1_000;
  const done = finished - warm;
  const report = readers === undefined ? undefined : await reportOf(readers);
  if (report !== undefined) console.log(`readers: ${JSON.stringify(report)}, server: ${JSON.stringify(last)}`);
  over.abort();
  readers?.disconnect();
  while (ends.size > 0) await pause(100);
  await Promise.all(workers);
  agent.destroy();
  const idle = await server.read('collect');
  if (failures.length > 0) console.log(`failed: ${JSON.stringify(countOf(failures), undefined, 2)}`);
  const row = [
    String(load.runs),
    load.readers === 0 ? 'none' : `${load.readers} of ${load.follow === 'all' ? 'all runs' : 'own runs'}`,
    load.store,
    (done / seconds).toFixed(1),
    `${((last.cpu - first.cpu) / done).toFixed(1)} ms`,
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
