/** The limits of users across processes: two limiters on one database, with a clock that the test sets. */
import { expect } from 'chai';
import { UserLimiter } from '../../imports/business/limits/application/UserLimiter';
import { LLMRateLimitError } from '../../imports/business/ai/domain/errors/LLMErrors';
import { DEFAULT_USER_LIMITS } from '../../imports/business/limits/domain/UserLimits';
import type { UserLimits } from '../../imports/business/limits/domain/UserLimits';
import { DocumentUserLoads, USER_LOADS } from '../../imports/business/limits/infrastructure/DocumentUserLoads';
import type { UserLoadDocument } from '../../imports/business/limits/infrastructure/DocumentUserLoads';
import { DATABASES } from '../support/documentDatabases';
import type { TestDatabase } from '../support/documentDatabases';
import { failure } from '../support/failure';
import { inFlowingTime } from '../support/VirtualTime';

const LEASE_MS = 30_000;
const MINUTE = 29_000_000 * 60_000;

for (const [kind, open] of Object.entries(DATABASES))
  describe(
    `The limits of users of two processes, in ${kind}`,
    inFlowingTime(() => {
      let opened: TestDatabase;
      let now: number;
      let processes: UserLimiter[];
      /** Adds a process. @param isKilled whether it reaches the store no more */
      const start = async (limits: Partial<UserLimits>, isKilled = () => false): Promise<UserLimiter> => {
        const store = new DocumentUserLoads(opened.database.collection<UserLoadDocument>(USER_LOADS));
        await store.ready();
        const limiter = new UserLimiter({
          limits: { ...DEFAULT_USER_LIMITS, ...limits },
          store: new Proxy(store, {
            get: (target, name, receiver) =>
              isKilled() ? () => new Promise(() => undefined) : (Reflect.get(target, name, receiver) as unknown),
          }),
          leaseMs: LEASE_MS,
          now: () => now,
        });
        processes.push(limiter);
        return limiter;
      };
      const refused = async (admitted: () => unknown): Promise<LLMRateLimitError> => {
        const error = await failure((async () => admitted())());
        expect(error).to.be.instanceOf(LLMRateLimitError);
        return error as LLMRateLimitError;
      };
      beforeEach(async () => {
        opened = await open();
        // Later than the database's own clock, which removes what has expired.
        now = Math.max(MINUTE, Math.ceil(Date.now() / 60_000) * 60_000 + 60_000);
        processes = [];
      });
      afterEach(async () => {
        await Promise.all(processes.map((process) => process.close()));
        await opened.close();
      });

      it('counts small numbers exactly, for each user', async () => {
        const [first, second] = [await start({ parallelCalls: 2 }), await start({ parallelCalls: 2 })];
        const release = await first.begin('ann', 'calls');
        await second.begin('ann', 'calls');
        expect((await refused(() => first.begin('ann', 'calls'))).message).to.equal(
          'You are limited to 2 requests at a time: 2 are in progress. Wait for one to end.',
        );
        expect(await refused(() => second.begin('ann', 'calls'))).to.include({ retryAfterMs: 1_000 });
        await first.begin('bob', 'calls');
        release();
        now += 1_000;
        await first.flush();
        await second.begin('ann', 'calls');
      });

      it('exceeds no limit by more than a twentieth of it per further process, whatever arrives at once', async () => {
        const limits = { parallelCalls: 40, requestsPerMinute: 1_000 };
        const all = [await start(limits), await start(limits), await start(limits)];
        const outcomes = await Promise.allSettled(
          Array.from({ length: 300 }, (_, at) => (async () => all[at % 3]?.begin('ann', 'calls'))()),
        );
        const admitted = outcomes.filter(({ status }) => status === 'fulfilled').length;
        expect(admitted).to.be.within(40, 40 + 2 * 2);
        for (const outcome of outcomes)
          if (outcome.status === 'rejected') expect(outcome.reason).to.be.instanceOf(LLMRateLimitError);
        now += 1_000;
        for (const process of all) await refused(() => process.begin('ann', 'calls'));
      });

      it('stores nothing of a user who is far from every limit, and what is held after a while', async () => {
        const first = await start({});
        const releases = [await first.begin('ann', 'calls'), await first.begin('ann', 'connections')];
        await first.flush();
        const stored = (): Promise<number> => opened.database.collection(USER_LOADS).count({});
        expect(await stored()).to.equal(0);
        for (const release of releases) release();
        await first.begin('ann', 'connections');
        now += LEASE_MS / 2;
        await first.flush();
        expect(await stored()).to.equal(1);
      });

      it('does not count what a killed process held, once its lease has expired', async () => {
        let isKilled = false;
        const killed = await start({ connections: 2 }, () => isKilled);
        await killed.begin('ann', 'connections');
        await killed.begin('ann', 'connections');
        isKilled = true;
        processes = [];
        const other = await start({ connections: 2 });
        await refused(() => other.begin('ann', 'connections'));
        now += LEASE_MS - 1;
        await refused(() => other.begin('ann', 'connections'));
        now += 200;
        await other.begin('ann', 'connections');
      });

      it('counts what a process still holds, however long', async () => {
        const [first, second] = [await start({ connections: 1 }), await start({ connections: 1 })];
        await first.begin('ann', 'connections');
        for (let passed = 0; passed < 5 * LEASE_MS; passed += LEASE_MS / 2) {
          now += LEASE_MS / 2;
          await first.flush();
          await refused(() => second.begin('ann', 'connections'));
        }
      });

      it('counts requests of a minute, also those of a process that has stopped', async () => {
        const first = await start({ requestsPerMinute: 3 });
        for (let sent = 0; sent < 3; sent += 1) (await first.begin('ann', 'calls'))();
        await first.close();
        const second = await start({ requestsPerMinute: 3 });
        now += 45_000;
        const error = await refused(() => second.begin('ann', 'nothing'));
        expect(error.message).to.equal(
          'You are limited to 3 requests per minute: 3 are used. The next minute begins in 15 s.',
        );
        expect(error).to.include({ retryAfterMs: 15_000 });
        now += 15_000;
        await second.begin('ann', 'nothing');
      });

      it('counts the tokens that calls have used, and those that calls in progress are expected to use', async () => {
        const [first, second] = [await start({ tokensPerMinute: 100 }), await start({ tokensPerMinute: 100 })];
        const settle = await first.reserveTokens('ann', 70);
        await refused(() => second.reserveTokens('ann', 70));
        settle(20);
        await first.flush();
        now += 1_000;
        const later = await second.reserveTokens('ann', 70);
        later(1_000);
        await second.flush();
        now += 1_000;
        await refused(() => first.reserveTokens('ann', 10));
        await refused(() => second.reserveTokens('ann', 1));
        now += 60_000;
        // More than the limit, but alone in its minute.
        (await second.reserveTokens('ann', 500))(500);
        await second.flush();
        now += 1_000;
        await refused(() => first.reserveTokens('ann', 10));
      });

      it('counts users of any id', async () => {
        const first = await start({ parallelCalls: 1 });
        for (const userId of ['__proto__', 'ann/b@c', '$x.y']) {
          await first.begin(userId, 'calls');
          await refused(() => first.begin(userId, 'calls'));
        }
      });

      it('forgets a user', async () => {
        const first = await start({ queuedMessages: 1 });
        const release = await first.enqueue('ann');
        await refused(() => first.enqueue('ann'));
        first.forget('ann');
        await opened.database.collection(USER_LOADS).remove({});
        release();
        await first.enqueue('ann');
      });
    }),
  );
