/** The servers that are measured. */
import { fork } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { mkdir } from 'node:fs/promises';
import { request as httpRequest } from 'node:http';
import type { Agent } from 'node:http';
import path from 'node:path';
import type { Delays, Question, Reading, ServerMessage } from './messages';

/** Where the bundled programs are. */
export const BUILD = path.join(__dirname, '..', '.build', 'load');
export const ADMIN_TOKEN = crypto.randomUUID();

export interface Place {
  readonly directory: string;
  readonly vendorUrl: string;
  readonly databaseUrl: string | undefined;
  /** A directory for CPU profiles. */
  readonly profiles: string | undefined;
}

/** A server in a process of its own. */
export class Server {
  readonly process: ChildProcess;
  onEnd: (executionId: string, error: string | undefined) => void = () => undefined;
  private answer: (reading: Reading) => void = () => undefined;
  url = '';

  private constructor(child: ChildProcess) {
    this.process = child;
  }

  static async start({ directory, vendorUrl, databaseUrl, profiles }: Place): Promise<Server> {
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
          BOLIDE_API_TOKEN: ADMIN_TOKEN,
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

/** Servers on one database. Each has its share of the runs and readers. */
export class Servers {
  private readonly all: readonly Server[];

  constructor(all: readonly Server[]) {
    this.all = all;
  }

  set onEnd(listener: Server['onEnd']) {
    for (const server of this.all) server.onEnd = listener;
  }

  /** @param index of the run or reader */
  of(index: number): Server {
    const server = this.all[index % this.all.length];
    if (server === undefined) throw new Error('--servers is a number from 1 on.');
    return server;
  }

  /** Sums, and the delays of the slowest. */
  async read(question: Question): Promise<Reading> {
    const readings = await Promise.all(this.all.map((server) => server.read(question)));
    return readings.reduce((one, other) => ({
      cpu: one.cpu + other.cpu,
      rss: one.rss + other.rss,
      heap: one.heap + other.heap,
      external: one.external + other.external,
      delay: slowest(one.delay, other.delay),
      step: slowest(one.step, other.step),
    }));
  }
}

function slowest(one: Delays, other: Delays): Delays {
  return {
    p50: Math.max(one.p50, other.p50),
    p99: Math.max(one.p99, other.p99),
    max: Math.max(one.max, other.max),
  };
}
