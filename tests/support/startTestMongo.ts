/** A MongoDB for tests: the one at MONGO_URL, or a minimal stand-in as a child process. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';

export interface TestMongo {
  /** Includes the name of a database that is unique to this test run. */
  readonly url: string;
  readonly isStandIn: boolean;
  stop(): Promise<void>;
}

/** @param options `replicaSet`: the stand-in has change streams. A given MongoDB is as it is */
export async function startTestMongo({ replicaSet = false } = {}): Promise<TestMongo> {
  const database = `bolide_test_${process.pid}_${Date.now()}`;
  const given = process.env['MONGO_URL'];
  if (given !== undefined && given !== '')
    return { url: withDatabase(given, database), isStandIn: false, stop: () => Promise.resolve() };
  const child = spawn(
    process.execPath,
    [join(__dirname, 'mini-mongod.mjs'), '--port', '0', '--with-parent', ...(replicaSet ? ['--replica-set'] : [])],
    {
      stdio: ['pipe', 'pipe', 'inherit'],
    },
  );
  const stop = async (): Promise<void> => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    const exited = once(child, 'exit');
    child.kill('SIGKILL');
    await exited;
  };
  for await (const line of createInterface({ input: child.stdout })) {
    const [, url] = /on (mongodb:\S+)/.exec(line) ?? [];
    if (url !== undefined) return { url: `${url}${database}`, isStandIn: true, stop };
  }
  throw new Error('mini-mongod ended before it was ready');
}

function withDatabase(url: string, database: string): string {
  const parsed = new URL(url);
  parsed.pathname = `/${database}`;
  return parsed.href;
}
