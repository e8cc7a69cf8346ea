/** Live text, statistics and rate limits in every store. */
import { expect } from 'chai';
import type { DocumentCollection, StoredDocument } from '../../imports/database/DocumentCollection';
import type { AgentEvent } from '../../imports/business/ai/domain/types/AgentEvents';
import { createRunModule } from '../../imports/business/ai/infrastructure/factories/createRunOperations';
import { createAIModule } from '../../imports/business/ai/infrastructure/factories/createAIModule';
import { DocumentRunViews } from '../../imports/business/ai/infrastructure/persistence/runs/DocumentRunViews';
import { openRunStore } from '../../imports/business/ai/infrastructure/persistence/runs/DocumentRunStore';
import { LiveTextStore } from '../../imports/business/ai/infrastructure/persistence/runs/LiveTextStore';
import type { DeltaDocument } from '../../imports/business/ai/infrastructure/persistence/runs/LiveTextStore';
import type { RunDocument } from '../../imports/business/ai/infrastructure/persistence/runs/runDocuments';
import { RunStatistics } from '../../imports/business/ai/infrastructure/persistence/runs/RunStatistics';
import { RunStatisticsRecorder } from '../../imports/business/ai/infrastructure/persistence/runs/RunStatisticsRecorder';
import type { WindowDocument } from '../../imports/database/FixedWindowLimiter';
import { FixedWindowLimiter } from '../../imports/database/FixedWindowLimiter';
import { LLMRateLimitError } from '../../imports/business/ai/domain/errors/LLMErrors';
import { DATABASES } from '../support/documentDatabases';
import type { TestDatabase } from '../support/documentDatabases';
import { failure } from '../support/failure';
import { runRequest } from '../support/runRequests';
import { inFlowingTime } from '../support/VirtualTime';

/** A collection's methods as plain functions, so that a test can replace one. */
function methodsOf<T extends StoredDocument>(collection: DocumentCollection<T>): DocumentCollection<T> {
  return {
    insert: (document) => collection.insert(document),
    insertMany: (documents) => collection.insertMany(documents),
    findOne: (selector, options) => collection.findOne(selector, options),
    find: (selector, options) => collection.find(selector, options),
    count: (selector) => collection.count(selector),
    bytes: (selector, texts) => collection.bytes(selector, texts),
    aggregate: (selector, aggregation) => collection.aggregate(selector, aggregation),
    update: (selector, modifier, options) => collection.update(selector, modifier, options),
    upsertMany: (changes) => collection.upsertMany(changes),
    remove: (selector) => collection.remove(selector),
    ensureIndex: (keys, options) => collection.ensureIndex(keys, options),
  };
}

