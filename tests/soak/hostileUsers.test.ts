/**
 * What a hostile user does, in each of many ways, fails no request of another user, hardly delays them, and never stops
 * the server. `BOLIDE_HOSTILE_SECONDS=20` measures for a minute each.
 */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import { bundleChild } from '../support/bundleChild';
import { startServerProcess } from '../support/startServerProcess';
import type { ServerProcess } from '../support/startServerProcess';
import { startUpstream } from '../support/startUpstream';
import type { Upstream } from '../support/startUpstream';

/** Seconds of each window; windows with and without the hostile user take turns. */
const SECONDS = Number(process.env['BOLIDE_HOSTILE_SECONDS'] ?? 1);
const ROUNDS = 3;
/**
 * Times that the median may take beside a hostile user, in the best round: other processes only make it more. Without
 * any fairness, parallel calls make it six and more.
 */
const MAX_RATIO = 3;
/** Milliseconds between two requests of the other user, who stays within the default limits. */
const PACE = 60;

const WAYS = [
  'parallel calls',
  'huge bodies',
  'many items',
  'repeated calls',
  'slow readers',
  'slow writers',
  'schemas',
  'idle sockets',
  'sessions',
  'stored responses',
  'failing downloads',
  'aborts',
  'list queries',
];

describe('A hostile user', () => {
  let upstream: Upstream;
  let server: ServerProcess;
  let hostile: string;
  let program: string;
  let good: string;
  let unit: number;
  const table: string[] = [];

  before(async () => {
    upstream = await startUpstream();
    // Both users have the default limits.
    const env = Object.entries(upstream.env).filter(([name]) => !name.startsWith('USER_'));
    server = await startServerProcess(Object.fromEntries(env));
    unit = await server.calibrate();
    program = await bundleChild(join(__dirname, '../support/fuzz/hostileUser.ts'));
    hostile = await issue('hostile');
    good = await issue('good');
    // The first requests load what later ones share.
    await window();
  });
  after(async () => {
    await server.close();
    await upstream.close();
    await rm(program, { force: true });
    console.log(
      ['      way: median alone, beside, 95th percentile alone, beside, longest stall (ms)', ...table].join('\n      '),
    );
  });

  const issue = async (userId: string): Promise<string> => {
    const response = await fetch(`${server.url}/tokens`, {
      method: 'POST',
      headers: { authorization: `Bearer ${server.token}`, 'content-type': 'application/json' },
      body: JSON.stringify({ name: userId, userId, scopes: ['admin'] }),
    });
    expect(response.status).to.be.within(200, 201);
    return ((await response.json()) as { readonly token: string }).token;
  };

  /** @returns the milliseconds that each request of the other user took */
  const window = async (): Promise<readonly number[]> => {
    const times: number[] = [];
    const end = performance.now() + SECONDS * 1_000;
    for (let next = performance.now(); next < end; next += PACE) {
      await sleep(next - performance.now());
      const startedAt = performance.now();
      const response = await fetch(`${server.url}/v1/chat/completions`, {
        method: 'POST',
        headers: { authorization: `Bearer ${good}`, 'content-type': 'application/json' },
        body: JSON.stringify({ model: 'openai/gpt-5-mini', messages: [{ role: 'user', content: 'Hello' }] }),
      });
      expect(response.status, await response.text()).to.equal(200);
      times.push(performance.now() - startedAt);
    }
    return times;
  };

  /** @returns ends it */
  const attack = async (way: string): Promise<() => Promise<void>> => {
    const child = fork(program, [server.url, hostile, way], { stdio: ['ignore', 'ignore', 'inherit', 'ipc'] });
    await once(child, 'message');
    await sleep(300);
    return async () => {
      const exited = once(child, 'exit');
      child.kill('SIGKILL');
      await exited;
    };
  };

  for (const way of WAYS)
    it(`with ${way} fails nothing of another user's`, async () => {
      const alone: number[] = [];
      const beside: number[] = [];
      let longest = 0;
      let ratio = Infinity;
      for (let round = 0; round < ROUNDS; round += 1) {
        const timesAlone = await window();
        const end = await attack(way);
        await server.read();
        const timesBeside = await window();
        ratio = Math.min(ratio, quantile(timesBeside, 0.5) / quantile(timesAlone, 0.5));
        alone.push(...timesAlone);
        beside.push(...timesBeside);
        longest = Math.max(longest, (await server.read()).stall);
        await end();
      }
      const times = [0.5, 0.95].flatMap((part) => [quantile(alone, part), quantile(beside, part)]);
      times.push(longest);
      table.push(`${way}: ${times.map((time) => time.toFixed(1)).join(', ')}`);
      expect(server.isAlive, server.errors).to.equal(true);
      expect(ratio, 'the median beside to the median alone').to.be.lessThan(MAX_RATIO);
      expect(
        longest / unit,
        `a stall of ${Math.round(longest)} ms, with ${Math.round(unit)} as the unit`,
      ).to.be.lessThan(1);
    });
});

function quantile(times: readonly number[], part: number): number {
  return times.toSorted((a, b) => a - b)[Math.floor(times.length * part)] ?? 0;
}
