/** What a hostile user does, in each of many ways, fails no request of another user and never stops the server. */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import { bundleChild } from '../support/bundleChild';
import { describeInFull } from '../support/describeInFull';
import { startServerProcess } from '../support/startServerProcess';
import type { ServerProcess } from '../support/startServerProcess';
import { startUpstream } from '../support/startUpstream';
import type { Upstream } from '../support/startUpstream';

/** Requests of the other user in each window; windows with and without the hostile user take turns. */
const REQUESTS = 150;
const ROUNDS = 3;

const WAYS = [
  'parallel calls',
  'huge bodies',
  'many items',
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

describeInFull('A hostile user', function () {
  this.timeout(300_000);
  let upstream: Upstream;
  let server: ServerProcess;
  let hostile: string;
  let program: string;
  let good: string;
  let unit: number;
  const table: string[] = [];

  before(async () => {
    upstream = await startUpstream();
    server = await startServerProcess(upstream.env);
    unit = await server.calibrate();
    program = await bundleChild(join(__dirname, '../support/fuzz/hostileUser.ts'));
    hostile = await issue('hostile');
    good = await issue('good');
    // The first requests load what later ones share.
    await window(REQUESTS);
  });
  after(async () => {
    await server.close();
    await upstream.close();
    await rm(program, { force: true });
    console.log(['      way: p95 alone, p95 beside, longest stall (ms)', ...table].join('\n      '));
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
  const window = async (count: number): Promise<readonly number[]> => {
    const times: number[] = [];
    for (let sent = 0; sent < count; sent += 1) {
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
      for (let round = 0; round < ROUNDS; round += 1) {
        alone.push(...(await window(REQUESTS)));
        const end = await attack(way);
        await server.read();
        beside.push(...(await window(REQUESTS)));
        longest = Math.max(longest, (await server.read()).stall);
        await end();
      }
      table.push(`${way}: ${p95(alone)}, ${p95(beside)}, ${Math.round(longest)}`);
      expect(server.isAlive, server.errors).to.equal(true);
      expect(
        longest / unit,
        `a stall of ${Math.round(longest)} ms, with ${Math.round(unit)} as the unit`,
      ).to.be.lessThan(1);
    });
});

function p95(times: readonly number[]): number {
  return Math.round(times.toSorted((a, b) => a - b)[Math.floor(times.length * 0.95)] ?? 0);
}
