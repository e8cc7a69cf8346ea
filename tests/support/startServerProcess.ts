/** Starts a server in a process of its own, so that the clients of a test take no time from it. */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Environment } from '../../imports/host/settings/environment';
import { bundleChild } from './bundleChild';
import type { Question, Reading } from './serverProcess';

export interface ServerProcess {
  readonly url: string;
  readonly token: string;
  /** What it wrote to standard error. */
  readonly errors: string;
  /** It runs. */
  readonly isAlive: boolean;
  /** What it costs since the last reading. */
  read(): Promise<Reading>;
  /** Reads the costs after a garbage collection. */
  collect(): Promise<Reading>;
  /** Milliseconds that this machine takes for something that takes others about half a second. */
  calibrate(): Promise<number>;
  close(): Promise<void>;
}

export async function startServerProcess(env: Environment = {}): Promise<ServerProcess> {
  const directory = await mkdtemp(join(tmpdir(), 'bolide-process-'));
  const entry = await bundleChild(join(__dirname, 'serverProcess.ts'));
  const child = fork(entry, [], {
    execArgv: ['--expose-gc'],
    env: { PATH: process.env['PATH'], PORT: '0', DATA_DIR: directory, LOG_LEVEL: 'silent', ...env },
    stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
  });
  let errors = '';
  child.stderr?.on('data', (data: Buffer) => (errors += data.toString()));
  const exited = once(child, 'exit');
  const next = async (): Promise<unknown> => {
    const [message] = (await Promise.race([
      once(child, 'message'),
      exited.then(() => Promise.reject(new Error(`The server's process has ended: ${errors}`))),
    ])) as [unknown];
    return message;
  };
  // The child sends nothing else.
  const ask = async <Answer>(question: Question): Promise<Answer> => {
    const answer = next();
    child.send(question);
    return ((await answer) as { readonly answer: Answer }).answer;
  };
  const { url, token } = (await next()) as { readonly url: string; readonly token: string };
  return {
    url,
    token,
    get errors() {
      return errors;
    },
    get isAlive() {
      return child.exitCode === null && child.signalCode === null;
    },
    read: () => ask('read'),
    collect: () => ask('collect'),
    calibrate: () => ask('calibrate'),
    async close() {
      child.kill('SIGKILL');
      await exited;
      await rm(directory, { recursive: true });
      await rm(entry, { force: true });
    },
  };
}
