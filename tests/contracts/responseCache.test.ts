/** What every response cache guarantees. */
import { expect } from 'chai';
import { MemoryResponseCache } from '../../imports/business/ai/application/services/routing/cache/MemoryResponseCache';
import { MAX_CACHED_LENGTH } from '../../imports/business/ai/domain/entities/cacheLimits';
import type { CachedResponse, ResponseCache } from '../../imports/business/ai/domain/interfaces/ResponseCache';
import {
  openResponseCache,
  RESPONSE_CACHE,
} from '../../imports/business/ai/infrastructure/persistence/cache/DocumentResponseCache';
import type { CachedResponseDocument } from '../../imports/business/ai/infrastructure/persistence/cache/DocumentResponseCache';
import { answer } from '../../imports/testing/responses';
import { DATABASES } from '../support/documentDatabases';
import type { TestDatabase } from '../support/documentDatabases';
import { RecordingLogger } from '../support/RecordingLogger';

/** In the future, so that databases remove nothing themselves. */
const START = 4_000_000_000_000;

interface OpenedCache {
  readonly cache: ResponseCache;
  readonly logger: RecordingLogger;
  readonly opened?: TestDatabase;
}

const OPEN: Readonly<Record<string, (now: () => number, maxEntries?: number) => Promise<OpenedCache>>> = {
  memory: (now, maxEntries) =>
    Promise.resolve({
      cache: new MemoryResponseCache({ now, ...(maxEntries === undefined ? {} : { maxEntries }) }),
      logger: new RecordingLogger(),
    }),
  ...Object.fromEntries(
    Object.entries(DATABASES).map(([kind, open]) => [
      kind,
      async (now: () => number, maxEntries?: number) => {
        const opened = await open();
        const logger = new RecordingLogger();
        const limits = maxEntries === undefined ? {} : { maxEntries };
        return { cache: await openResponseCache(opened.database, { now, logger, ...limits }), logger, opened };
      },
    ]),
  ),
};

for (const [kind, open] of Object.entries(OPEN))
  describe(`The response cache (${kind})`, () => {
    let test: OpenedCache;
    let now = START;
    const entry = (text: string, ttl = 60_000): CachedResponse => ({
      storedAt: now,
      expiresAt: now + ttl,
      response: answer(text),
    });
    const start = async (maxEntries?: number): Promise<void> => {
      now = START;
      test = await open(() => now, maxEntries);
    };
    afterEach(() => test.opened?.close());

    it('returns what was saved, to its user only', async () => {
      await start();
      const saved = entry('Cobalt is blue.');
      await test.cache.save('ann', 'key', saved);
      expect(await test.cache.find('ann', 'key')).to.deep.equal(saved);
      expect(await test.cache.find('bob', 'key')).to.equal(undefined);
      expect(await test.cache.find('ann', 'other key')).to.equal(undefined);
    });

    it('replaces an entry', async () => {
      await start();
      await test.cache.save('ann', 'key', entry('old'));
      const saved = entry('new');
      await test.cache.save('ann', 'key', saved);
      expect(await test.cache.find('ann', 'key')).to.deep.equal(saved);
    });

    it('returns no entry that has expired', async () => {
      await start();
      await test.cache.save('ann', 'key', entry('text', 1_000));
      now += 999;
      expect(await test.cache.find('ann', 'key')).not.to.equal(undefined);
      now += 1;
      expect(await test.cache.find('ann', 'key')).to.equal(undefined);
    });

    it('does not store a response that is too large', async () => {
      await start();
      await test.cache.save('ann', 'key', entry('x'.repeat(MAX_CACHED_LENGTH)));
      expect(await test.cache.find('ann', 'key')).to.equal(undefined);
    });

    it('evicts the oldest entries', async () => {
      await start(3);
      for (let number = 0; number < 6; number += 1) {
        now += 1;
        await test.cache.save('ann', `key ${number}`, entry(`text ${number}`));
      }
      const left: number[] = [];
      for (let number = 0; number < 6; number += 1)
        if ((await test.cache.find('ann', `key ${number}`)) !== undefined) left.push(number);
      expect(left).to.deep.equal([3, 4, 5]);
    });

    it('takes parallel saves of one entry', async () => {
      await start();
      await Promise.all(Array.from({ length: 20 }, () => test.cache.save('ann', 'key', entry('text'))));
      expect((await test.cache.find('ann', 'key'))?.response.output_text).to.equal('text');
    });

    if (kind !== 'memory')
      for (const [what, response] of Object.entries({
        'is cut off': '{"id":"resp_1","output":[',
        'is no response': '{"id":"resp_1"}',
        'has output that is none': '{"id":"r","model":"m","status":"completed","output":[1],"usage":{},"vendor":{}}',
      }))
        it(`ignores an entry that ${what}, with a warning`, async () => {
          await start();
          await test.cache.save('ann', 'key', entry('text'));
          const documents = test.opened!.database.collection<CachedResponseDocument>(RESPONSE_CACHE);
          await documents.update({ userId: 'ann' }, { $set: { response } });
          expect(await test.cache.find('ann', 'key')).to.equal(undefined);
          expect(test.logger.warnings).to.deep.equal(['A cached response cannot be read and was ignored.']);
          const saved = entry('again');
          await test.cache.save('ann', 'key', saved);
          expect(await test.cache.find('ann', 'key')).to.deep.equal(saved);
        });
  });
