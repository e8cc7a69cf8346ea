/** The stored request log, on every database. */
import { expect } from 'chai';
import { REQUEST_OPERATIONS } from '../../imports/business/requestLog/application/requestOperations';
import { bucketOf, valueOf } from '../../imports/business/ai/domain/entities/latencyBuckets';
import { NO_USAGE } from '../../imports/business/ai/domain/entities/Response';
import type { StoredDocument } from '../../imports/database/DocumentCollection';
import type { Actor } from '../../imports/business/ai/domain/types/Actor';
import type { RequestEntry } from '../../imports/business/ai/domain/types/RequestRecords';
import {
  DocumentRequestStore,
  REQUEST_BODIES,
  REQUESTS,
} from '../../imports/business/requestLog/infrastructure/DocumentRequestStore';
import type {
  RequestBodiesDocument,
  RequestDocument,
} from '../../imports/business/requestLog/infrastructure/DocumentRequestStore';
import { createRequestLog } from '../../imports/business/requestLog/createRequestLog';
import { answer } from '../../imports/testing/responses';
import { CANARY } from '../support/canaries';
import { DATABASES } from '../support/documentDatabases';
import type { TestDatabase } from '../support/documentDatabases';
import { failure } from '../support/failure';
import { until } from '../support/until';
import { inFlowingTime } from '../support/VirtualTime';
import { bindOperations } from '../../imports/host/bindOperations';
import type { OperationsOf } from '../../imports/host/bindOperations';

/** Entries of long ago would expire. */
const START = Date.now() - 60_000;
const SECRET = `sk-${CANARY}-0123456789`;

function entry(fields: Partial<RequestEntry> = {}): RequestEntry {
  return {
    at: Date.now(),
    userId: 'ann',
    source: 'gateway',
    api: 'responses',
    isStream: true,
    providerId: 'openai',
    model: 'gpt-5.1-mini',
    state: 'completed',
    attempts: [{ providerId: 'groq', reason: 'timeout', delay: 5, at: 3.5, fallback: 'openai' }],
    timeToFirstToken: 210,
    duration: 1_234.5,
    usage: { ...NO_USAGE, input_tokens: 5, total_tokens: 5 },
    ...fields,
  };
}

