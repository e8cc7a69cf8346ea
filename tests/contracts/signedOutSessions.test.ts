/** What is open with a dashboard session ends when that session does, and sessions survive a restart of the server. */
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { WebSocket } from 'ws';
import { readSse } from '../support/readSse';
import type { SseReader } from '../support/readSse';
import { startSimulatedServer } from '../support/startSimulatedServer';
import type { SimulatedServer } from '../support/startSimulatedServer';
import { startStandalone } from '../support/startStandalone';
import { startTestMongo } from '../support/startTestMongo';
import { until } from '../support/until';
import { itInVirtualTime } from '../support/itInVirtualTime';

const TOKEN = 'a-token-that-the-operator-chose';

async function signIn(url: string, token = TOKEN): Promise<string> {
  const response = await fetch(`${url}/api/session`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ token }),
  });
  expect(response.status, await response.text()).to.equal(200);
  return response.headers.get('set-cookie')?.split(';')[0] ?? '';
}

const signOut = async (url: string, cookie: string): Promise<void> => {
  expect((await fetch(`${url}/api/session`, { method: 'DELETE', headers: { cookie } })).status).to.equal(204);
};
const statusOf = async (url: string, cookie: string): Promise<number> =>
  (await fetch(`${url}/api/session`, { headers: { cookie } })).status;

async function isOpen(stream: SseReader): Promise<boolean> {
  // A turn of the event loop lets what has ended be noticed.
  await new Promise((resolve) => setImmediate(resolve));
  return (await Promise.race([stream.ended.then(() => 'ended'), Promise.resolve('open')])) === 'open';
}

describe('signing out', () => {
  let server: SimulatedServer;
  before(async () => {
    server = await startSimulatedServer({ BOLIDE_API_TOKEN: TOKEN });
  });
  after(() => server.close());

  for (const path of ['/api/runs/stream', '/api/output/stream'])
    it(`ends ${path} of that session, and not that of another of the same user`, async () => {
      const [left, kept] = [await signIn(server.url), await signIn(server.url)];
      const ending = await readSse(server.url + path, { cookie: left });
      const staying = await readSse(server.url + path, { cookie: kept });
      expect([ending.status, staying.status]).to.deep.equal([200, 200]);
      await signOut(server.url, left);
      await ending.ended;
      expect(await isOpen(staying)).to.equal(true);
      staying.stop();
    });

  it('closes its WebSockets', async () => {
    const cookie = await signIn(server.url);
    const socket = new WebSocket(`${server.url.replace('http', 'ws')}/v1/responses`, { headers: { cookie } });
    await once(socket, 'open');
    const closed = once(socket, 'close');
    await signOut(server.url, cookie);
    expect(((await closed) as [number])[0]).to.equal(1001);
  });

  it('cuts an answer in progress, which then says why', async () => {
    const cookie = await signIn(server.url);
    server.simulator.enqueue({ text: 'Hello, world', fault: { kind: 'stall', after: { events: 5 } } });
    const response = await fetch(`${server.url}/v1/responses`, {
      method: 'POST',
      headers: { cookie, 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'openai', input: 'x', stream: true }),
    });
    await signOut(server.url, cookie);
    expect(await response.text()).to.contain('You were signed out');
  });

  it('by signing in anew ends what was open before', async () => {
    const cookie = await signIn(server.url);
    const stream = await readSse(`${server.url}/api/runs/stream`, { cookie });
    const response = await fetch(`${server.url}/api/session`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', cookie },
      body: JSON.stringify({ token: TOKEN }),
    });
    expect(response.status).to.equal(200);
    await stream.ended;
    expect(await statusOf(server.url, cookie)).to.equal(401);
  });
});

describe('a dashboard session', () => {
  it('survives a restart of the server', async () => {
    const directory = await mkdtemp(join(tmpdir(), 'bolide-sessions-'));
    const env = { BOLIDE_API_TOKEN: TOKEN, DATA_DIR: directory };
    let server = await startStandalone(env);
    try {
      const users = server.host.apiTokens.tokens;
      const { token } = await users.issue({ userId: 'ann', name: 'x', scopes: ['read'] });
      const cookies = [await signIn(server.url), await signIn(server.url, token)];
      await server.close();
      server = await startStandalone(env);
      for (const cookie of cookies) expect(await statusOf(server.url, cookie)).to.equal(200);
      await server.close();
      server = await startStandalone({ ...env, BOLIDE_API_TOKEN: `${TOKEN}-of-another-day` });
      expect(await Promise.all(cookies.map((cookie) => statusOf(server.url, cookie)))).to.deep.equal([401, 200]);
    } finally {
      await server.close();
      await rm(directory, { recursive: true });
    }
  });

  itInVirtualTime('of two processes ends in both, with the streams that it has open', async () => {
    const mongo = await startTestMongo();
    const env = { BOLIDE_API_TOKEN: TOKEN, MONGO_URL: mongo.url, AI_SECRET_KEYS: `k:${'A'.repeat(43)}=` };
    const [first, second] = [await startStandalone(env), await startStandalone(env)];
    try {
      const [left, kept] = [await signIn(first.url), await signIn(first.url)];
      const streams = [
        await readSse(`${second.url}/api/runs/stream`, { cookie: left }),
        await readSse(`${second.url}/api/runs/stream`, { cookie: kept }),
      ] as const;
      expect(streams.map(({ status }) => status)).to.deep.equal([200, 200]);
      await signOut(first.url, left);
      await streams[0].ended;
      await until(async () => (await statusOf(second.url, left)) === 401);
      expect(await isOpen(streams[1])).to.equal(true);
      streams[1].stop();
    } finally {
      await Promise.all([first.close(), second.close()]);
      await mongo.stop();
    }
  });
});