for (const [name, open] of Object.entries(DATABASES)) {
  describe(
    `documents of runs in ${name}`,
    inFlowingTime(() => {
      let opened: TestDatabase;
      beforeEach(async () => {
        opened = await open();
      });
      afterEach(() => opened.close());
      const event = (type: AgentEvent['type'], seq: number, more: object = {}): AgentEvent =>
        ({ type, executionId: 'run', at: Date.now(), seq, ...more }) as AgentEvent;

      it('store each fragment of live text as a separate document, once, in order', async () => {
        const texts = new LiveTextStore({
          collection: opened.database.collection('ai_deltas'),
          logger: { warn: () => undefined },
        });
        await texts.ready();
        for (const seq of [2, 5, 9, 9]) texts.record(event('llm:delta', seq, { kind: 'text', delta: `<${seq}>` }));
        texts.record(event('iteration:start', 10, { iteration: 1 }));
        expect(await texts.deltas('run', 10)).to.deep.equal(
          [2, 5, 9].map((seq) => ({ _id: `run:${seq}`, executionId: 'run', seq, kind: 'text', text: `<${seq}>` })),
        );
        expect(await texts.deltas('run', 2)).to.have.length(2);
        expect(await texts.deltas('other', 2)).to.deep.equal([]);
      });

      it('count a run once in its current state, whichever process counts and however often', async () => {
        const { database } = opened;
        const store = await openRunStore(database);
        const counts = new RunStatistics(database.collection('ai_stats'));
        await counts.ready();
        const counters = [1, 2].map(() => new RunStatisticsRecorder({ runs: database.collection('ai_runs'), counts }));
        const createdAt = Date.UTC(2026, 10, 21, 23, 59);
        for (const executionId of ['run', 'other'])
          await store.create(runRequest(executionId, { userId: 'bob', createdAt }), 'running', 'owner');
        const publish = async (...events: AgentEvent[]): Promise<void> => {
          for (const each of events) for (const counter of counters) counter.record(each);
          await Promise.all(counters.map((counter) => counter.close()));
        };
        const seen = async (): Promise<unknown> =>
          (await counts.counts({ userId: 'bob' }, 10)).map(({ day, providerId, state, count }) => ({
            day,
            providerId,
            state,
            count,
          }));
        const day = { day: '2026-11-21', providerId: 'openai' };
        await publish(event('run:started', 1), event('run:started', 1));
        expect(await seen()).to.deep.equal([{ ...day, state: 'running', count: 1 }]);
        await publish({ ...event('run:started', 1), executionId: 'other' });
        await publish(event('run:completed', 3), event('run:completed', 3));
        expect(await seen()).to.have.deep.members([
          { ...day, state: 'running', count: 1 },
          { ...day, state: 'completed', count: 1 },
        ]);
        await publish({ ...event('run:failed', 2), executionId: 'other' });
        expect(await seen()).to.have.deep.members([
          { ...day, state: 'failed', count: 1 },
          { ...day, state: 'completed', count: 1 },
        ]);
        expect(await counts.counts({ userId: 'cat' }, 10)).to.deep.equal([]);
        // A run that was never recorded counts for no user.
        await publish({ ...event('run:completed', 1), executionId: 'unknown' });
        expect(await counts.counts({}, 10)).to.have.length(2);
      });

      it('take back the text and the counts of a run that is removed while they are written', async () => {
        const { database } = opened;
        const store = await openRunStore(database);
        await store.create(runRequest('run', { userId: 'bob' }), 'running', 'owner');
        const counts = new RunStatistics(database.collection('ai_stats'));
        const stored = database.collection<RunDocument>('ai_runs');
        const removed = {
          ...methodsOf(stored),
          update: async (...args: Parameters<typeof stored.update>) => {
            const matched = await stored.update(...args);
            await stored.remove({ _id: 'run' });
            return matched;
          },
        };
        const recorder = new RunStatisticsRecorder({ runs: removed, counts });
        const deltas = database.collection<DeltaDocument>('ai_deltas');
        const texts = new LiveTextStore({ collection: deltas, runs: stored });
        recorder.record(event('run:cancelled', 3));
        await recorder.close();
        for (const each of [event('llm:delta', 2, { kind: 'text', delta: 'late' }), event('run:cancelled', 3)])
          texts.record(each);
        await texts.close();
        expect(await database.collection('ai_stats').find({})).to.deep.equal([]);
        expect(await deltas.find({})).to.deep.equal([]);
      });

      it('admit as many requests per window as the limit allows, across processes', async () => {
        // In the future, so that stores do not expire it.
        let now = (Math.floor(Date.now() / 1_000) + 3_600) * 1_000;
        const counters = [1, 2].map(
          () =>
            new FixedWindowLimiter(opened.database.collection<WindowDocument>('ai_rate_windows'), ['count'], () => now),
        );
        await counters[0]!.ready();
        const attempts = await Promise.all(
          Array.from({ length: 20 }, (_, at) => counters[at % 2]!.admit(['model', 'bob'], { count: 7 }, 1_000)),
        );
        expect(attempts.filter((wait) => wait === 0)).to.have.length(7);
        expect(attempts.filter((wait) => wait !== 0).every((wait) => wait === 1_000)).to.equal(true);
        expect(await counters[0]!.admit(['model', 'cat'], { count: 7 }, 1_000)).to.equal(0);
        expect(await counters[0]!.admit(['command', 'bob'], { count: 7 }, 1_000)).to.equal(0);
        now += 400;
        expect(await counters[1]!.admit(['model', 'bob'], { count: 7 }, 1_000)).to.equal(600);
        now += 600;
        expect(await counters[1]!.admit(['model', 'bob'], { count: 7 }, 1_000)).to.equal(0);
      });

      it('refuse no request while a window has room, whichever process opens it', async () => {
        const now = (Math.floor(Date.now() / 1_000) + 3_600) * 1_000;
        const collection = opened.database.collection<WindowDocument>('ai_rate_windows');
        let isOpened = false;
        // Another process opens the window after this one failed to increment it.
        const late: typeof collection = {
          ...methodsOf(collection),
          async findOne(selector) {
            if (!isOpened)
              await new FixedWindowLimiter(collection, ['count'], () => now).admit(
                ['model', 'bob'],
                { count: 5 },
                1_000,
              );
            isOpened = true;
            return collection.findOne(selector);
          },
        };
        expect(
          await new FixedWindowLimiter(late, ['count'], () => now).admit(['model', 'bob'], { count: 5 }, 1_000),
        ).to.equal(0);
      });

      it('limit what one user may request per minute, across processes, but not jobs', async () => {
        const { database } = opened;
        const halfAMinute = (Math.floor(Date.now() / 60_000) + 60) * 60_000 + 30_000;
        const settings = {
          providers: [
            { id: 'p', vendor: 'openai', apiKey: 'k', baseURL: 'http://127.0.0.1:9', allowPrivateHosts: true },
          ],
        } as const;
        const doors = await Promise.all(
          [1, 2].map(async () => {
            const module = createAIModule(settings, {
              runs: await openRunStore(database),
              access: { decide: () => Promise.resolve({ allowed: false, reason: 'no' }) },
            });
            return createRunModule(module, {
              collection: (each) => database.collection(each),
              views: new DocumentRunViews(database),
              limits: { model: 2 },
              now: () => halfAMinute,
            });
          }),
        );
        const ask = async (at: number, userId: string, source: 'method' | 'job' = 'method'): Promise<unknown> =>
          failure(
            doors[at]!.methods['ai.llm.generateText'](
              { userId, source },
              { requestId: `r${at}`, providerId: 'p', input: 'x' },
            ),
          );
        for (const at of [0, 1]) expect(await ask(at, 'bob')).to.have.property('code', 'permission-denied');
        for (const at of [0, 1])
          expect(await ask(at, 'bob'))
            .to.be.instanceOf(LLMRateLimitError)
            .with.property('retryAfterMs', 30_000);
        expect(await ask(0, 'cat')).to.have.property('code', 'permission-denied');
        expect(await ask(0, 'bob', 'job')).to.have.property('code', 'permission-denied');
        await Promise.all(doors.map((each) => each.close()));
      });
    }),
  );
}