for (const [name, open] of Object.entries(DATABASES))
  describe(
    `The stored request log (${name})`,
    inFlowingTime(() => {
      let opened: TestDatabase;
      beforeEach(async () => {
        opened = await open();
      });
      afterEach(() => opened.close());

      const stored = (): Promise<readonly RequestDocument[]> =>
        opened.database.collection<RequestDocument>(REQUESTS).find({});
      const bodies = (): Promise<readonly RequestBodiesDocument[]> =>
        opened.database.collection<RequestBodiesDocument>(REQUEST_BODIES).find({});

      it('has each entry with its buckets and words', async () => {
        const store = new DocumentRequestStore(opened.database);
        await store.ready();
        await store.ready();
        const given = entry({
          tokenName: 'CI of Ann',
          vendorRequestId: 'REQ_9',
          error: { code: 'timeout', message: 'Zu spät!' },
        });
        await store.save([{ entry: given }, { entry: entry() }]);
        const [document] = (await stored()).filter(({ error }) => error !== undefined);
        expect(document).to.deep.include({
          ...given,
          durationBucket: bucketOf(1_234.5),
          timeToFirstTokenBucket: bucketOf(210),
        });
        // No word is the beginning of another one, which would be found by it too.
        expect(document?.words).to.have.members([
          'req_9',
          'ann',
          'ci',
          'of',
          'openai',
          'gpt-5.1-mini',
          '5',
          '1',
          'mini',
          'timeout',
          'zu',
          'spät',
        ]);
        expect(document).not.to.have.property('hasBodies');
        expect(await bodies()).to.deep.equal([]);
        expect(await stored()).to.have.length(2);
      });

      it('has the bodies apart, with secrets masked', async () => {
        const store = new DocumentRequestStore(opened.database);
        await store.ready();
        const request = {
          input: [{ type: 'message', role: 'user', content: [{ type: 'input_text', text: `My key is ${SECRET}.` }] }],
          tools: [{ type: 'mcp', server_url: 'https://x', authorization: CANARY, headers: { 'x-pass': CANARY } }],
          vendor: { openai: { api_key: CANARY, safe: 1 } },
          max_output_tokens: 5,
        };
        await store.save([{ entry: entry(), bodies: { request, response: answer(`You said ${SECRET}`) } }]);
        const [document] = await stored();
        const [body] = await bodies();
        expect(document).to.deep.include({ hasBodies: true });
        expect(body?._id).to.equal(document?._id);
        expect(body?.userId).to.equal('ann');
        expect(JSON.stringify(body)).not.to.include(CANARY);
        expect(JSON.parse(body?.request ?? '')).to.deep.equal({
          input: [{ type: 'message', role: 'user', content: [{ type: 'input_text', text: 'My key is [redacted]' }] }],
          tools: [
            { type: 'mcp', server_url: 'https://x', authorization: '[redacted]', headers: { 'x-pass': '[redacted]' } },
          ],
          vendor: { openai: { api_key: '[redacted]', safe: 1 } },
          max_output_tokens: 5,
        });
        expect(JSON.parse(body?.response ?? '')).to.have.property('status', 'completed');
      });

      it('is bounded in number: those who have the most entries lose their oldest', async () => {
        const store = new DocumentRequestStore(opened.database, {}, { maxEntries: 20 });
        await store.ready();
        const save = async (userId: string, count: number): Promise<void> => {
          for (let number = 0; number < count; number += 2)
            await store.save(
              [0, 1].map((next) => ({
                entry: entry({ userId, at: START + number + next }),
                bodies: { request: { number: number + next } },
              })),
            );
        };
        await save('bob', 4);
        await save('cyd', 6);
        await save('ann', 30);
        const left = (await stored()).map(({ userId, at }) => `${userId} ${at - START}`);
        const numbers = (userId: string, from: number, to: number): readonly string[] =>
          Array.from({ length: to - from }, (_, at) => `${userId} ${from + at}`);
        expect(left).to.have.members([...numbers('bob', 0, 4), ...numbers('cyd', 0, 6), ...numbers('ann', 20, 30)]);
        expect(await bodies()).to.have.length(20);
      });

      it('is bounded in the bytes of bodies: the oldest of a user go, and their entries stay', async () => {
        const store = new DocumentRequestStore(opened.database, {}, { bodies: { perUser: 30_000, total: 1_000_000 } });
        await store.ready();
        const request = { text: 'a word '.repeat(1_300) };
        for (const userId of ['bob', ...Array.from({ length: 6 }, () => 'ann')])
          await store.save([{ entry: entry({ userId, at: START + (await stored()).length }), bodies: { request } }]);
        expect(await stored()).to.have.length(7);
        const entries = new Map((await stored()).map((document) => [document._id, document.at - START]));
        expect((await bodies()).map(({ _id }) => entries.get(_id))).to.have.members([0, 4, 5, 6]);
      });

      it('expires, and the bodies sooner than the entries', async () => {
        const store = new DocumentRequestStore(opened.database, { entries: 60_000, bodies: 1_000 });
        await store.ready();
        const at = Date.now() - 30_000;
        await store.save([
          { entry: entry({ at }), bodies: { request: {} } },
          { entry: entry({ at: Date.now() - 90_000 }), bodies: { request: {} } },
        ]);
        const count = async (collection: string): Promise<number> =>
          (await opened.database.collection<StoredDocument>(collection).find({})).length;
        await opened.expire();
        await until(async () => (await count(REQUESTS)) === 1 && (await count(REQUEST_BODIES)) === 0);
        expect((await stored())[0]?.at).to.equal(at);
      });
    }),
  );

