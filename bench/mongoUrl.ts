/** A MongoDB for a measurement: the one at MONGO_URL, else the minimal stand-in of the tests. */
import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import path from 'node:path';
import { createInterface } from 'node:readline';

export async function mongoUrl(children: ChildProcess[]): Promise<string> {
  const database = `bolide_bench_${process.pid}`;
  const given = process.env['MONGO_URL'];
  if (given !== undefined && given !== '') {
    const url = new URL(given);
    url.pathname = `/${database}`;
    return url.href;
  }
  const server = path.join(__dirname, '../tests/support/mini-mongod.mjs');
  const child = spawn(process.execPath, [server, '--port', '0', '--with-parent'], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  children.push(child);
  for await (const line of createInterface({ input: child.stdout })) {
    const [, url] = /on (mongodb:\S+)/.exec(line) ?? [];
    if (url !== undefined) return `${url}${database}`;
  }
  throw new Error('The stand-in for MongoDB ended before it was ready.');
}
