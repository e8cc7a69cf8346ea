/** What is open with an API token that is revoked, expires or is revoked by another process ends. */
import { once } from 'node:events';
import { expect } from 'chai';
import type { RunningServer } from '../../imports/host/node/startServer';
import { readSse } from '../support/readSse';
import type { SseReader } from '../support/readSse';
import { openSocket } from '../support/responsesSocket';
import { startSimulatedServer } from '../support/startSimulatedServer';
import type { SimulatedServer } from '../support/startSimulatedServer';
import { suiteInVirtualTime } from '../support/suiteInVirtualTime';

/** Milliseconds. Revoking is noticed at once in the same process, and at the second check of every 5 s elsewhere. */
const PROMPT = 4_500;
const CHECKED = 20_000;

describe('an API token that is revoked', () => {
  const itInTime = suiteInVirtualTime();
  let server: SimulatedServer;
  before(async () => {
    server = await startSimulatedServer();
  });
  after(() => server.close());

  const issue = (
    of: RunningServer = server,
    expiresAt?: number,
  ): Promise<{ readonly token: string; readonly id: string }> =>
    of.host.apiTokens.tokens.issue({
      userId: 'ann',
      name: 'test',
      scopes: ['admin'],
      ...(expiresAt === undefined ? {} : { expiresAt }),
    });
  const bearer = (token: string): Record<string, string> => ({ authorization: `Bearer ${token}` });
  const STREAMS = ['/api/runs/stream', '/api/output/stream'];
  const follow = (path: string, headers: Record<string, string>): Promise<SseReader> =>
    readSse(server.url + path, headers);

  for (const path of STREAMS)
    itInTime(
      `ends ${path}, and not that of another token`,
      async () => {
        const [revoked, kept] = [await issue(), await issue()];
        const streams = [await follow(path, bearer(revoked.token)), await follow(path, bearer(kept.token))] as const;
        await server.host.apiTokens.tokens.revoke('ann', revoked.id);
        await streams[0].ended;
        const other = await Promise.race([streams[1].ended.then(() => 'ended'), Promise.resolve('open')]);
        expect(other).to.equal('open');
        streams[1].stop();
      },
      PROMPT,
    );

  itInTime(
    'ends the streams of dashboard sessions that it opened',
    async () => {
      const { token, id } = await issue();
      const signIn = await fetch(`${server.url}/api/session`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ token }),
      });
      const [cookie = ''] = (signIn.headers.get('set-cookie') ?? '').split(';');
      const stream = await follow('/api/runs/stream', { cookie });
      expect(stream.status).to.equal(200);
      await server.host.apiTokens.tokens.revoke('ann', id);
      await stream.ended;
    },
    PROMPT,
  );

  itInTime(
    'closes its idle WebSocket',
    async () => {
      const { token, id } = await issue();
      const { socket } = await openSocket({ url: server.url, token });
      const closed = once(socket, 'close');
      await server.host.apiTokens.tokens.revoke('ann', id);
      const [code] = (await closed) as [number];
      expect(code).to.equal(1001);
    },
    PROMPT,
  );

  itInTime(
    'cuts a turn in progress on its WebSocket',
    async () => {
      const { token, id } = await issue();
      const client = await openSocket({ url: server.url, token });
      server.simulator.enqueue({ text: 'Hello, world', fault: { kind: 'stall', after: { events: 3 } } });
      const closed = once(client.socket, 'close');
      const answer = client.turn({ model: 'openai', input: 'x' });
      await server.simulator.nextRequest();
      await server.host.apiTokens.tokens.revoke('ann', id);
      expect((await answer).error?.message).to.contain('no longer valid');
      await closed;
    },
    PROMPT,
  );

  itInTime(
    'cuts streams of answers in each API, which then say why',
    async () => {
      for (const [path, body] of [
        ['/v1/responses', { model: 'openai', input: 'x', stream: true }],
        ['/v1/chat/completions', { model: 'openai', messages: [{ role: 'user', content: 'x' }], stream: true }],
        ['/v1/messages', { model: 'openai', max_tokens: 9, messages: [{ role: 'user', content: 'x' }], stream: true }],
      ] as const) {
        const { token, id } = await issue();
        server.simulator.enqueue({ text: 'Hello, world', fault: { kind: 'stall', after: { events: 5 } } });
        const response = await fetch(server.url + path, {
          method: 'POST',
          headers: { ...bearer(token), 'content-type': 'application/json' },
          body: JSON.stringify(body),
        });
        await server.host.apiTokens.tokens.revoke('ann', id);
        expect(await response.text(), path).to.contain('no longer valid');
      }
    },
    PROMPT,
  );

  it('answers the request that revokes it', async () => {
    const { token, id } = await server.host.apiTokens.tokens.issue({ userId: 'ann', name: 'x', scopes: ['admin'] });
    const response = await fetch(`${server.url}/api/tokens/${id}`, { method: 'DELETE', headers: bearer(token) });
    expect(response.status, await response.text()).to.equal(200);
  });

  it('stays open where only its limits change or its secret is rotated', async () => {
    const { token, id } = await issue();
    const stream = await follow('/api/runs/stream', bearer(token));
    await server.host.apiTokens.tokens.update(id, 'ann', { name: 'renamed' });
    await server.host.apiTokens.tokens.rotate(id, 'ann', { graceMs: 0 });
    await server.host.api.checkToken(id);
    expect(await Promise.race([stream.ended.then(() => 'ended'), Promise.resolve('open')])).to.equal('open');
    stream.stop();
  });

  itInTime(
    'ends its streams when it expires, or when another process has revoked it',
    async () => {
      const expiring = await issue(server, Date.now() + 6_000);
      const elsewhere = await issue();
      const streams = [
        await follow('/api/runs/stream', bearer(expiring.token)),
        await follow('/api/runs/stream', bearer(elsewhere.token)),
      ];
      const { tokens } = server.host.apiTokens;
      // Another process writes to the same store without this process's notice.
      const { store } = tokens as unknown as { readonly store: { change: typeof tokens.update } };
      await store.change(elsewhere.id, 'ann', { hash: '', revokedAt: Date.now() });
      await Promise.all(streams.map(({ ended }) => ended));
    },
    CHECKED,
  );
});
