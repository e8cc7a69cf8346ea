/** Limits per user and window, counted to the same number by every process, in every store. */
import { expect } from 'chai';
import { LLMRateLimitError } from '../../../../imports/business/ai/domain/errors/LLMErrors';
import { DATABASES } from '../../../support/documentDatabases';
import { failure } from '../../../support/failure';
import { ManualClock } from '../../../support/oauth/ManualClock';
import { ADMIN, ProvidersHost } from '../../../support/oauth/ProvidersHost';
import { inFlowingTime } from '../../../support/VirtualTime';

const WINDOW = 3_600_000;

for (const database of Object.keys(DATABASES)) {
  describe(
    `usage limits in ${database}`,
    inFlowingTime(() => {
      let app: ProvidersHost;
      let clock: ManualClock;
      before(async () => {
        clock = new ManualClock();
        app = await ProvidersHost.start({ database, clock });
        const provider = { name: 'P', vendor: 'openai', auth: { kind: 'api_key' }, apiKey: 'sk-x', access: 'everyone' };
        await app.operations['ai.providers.create'](ADMIN, {
          ...provider,
          providerId: 'few',
          limits: { windowMs: WINDOW, requests: 5 },
        });
        await app.operations['ai.providers.create'](ADMIN, {
          ...provider,
          providerId: 'spent',
          limits: { windowMs: WINDOW, requests: 100, tokens: 1_000 },
        });
        await app.operations['ai.providers.create'](ADMIN, { ...provider, providerId: 'free' });
      });
      after(() => app.stop());
      beforeEach(() => {
        clock.advance(WINDOW - (clock.now() % WINDOW));
      });

      const requestToken = (providerId: string, userId = 'alice', module = app.module): Promise<unknown> =>
        module.credentials.getAccessToken({ providerId, userId });

      it('admits exactly the limit of requests, even if many arrive at once from several processes', async () => {
        const modules = [app.module, app.createModule(), app.createModule()];
        const settled = await Promise.allSettled(
          Array.from({ length: 30 }, (_value, index) => requestToken('few', 'alice', modules[index % 3])),
        );
        expect(settled.filter(({ status }) => status === 'fulfilled')).to.have.length(5);
        for (const each of settled)
          if (each.status === 'rejected') expect(each.reason).to.be.instanceOf(LLMRateLimitError);
      });

      it('counts each user separately, and reports when to try again', async () => {
        for (let request = 0; request < 5; request++) await requestToken('few');
        clock.advance(WINDOW / 4);
        const thrown = await failure(requestToken('few'));
        expect(thrown).to.include({ code: 'rate-limited', retryable: false, retryAfterMs: (WINDOW / 4) * 3 });
        await requestToken('few', 'bob');
        clock.advance((WINDOW / 4) * 3);
        await requestToken('few');
      });

      it('rejects a user whose tokens are used up', async () => {
        await requestToken('spent');
        await app.module.recordUsage({ providerId: 'spent', userId: 'alice', tokens: 999 });
        await requestToken('spent');
        await app.createModule().recordUsage({ providerId: 'spent', userId: 'alice', tokens: 500 });
        expect(await failure(requestToken('spent'))).to.be.instanceOf(LLMRateLimitError);
        await requestToken('spent', 'bob');
      });

      it('does not count the repetition of a request after a rejected token', async () => {
        for (let request = 0; request < 5; request++) await requestToken('few');
        await app.module.credentials.getAccessToken({ providerId: 'few', userId: 'alice', forceRefresh: true });
        expect(await failure(requestToken('few'))).to.be.instanceOf(LLMRateLimitError);
      });

      it('counts nothing for providers without limits or that no longer exist', async () => {
        for (let request = 0; request < 20; request++) await requestToken('free');
        await app.module.recordUsage({ providerId: 'free', userId: 'alice', tokens: 5 });
        await app.module.recordUsage({ providerId: 'gone', userId: 'alice', tokens: 5 });
      });
    }),
  );
}