for (const [name, open] of Object.entries(DATABASES))
  describe(
    `ai.requests.* (${name})`,
    inFlowingTime(() => {
      const ANN: Actor = { userId: 'ann', source: 'http' };
      const ADMIN: Actor = { userId: 'root', isAdmin: true, source: 'http' };
      let opened: TestDatabase;
      let operations: OperationsOf<typeof REQUEST_OPERATIONS>;

      /** Ten calls: even ones of ann, odd ones of bob. The number is in each field that a filter compares. */
      before(async () => {
        opened = await open();
        const requests = createRequestLog({ bodies: true }, { database: opened.database });
        await requests.ready();
        for (let at = 0; at < 10; at += 1)
          requests.log?.add(
            entry({
              at: START + at,
              userId: at % 2 === 0 ? 'ann' : 'bob',
              state: at < 3 ? 'failed' : at < 5 ? 'cancelled' : 'completed',
              source: at < 8 ? 'gateway' : 'run',
              api: at < 4 ? 'gemini' : 'responses',
              providerId: at === 7 ? 'groq' : 'openai',
              model: at === 6 ? 'gpt-6' : 'gpt-5.1-mini',
              requestedModel: 'fast',
              cost: at === 9 ? 2 : 0.001 * at,
              duration: 1_000 - at,
              usage: { ...NO_USAGE, total_tokens: (at * 7) % 10 },
              ...(at === 8 ? { executionId: 'run-8', iteration: 1 } : {}),
              ...(at === 2 ? { tokenId: 't-2', tokenName: 'CI of Ann', vendorRequestId: 'req_XyZ' } : {}),
            }),
            at === 2 ? { request: { input: 'Hello' } } : undefined,
          );
        await requests.flush();
        operations = bindOperations(REQUEST_OPERATIONS, {
          requestLog: {
            ...requests,
            searchUsers: (start) => Promise.resolve('bea@x.org'.startsWith(start) ? ['bob'] : []),
          },
        });
      });
      after(() => opened.close());

      const listed = async (argument: object, actor = ADMIN): Promise<readonly number[]> =>
        (await operations['ai.requests.list'](actor, argument)).requests.map(({ at }) => at - START);

      it('list the newest first, to users their own and to admins all', async () => {
        expect(await listed({})).to.deep.equal([9, 8, 7, 6, 5, 4, 3, 2, 1, 0]);
        expect(await listed({}, ANN)).to.deep.equal([8, 6, 4, 2, 0]);
        expect((await operations['ai.requests.list'](ANN)).total).to.equal(5);
      });

      const FILTERS: readonly (readonly [object, readonly number[]])[] = [
        [{ userId: 'bob', state: 'failed' }, [1]],
        [{ state: ['failed', 'cancelled'] }, [4, 3, 2, 1, 0]],
        [{ source: 'run' }, [9, 8]],
        [{ api: 'gemini', from: START + 1, to: START + 2 }, [2, 1]],
        [{ providerId: 'groq' }, [7]],
        [{ model: 'gpt-6' }, [6]],
        [{ model: 'fast', minCost: 0.007 }, [9, 8, 7]],
        [{ tokenId: 't-2' }, [2]],
        [{ executionId: 'run-8' }, [8]],
        [{ minDuration: 995, maxDuration: 997 }, [5, 4, 3]],
        [{ maxCost: 0 }, [0]],
        [{ search: 'ci ann' }, [2]],
        [{ search: 'REQ_xy' }, [2]],
        [{ search: 'groq' }, [7]],
        [{ search: 'nothing' }, []],
        [{ search: 'bea@x' }, [9, 7, 5, 3, 1]],
        [{ search: 'bea@x', userId: 'ann' }, []],
        [{ sort: 'cost', limit: 2 }, [9, 8]],
        [{ sort: 'duration', order: 'asc', limit: 2 }, [9, 8]],
        [{ sort: 'tokens', limit: 3 }, [7, 4, 1]],
      ];
      for (const [argument, expected] of FILTERS)
        it(`list the requests of ${JSON.stringify(argument).replace(/"(from|to)":\d+/g, '$1')}`, async () => {
          expect(await listed(argument)).to.deep.equal(expected);
        });

      for (const sort of ['at', 'cost', 'duration', 'tokens'])
        it(`page through all requests by ${sort}`, async () => {
          const complete = await listed({ sort });
          const paged: number[] = [];
          let after: string | undefined;
          do {
            const page = await operations['ai.requests.list'](ADMIN, { sort, limit: 3, ...(after && { after }) });
            expect(page.total).to.equal(10);
            paged.push(...page.requests.map(({ at }) => at - START));
            after = page.next;
          } while (after !== undefined);
          expect(paged).to.deep.equal(complete).and.to.have.length(10);
        });

      it('return complete entries, whatever they are sorted by', async () => {
        for (const sort of ['at', 'tokens']) {
          const { requests } = await operations['ai.requests.list'](ADMIN, { sort, search: 'req_xyz' });
          expect(requests[0], sort).to.have.property('hasBodies', true);
          expect(requests[0]?.usage, sort).to.deep.equal({ ...NO_USAGE, total_tokens: 4 });
          expect(requests[0]?.attempts, sort).to.have.length(1);
          expect(requests[0], sort).not.to.have.any.keys('words', 'expiresAt');
        }
      });

      it('return one request with its bodies', async () => {
        const [found] = (await operations['ai.requests.list'](ANN, { tokenId: 't-2' })).requests;
        const detail = await operations['ai.requests.get'](ANN, { requestId: found?._id });
        expect(detail.request).to.deep.equal(found);
        expect(JSON.parse(detail.bodies?.request ?? '')).to.deep.equal({ input: 'Hello' });
        expect(detail.logsBodies).to.equal(true);
        expect(await listed({ search: found?._id.toUpperCase() })).to.deep.equal([2]);
        const [other] = (await operations['ai.requests.list'](ADMIN, { search: 'groq' })).requests;
        expect(await operations['ai.requests.get'](ADMIN, { requestId: other?._id })).not.to.have.property('bodies');
      });

      it('hide requests of others, and refuse invalid arguments by their path', async () => {
        const [ofBob] = (await operations['ai.requests.list'](ADMIN, { userId: 'bob' })).requests;
        for (const requestId of [ofBob?._id, 'unknown'])
          expect(await failure(operations['ai.requests.get'](ANN, { requestId }))).to.include({
            path: 'requestId',
            httpStatus: 404,
          });
        expect(await failure(operations['ai.requests.list'](ANN, { userId: 'bob' }))).to.include({
          code: 'permission-denied',
        });
        expect(await failure(operations['ai.requests.list']({ userId: '', source: 'http' }, {}))).to.include({
          code: 'auth-failed',
        });
        for (const [path, value] of Object.entries({
          state: 'odd',
          limit: 201,
          sort: 'model',
          after: 'x',
          minCost: -1,
        }))
          expect(await failure(operations['ai.requests.list'](ANN, { [path]: value })), path)
            .to.have.property('path')
            .that.matches(new RegExp(`^${path}`));
      });
    }),
  );

describe(
  'latencyBuckets',
  inFlowingTime(() => {
    it('return every duration to within 2.5 %', () => {
      for (let milliseconds = 1; milliseconds < 10_000_000; milliseconds *= 1.013)
        expect(Math.abs(valueOf(bucketOf(milliseconds)) / milliseconds - 1)).to.be.below(0.025);
    });

    it('take the shortest durations together', () => {
      for (const milliseconds of [0, 0.2, 1]) expect(bucketOf(milliseconds)).to.equal(0);
      expect(valueOf(0)).to.equal(1);
    });
  }),
);
