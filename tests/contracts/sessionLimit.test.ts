/** How many sessions of the dashboard a user has at most, over HTTP. */
import { expect } from 'chai';
import type { RunningServer } from '../../imports/host/node/startServer';
import { startStandalone } from '../support/startStandalone';
import { inFlowingTime } from '../support/VirtualTime';

/** Per user. */
const MAX_SESSIONS = 20;

describe(
  'sessions of the dashboard',
  inFlowingTime(() => {
    let server: RunningServer;
    beforeEach(async () => {
      server = await startStandalone();
    });
    afterEach(() => server.close());

    const signIn = async (token: string): Promise<string> => {
      const response = await fetch(`${server.url}/api/session`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', origin: server.url },
        body: JSON.stringify({ token }),
      });
      expect(response.status).to.equal(200);
      return response.headers.get('set-cookie')?.split(';')[0] ?? '';
    };
    const statusOf = async (cookie: string): Promise<number> =>
      (await fetch(`${server.url}/api/session`, { headers: { cookie } })).status;
    const tokenOf = async (userId: string): Promise<string> =>
      (await server.host.apiTokens.tokens.issue({ userId, name: 'test', scopes: ['read'] })).token;

    it(`are at most ${MAX_SESSIONS} per user: one more ends the oldest, and none of another user`, async () => {
      const [bob, cat] = [await tokenOf('bob'), await tokenOf('cat')];
      const ofCat = await signIn(cat);
      const ofBob: string[] = [];
      for (let count = 0; count < MAX_SESSIONS; count += 1) ofBob.push(await signIn(bob));
      for (const cookie of ofBob) expect(await statusOf(cookie), 'up to the limit').to.equal(200);
      // A token more does not give a user more sessions.
      ofBob.push(await signIn(await tokenOf('bob')), await signIn(bob));
      const statuses = await Promise.all(ofBob.map(statusOf));
      expect(statuses.slice(0, 2)).to.deep.equal([401, 401]);
      expect(statuses.slice(2).every((status) => status === 200)).to.equal(true);
      expect(await statusOf(ofCat), 'of another user').to.equal(200);
    });
  }),
);
