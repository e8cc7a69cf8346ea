/** Sessions of the dashboard, which the processes on a database share: their ends, their limits and what is stored. */
import { expect } from 'chai';
import { ApiTokens } from '../../imports/api/auth/ApiTokens';
import { API_TOKENS, DocumentApiTokenStore } from '../../imports/api/auth/DocumentApiTokenStore';
import { DashboardSessions } from '../../imports/api/dashboard/DashboardSessions';
import { SESSIONS, SessionStore } from '../../imports/api/dashboard/SessionStore';
import type { StoredSession } from '../../imports/api/dashboard/SessionStore';
import type { DocumentCollection } from '../../imports/database/DocumentCollection';
import { QUICK_DATABASES } from '../support/documentDatabases';
import type { TestDatabase } from '../support/documentDatabases';
import { RecordingLogger } from '../support/RecordingLogger';
import { inFlowingTime } from '../support/VirtualTime';

type Request = Parameters<DashboardSessions['authenticate']>[0];

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

const request = (cookie = '', method = 'GET'): Request =>
  ({ method, headers: { host: 'localhost', cookie } }) as unknown as Request;

for (const [kind, open] of Object.entries(QUICK_DATABASES))
  describe(
    `dashboard sessions (${kind})`,
    inFlowingTime(() => {
      let opened: TestDatabase;
      let tokens: ApiTokens;
      let time: number;
      const now = (): number => time;
      const collection = (): DocumentCollection<StoredSession> => opened.database.collection(SESSIONS);

      beforeEach(async () => {
        opened = await open();
        time = Date.now();
        const store = new DocumentApiTokenStore(opened.database.collection(API_TOKENS));
        await store.ready();
        tokens = new ApiTokens({ store, now });
      });
      afterEach(() => opened.close());

      /** One process's view. */
      const process = async (sessions = collection(), logger = new RecordingLogger()): Promise<DashboardSessions> => {
        const store = new SessionStore(sessions);
        await store.ready();
        return new DashboardSessions({ store, tokens, now, logger });
      };
      const issue = (userId = 'ann'): Promise<{ readonly token: string; readonly id: string }> =>
        tokens.issue({ userId, name: 'test', scopes: ['read'] });
      const signIn = async (sessions: DashboardSessions, token: string, cookie?: string): Promise<string> => {
        const session = await sessions.open(token, request(cookie));
        return session?.cookie.split(';')[0] ?? '';
      };
      const userOf = async (
        sessions: DashboardSessions,
        cookie: string,
        method?: string,
      ): Promise<string | undefined> => (await sessions.authenticate(request(cookie, method)))?.userId;

      it('are valid in every process and after a restart, with the rights of their token', async () => {
        const [first, second] = [await process(), await process()];
        const { token, id } = await issue();
        const cookie = await signIn(first, token);
        const principal = await second.authenticate(request(cookie));
        expect(principal).to.deep.include({ userId: 'ann', scopes: ['read'] });
        expect(principal?.token?.id).to.equal(id);
      });

      it('are stored without anything that opens them', async () => {
        const { token } = await issue();
        const cookie = await signIn(await process(), token);
        const stored = JSON.stringify(await collection().find({}));
        expect(stored).to.contain('ann');
        expect(stored).not.to.contain(token);
        expect(stored).not.to.contain(cookie.slice(cookie.indexOf('=') + 1));
      });

      it('that end in one process end in the others: at once for changes, within a second for reads', async () => {
        const [first, second] = [await process(), await process()];
        const cookie = await signIn(first, (await issue()).token);
        expect(await userOf(second, cookie)).to.equal('ann');
        await first.close(request(cookie));
        expect(await userOf(first, cookie)).to.equal(undefined);
        expect(await userOf(second, cookie, 'POST')).to.equal(undefined);
        expect(await userOf(second, cookie, 'DELETE')).to.equal(undefined);
        time += 1_000;
        expect(await userOf(second, cookie)).to.equal(undefined);
      });

      it('cost one read of the store per second, however many requests there are', async () => {
        let reads = 0;
        const counted = new Proxy(collection(), {
          get: (target, name) => {
            if (name === 'findOne') reads += 1;
            const member: unknown = Reflect.get(target, name);
            return typeof member === 'function' ? (member.bind(target) as unknown) : member;
          },
        });
        const sessions = await process(counted);
        const cookie = await signIn(sessions, (await issue()).token);
        for (let count = 0; count < 20; count += 1) expect(await userOf(sessions, cookie)).to.equal('ann');
        expect(reads).to.equal(1);
        time += 1_000;
        expect(await userOf(sessions, cookie)).to.equal('ann');
        expect(reads).to.equal(2);
      });

      it('that end while they are being read are not remembered', async () => {
        let hold: Promise<void> = Promise.resolve();
        const slow = new Proxy(collection(), {
          get: (target, name) => {
            const member: unknown = Reflect.get(target, name);
            if (name !== 'findOne') return typeof member === 'function' ? (member.bind(target) as unknown) : member;
            return async (selector: { readonly _id: string }) => {
              const found = await target.findOne(selector);
              await hold;
              return found;
            };
          },
        });
        const sessions = await process(slow);
        const cookie = await signIn(sessions, (await issue()).token);
        let release = (): void => undefined;
        hold = new Promise((resolve) => (release = resolve));
        const reading = userOf(sessions, cookie);
        await sessions.close(request(cookie));
        release();
        await reading;
        expect(await userOf(sessions, cookie)).to.equal(undefined);
      });

      it('end with their token, also when it expires or its secret is replaced', async () => {
        const sessions = await process();
        const [revoked, rotated, graced] = [await issue(), await issue(), await issue()];
        const expiring = await tokens.issue({ userId: 'ann', name: 'x', scopes: ['read'], expiresAt: time + MINUTE });
        const cookies: string[] = [];
        for (const { token } of [revoked, rotated, graced, expiring]) cookies.push(await signIn(sessions, token));
        await tokens.revoke('ann', revoked.id);
        await tokens.rotate(rotated.id, 'ann', { graceMs: 0 });
        await tokens.rotate(graced.id, 'ann', { graceMs: 2 * MINUTE });
        sessions.forgetTokens();
        const users = async (): Promise<readonly (string | undefined)[]> =>
          Promise.all(cookies.map((cookie) => userOf(sessions, cookie)));
        expect(await users()).to.deep.equal([undefined, undefined, 'ann', 'ann']);
        time += MINUTE;
        expect(await users()).to.deep.equal([undefined, undefined, 'ann', undefined]);
        time += MINUTE;
        expect(await users()).to.deep.equal([undefined, undefined, undefined, undefined]);
      });

      it('end after a day without a request', async () => {
        const sessions = await process();
        const { token } = await issue();
        const [used, idle] = [await signIn(sessions, token), await signIn(sessions, token)];
        time += DAY - MINUTE;
        expect(await userOf(sessions, used)).to.equal('ann');
        await sessions.settled();
        time += MINUTE;
        expect(await userOf(sessions, used)).to.equal('ann');
        expect(await userOf(sessions, idle)).to.equal(undefined);
      });

      it('end after a week, however much they are used, and the database deletes them', async () => {
        const sessions = await process();
        const session = await sessions.open((await issue()).token, request());
        expect(session?.cookie).to.contain(`Max-Age=${(7 * DAY) / 1_000};`);
        const [cookie = ''] = session?.cookie.split(';') ?? [];
        for (let hours = 0; hours < 7 * 24; hours += 12) {
          expect(await userOf(sessions, cookie), `${hours} hours`).to.equal('ann');
          await sessions.settled();
          time += 12 * HOUR;
        }
        expect(await userOf(sessions, cookie)).to.equal(undefined);
        const [stored] = await collection().find({});
        expect(stored?.expiresAt.getTime()).to.equal(time);
      });

      it('store their use once a minute, and go on where that fails', async () => {
        let writes = 0;
        const failing = new Proxy(collection(), {
          get: (target, name) => {
            const member: unknown = Reflect.get(target, name);
            if (name !== 'update') return typeof member === 'function' ? (member.bind(target) as unknown) : member;
            return () => Promise.reject(new Error(`write ${(writes += 1)} failed`));
          },
        });
        const logger = new RecordingLogger();
        const sessions = await process(failing, logger);
        const cookie = await signIn(sessions, (await issue()).token);
        expect(await userOf(sessions, cookie, 'POST')).to.equal('ann');
        expect(writes).to.equal(0);
        time += MINUTE;
        expect(await userOf(sessions, cookie, 'POST')).to.equal('ann');
        await sessions.settled();
        expect(writes).to.equal(1);
        expect(logger.warnings).to.have.length(1);
      });

      it('are replaced by the next one of the same browser', async () => {
        const sessions = await process();
        const ended: string[] = [];
        sessions.onEnded((id) => ended.push(id));
        const { token } = await issue();
        const before = await signIn(sessions, token);
        const after = await signIn(sessions, token, before);
        expect(after).not.to.equal(before);
        expect(await userOf(sessions, before)).to.equal(undefined);
        expect(await userOf(sessions, after)).to.equal('ann');
        expect(ended).to.have.length(1);
      });

      it('are at most twenty per user: the oldest ends', async () => {
        const [sessions, other] = [await process(), await process()];
        const { token } = await issue();
        const bob = await signIn(sessions, (await issue('bob')).token);
        const cookies: string[] = [];
        for (let count = 0; count < 21; count += 1) {
          time += 10;
          cookies.push(await signIn(count % 2 === 0 ? sessions : other, token));
        }
        const users = await Promise.all(cookies.map((cookie) => userOf(sessions, cookie)));
        expect(users[0]).to.equal(undefined);
        expect(users.slice(1)).to.deep.equal(Array.from({ length: 20 }, () => 'ann'));
        expect(await userOf(sessions, bob)).to.equal('bob');
      });

      it('that were opened in the same millisecond end in their order', async () => {
        const sessions = await process();
        const { token } = await issue();
        const cookies: string[] = [];
        for (let count = 0; count < 25; count += 1) cookies.push(await signIn(sessions, token));
        const users = await Promise.all(cookies.map((cookie) => userOf(sessions, cookie)));
        expect(users).to.deep.equal(cookies.map((_cookie, index) => (index < 5 ? undefined : 'ann')));
      });

      it('are deleted with their user', async () => {
        const [sessions, other] = [await process(), await process()];
        const [ann, bob] = [
          await signIn(sessions, (await issue()).token),
          await signIn(sessions, (await issue('bob')).token),
        ];
        expect(await userOf(sessions, ann)).to.equal('ann');
        expect(await sessions.removeOfUser('ann')).to.equal(1);
        expect(await userOf(sessions, ann)).to.equal(undefined);
        expect(await userOf(other, bob)).to.equal('bob');
      });
    }),
  );
