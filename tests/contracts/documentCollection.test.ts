/** The contract of every document store. */
import { expect } from 'chai';
import { ConflictError, LLMInvalidRequestError } from '../../imports/business/ai/domain/errors/LLMErrors';
import type {
  DocumentCollection,
  Modifier,
  Selector,
} from '../../imports/business/ai/domain/interfaces/DocumentCollection';
import { asScalar } from '../../imports/business/ai/infrastructure/persistence/databases/query/scalars';
import {
  SELECTOR_DOCUMENTS,
  INAPPLICABLE_MODIFIERS,
  MODIFIERS,
  INVALID_MODIFIERS,
  INVALID_OPTIONS,
  INVALID_SELECTORS,
  SELECTORS,
  UNSTORABLE,
} from '../support/documentCases';
import type { Row } from '../support/documentCases';
import { DATABASES } from '../support/documentDatabases';
import type { TestDatabase } from '../support/documentDatabases';
import { failure } from '../support/failure';

for (const [name, open] of Object.entries(DATABASES)) {
  describe(`DocumentCollection: ${name}`, () => {
    let opened: TestDatabase;
    let count = 0;
    let rows: DocumentCollection<Row>;

    before(async () => {
      opened = await open();
    });
    after(() => opened.close());
    beforeEach(() => {
      count += 1;
      rows = opened.database.collection<Row>(`rows_${count}`);
    });

    const put = async (...documents: readonly Row[]): Promise<void> => {
      for (const document of documents) await rows.insert(document);
    };
    const ids = async (selector: Selector): Promise<readonly string[]> =>
      (await rows.find(selector)).map((row) => row._id).sort();
    const changed = async (document: Row, modifier: Modifier): Promise<Row | undefined> => {
      await rows.insert(document);
      expect(await rows.update({ _id: document._id }, modifier)).to.equal(1);
      return rows.findOne({ _id: document._id });
    };

    describe('documents', () => {
      it('returns what was inserted: scalars, nested objects, arrays, dates, any string', async () => {
        const document = {
          _id: 'ключ/🔑',
          text: 'line\nline\r\u2028\u2029\u0085\u0000 "quoted" \\ 🎈 ä \ufeff',
          number: 1.5e-7,
          big: Number.MAX_SAFE_INTEGER,
          negative: -3,
          yes: true,
          none: null,
          at: new Date('2024-02-29T12:34:56.789Z'),
          before1970: new Date(-1),
          epoch: new Date(0),
          nested: { list: [1, 'two', null, { three: 3 }, [4]], empty: {}, none: [] },
          'key with spaces, ünïcödé and "quotes"': 1,
          constructor: 'a word like any other',
        };
        await rows.insert(document);
        expect(await rows.findOne({ _id: document._id })).to.deep.equal(document);
        expect(await rows.find({})).to.deep.equal([document]);
      });

      it('omits undefined fields, and replaces half a surrogate pair by the replacement character', async () => {
        await rows.insert({ _id: 'a', gone: undefined, inside: { gone: undefined }, text: 'x\ud83dy', zero: -0 });
        const row = await rows.findOne({ text: 'x\ud83dy' });
        expect(row).to.deep.equal({ _id: 'a', inside: {}, text: 'x\ufffdy', zero: 0 });
        expect(Object.keys(row ?? {})).to.not.include('gone');
      });

      it('stores large documents', async () => {
        const text = 'ü🎈x\u2028'.repeat(500_000);
        await rows.insert({ _id: 'large', text });
        expect((await rows.findOne({ _id: 'large' }))?.text === text).to.equal(true);
      });

      it('rejects a document that is too large, on insert and on update', async () => {
        const half = 'x'.repeat(8 * 1024 * 1024);
        expect(await failure(rows.insert({ _id: 'a', half, other: half }))).to.be.instanceOf(LLMInvalidRequestError);
        await rows.insert({ _id: 'b', list: [half] });
        expect(await failure(rows.update({ _id: 'b' }, { $push: { list: half } }))).to.be.instanceOf(
          LLMInvalidRequestError,
        );
        expect((await rows.findOne({ _id: 'b' }))?.list).to.have.length(1);
      });

      it('shares nothing with its callers', async () => {
        const at = new Date(5);
        const list = [{ n: 1 }];
        const document = { _id: 'a', at, list };
        await rows.insert(document);
        at.setTime(6);
        list[0]!.n = 2;
        const first = await rows.findOne({ _id: 'a' });
        expect(first).to.deep.equal({ _id: 'a', at: new Date(5), list: [{ n: 1 }] });
        (first?.at as Date).setTime(7);
        (first?.list as { n: number }[])[0]!.n = 3;
        const pushed = { n: 9 };
        await rows.update({ _id: 'a' }, { $set: { more: pushed } });
        pushed.n = 10;
        expect(await rows.findOne({ _id: 'a' })).to.deep.equal({
          _id: 'a',
          at: new Date(5),
          list: [{ n: 1 }],
          more: { n: 9 },
        });
      });

      for (const [what, fields] of Object.entries(UNSTORABLE)) {
        it(`rejects ${what}, in a document and in a modifier`, async () => {
          expect(await failure(rows.insert({ _id: 'a', ...fields }))).to.be.instanceOf(LLMInvalidRequestError);
          expect(await failure(changed({ _id: 'b' }, { $set: { value: fields } }))).to.be.instanceOf(
            LLMInvalidRequestError,
          );
          expect(await rows.find({})).to.deep.equal([{ _id: 'b' }]);
        });
      }

      for (const [what, id] of [
        ['missing', undefined],
        ['empty', ''],
        ['no string', 5],
        ['a prototype', '__proto__'],
      ] as const) {
        it(`rejects an _id that is ${what}`, async () => {
          expect(await failure(rows.insert({ _id: id as string, n: 1 }))).to.be.instanceOf(LLMInvalidRequestError);
          expect(await rows.find({})).to.deep.equal([]);
        });
      }
    });

    describe('insert', () => {
      it('rejects a duplicate _id and changes nothing', async () => {
        await put({ _id: 'a', n: 1 });
        expect(await failure(rows.insert({ _id: 'a', n: 2 })))
          .to.be.instanceOf(ConflictError)
          .and.to.have.property('code', 'conflict');
        expect(await rows.find({})).to.deep.equal([{ _id: 'a', n: 1 }]);
      });

      it('lets one of many concurrent inserts of the same _id succeed', async () => {
        const results = await Promise.allSettled(Array.from({ length: 20 }, (_, n) => rows.insert({ _id: 'same', n })));
        expect(results.filter((result) => result.status === 'fulfilled')).to.have.length(1);
        for (const result of results)
          if (result.status === 'rejected') expect(result.reason).to.be.instanceOf(ConflictError);
      });
    });

    describe('selectors', () => {
      beforeEach(() => put(...SELECTOR_DOCUMENTS));
      for (const [what, selector, expected] of SELECTORS) {
        it(`finds by ${what}`, async () => {
          expect((await ids(selector)).join('')).to.equal(expected);
        });
      }

      it('finds the same when the fields are indexed', async () => {
        for (const field of ['n', 's', 'at', 'list', 'flag', 'none', 'nested.n'])
          await rows.ensureIndex({ [field]: 1 });
        for (const [what, selector, expected] of SELECTORS)
          expect((await ids(selector)).join(''), what).to.equal(expected);
        await rows.update({ _id: 'a' }, { $set: { n: 3, flag: null, 'nested.n': 2 }, $push: { list: '1' } });
        await rows.remove({ _id: 'b' });
        expect(await ids({ n: 3 })).to.deep.equal(['a', 'c']);
        expect(await ids({ list: '1' })).to.deep.equal(['a', 'c']);
        expect(await ids({ flag: null })).to.deep.equal(['a', 'd']);
        expect(await ids({ 'nested.n': 2 })).to.deep.equal(['a']);
      });
    });

    describe('invalid selectors', () => {
      for (const [what, selector] of Object.entries(INVALID_SELECTORS)) {
        it(`rejects ${what}`, async () => {
          await put({ _id: 'a', a: 'secret' });
          for (const attempt of [
            () => rows.find(selector as Selector),
            () => rows.findOne(selector as Selector),
            () => rows.update(selector as Selector, { $set: { a: 1 } }),
            () => rows.remove(selector as Selector),
          ]) {
            expect(await failure(attempt())).to.be.instanceOf(LLMInvalidRequestError);
          }
          expect(await rows.find({})).to.deep.equal([{ _id: 'a', a: 'secret' }]);
        });
      }

      it('never reads an untrusted value as an operator, through asScalar or as an element of $in', async () => {
        await put({ _id: 'a', token: 'secret' });
        const sent: unknown = JSON.parse('{"$gt":""}');
        // What both prevent: as a plain value in a selector, it would be an operator.
        expect(await ids({ token: sent })).to.deep.equal(['a']);
        expect(() => asScalar(sent, 'token')).to.throw(LLMInvalidRequestError);
        expect(await failure(rows.find({ token: { $in: [sent] } }))).to.be.instanceOf(LLMInvalidRequestError);
        expect(await ids({ token: asScalar('secret', 'token') })).to.deep.equal(['a']);
      });
    });

    describe('sort, limit and fields', () => {
      it('sorts by type, then by value, in both directions, and by several fields', async () => {
        await put(
          { _id: 'text', v: 'b' },
          { _id: 'upper', v: 'B' },
          { _id: 'number', v: 10 },
          { _id: 'small', v: 9 },
          { _id: 'date', v: new Date(0) },
          { _id: 'yes', v: true },
          { _id: 'no', v: false },
          { _id: 'null', v: null },
          { _id: 'none' },
          { _id: 'list', v: [9.6, 9.5] },
          { _id: 'empty', v: [] },
        );
        const sortedIds = async (sort: Readonly<Record<string, 1 | -1>>): Promise<readonly string[]> =>
          (await rows.find({}, { sort })).map((row) => row._id);
        expect(await sortedIds({ v: 1, _id: 1 })).to.deep.equal([
          'empty',
          'none',
          'null',
          'small',
          'list',
          'number',
          'upper',
          'text',
          'no',
          'yes',
          'date',
        ]);
        expect(await sortedIds({ v: -1, _id: 1 })).to.deep.equal([
          'date',
          'yes',
          'no',
          'text',
          'upper',
          'number',
          'list',
          'small',
          'none',
          'null',
          'empty',
        ]);
      });

      it('limits the sorted documents', async () => {
        await put(...[3, 1, 2, 5, 4].map((n) => ({ _id: `${n}`, n })));
        expect((await rows.find({ n: { $gt: 1 } }, { sort: { n: -1 }, limit: 2 })).map((row) => row.n)).to.deep.equal([
          5, 4,
        ]);
        expect((await rows.findOne({}, { sort: { n: 1 } }))?.n).to.equal(1);
        expect(await rows.find({}, { limit: 100 })).to.have.length(5);
        expect(await rows.findOne({ n: 9 })).to.equal(undefined);
      });

      it('returns the requested fields and _id', async () => {
        await put({ _id: 'a', n: 1, s: 'x', nested: { a: 1, b: { c: 2, d: 3 } }, list: [{ a: 1, b: 2 }, 5] });
        expect(await rows.find({}, { fields: { n: 1 } })).to.deep.equal([{ _id: 'a', n: 1 }]);
        expect(await rows.findOne({}, { fields: { _id: 1 } })).to.deep.equal({ _id: 'a' });
        expect(
          await rows.findOne({}, { fields: { 'nested.b.c': 1, 's.t': 1, missing: 1, 'list.a': 1 } }),
        ).to.deep.equal({ _id: 'a', nested: { b: { c: 2 } }, list: [{ a: 1 }] });
      });

      for (const [what, options] of Object.entries(INVALID_OPTIONS)) {
        it(`rejects ${what}`, async () => {
          expect(await failure(rows.find({}, options))).to.be.instanceOf(LLMInvalidRequestError);
        });
      }
    });

    describe('update', () => {
      for (const [what, document, modifier, expected] of MODIFIERS) {
        it(`applies ${what}`, async () => {
          expect(await changed(document, modifier)).to.deep.equal(expected);
        });
      }

      it('updates one match, or all with multi, and returns how many', async () => {
        await put({ _id: 'a', n: 1 }, { _id: 'b', n: 1 }, { _id: 'c', n: 2 });
        expect(await rows.update({ n: 1 }, { $set: { seen: 1 } })).to.equal(1);
        expect(await rows.find({ seen: 1 })).to.have.length(1);
        expect(await rows.update({ n: 1 }, { $set: { seen: 2 } }, { multi: true })).to.equal(2);
        expect(await ids({ seen: 2 })).to.deep.equal(['a', 'b']);
        expect(await rows.update({ n: 9 }, { $set: { seen: 3 } }, { multi: true })).to.equal(0);
      });

      for (const [what, document, modifier] of INAPPLICABLE_MODIFIERS) {
        it(`rejects ${what} and changes nothing`, async () => {
          await put({ _id: 'a', ...document, other: 1 });
          expect(
            await failure(
              rows.update(
                { _id: 'a' },
                { ...modifier, ...('$set' in modifier ? { $inc: { other: 1 } } : { $set: { other: 2 } }) },
              ),
            ),
          ).to.be.instanceOf(LLMInvalidRequestError);
          expect(await rows.findOne({ _id: 'a' })).to.deep.equal({ _id: 'a', ...document, other: 1 });
        });
      }

      for (const [what, modifier] of Object.entries(INVALID_MODIFIERS)) {
        it(`rejects ${what}`, async () => {
          await put({ _id: 'a', n: 1, list: [1] });
          expect(await failure(rows.update({ _id: 'a' }, modifier as Modifier))).to.be.instanceOf(
            LLMInvalidRequestError,
          );
          expect(await rows.findOne({ _id: 'a' })).to.deep.equal({ _id: 'a', n: 1, list: [1] });
        });
      }

      it('is a compare-and-set: exactly one of 50 concurrent updates of the same state succeeds, in every round', async () => {
        await put({ _id: 'lease', state: 0, winners: [] });
        for (let state = 0; state < 10; state += 1) {
          const counts = await Promise.all(
            Array.from({ length: 50 }, (_, worker) =>
              rows.update(
                { _id: 'lease', state },
                { $set: { state: state + 1, owner: worker }, $push: { winners: worker } },
              ),
            ),
          );
          expect(
            counts.filter((matched) => matched === 1),
            `round ${state}`,
          ).to.have.length(1);
          expect((await rows.findOne({ _id: 'lease' }))?.owner).to.equal(counts.indexOf(1));
        }
        expect((await rows.findOne({ _id: 'lease' }))?.winners).to.have.length(10);
      });

      it('loses none of many concurrent increments', async () => {
        await put({ _id: 'a', n: 0 });
        await Promise.all(Array.from({ length: 50 }, () => rows.update({ _id: 'a' }, { $inc: { n: 1 } })));
        expect((await rows.findOne({ _id: 'a' }))?.n).to.equal(50);
      });
    });

    describe('remove', () => {
      it('removes the matches and returns how many', async () => {
        await put({ _id: 'a', n: 1 }, { _id: 'b', n: 1 }, { _id: 'c', n: 2 });
        expect(await rows.remove({ n: 1 })).to.equal(2);
        expect(await rows.remove({ n: 1 })).to.equal(0);
        expect(await ids({})).to.deep.equal(['c']);
        expect(await rows.remove({})).to.equal(1);
        await put({ _id: 'a' });
        expect(await ids({})).to.deep.equal(['a']);
      });
    });

    describe('indexes', () => {
      it('enforces unique keys through inserts, updates and removals', async () => {
        await rows.ensureIndex({ email: 1 }, { unique: true });
        await put({ _id: 'a', email: 'x' }, { _id: 'b', email: 'y' });
        expect(await failure(rows.insert({ _id: 'c', email: 'x' }))).to.be.instanceOf(ConflictError);
        expect(await failure(rows.update({ _id: 'b' }, { $set: { email: 'x' } }))).to.be.instanceOf(ConflictError);
        expect(await rows.findOne({ _id: 'b' })).to.deep.equal({ _id: 'b', email: 'y' });
        await rows.remove({ _id: 'a' });
        expect(await rows.update({ _id: 'b' }, { $set: { email: 'x' } })).to.equal(1);
        expect(await failure(rows.insert({ _id: 'c', email: 'x' }))).to.be.instanceOf(ConflictError);
        await put({ _id: 'c', email: 'y' });
      });

      it('treats a missing field and null as the same key', async () => {
        await rows.ensureIndex({ email: 1 }, { unique: true });
        await put({ _id: 'a' });
        expect(await failure(rows.insert({ _id: 'b', email: null }))).to.be.instanceOf(ConflictError);
        expect(await failure(rows.insert({ _id: 'c' }))).to.be.instanceOf(ConflictError);
        await put({ _id: 'd', email: 'x' });
        expect(await failure(rows.update({ _id: 'd' }, { $unset: { email: true } }))).to.be.instanceOf(ConflictError);
      });

      it('ignores documents without the field if the index is sparse', async () => {
        await rows.ensureIndex({ email: 1 }, { unique: true, sparse: true });
        await put({ _id: 'a' }, { _id: 'b' }, { _id: 'c', email: null });
        expect(await failure(rows.insert({ _id: 'd', email: null }))).to.be.instanceOf(ConflictError);
        await put({ _id: 'e', email: 'x' });
        expect(await failure(rows.update({ _id: 'a' }, { $set: { email: 'x' } }))).to.be.instanceOf(ConflictError);
        expect(await rows.find({ email: null })).to.have.length(3);
      });

      it('supports compound keys', async () => {
        await rows.ensureIndex({ user: 1, request: -1 }, { unique: true });
        await put(
          { _id: 'a', user: 'u', request: 'r' },
          { _id: 'b', user: 'u', request: 's' },
          { _id: 'c', user: 'v', request: 'r' },
          { _id: 'd', user: 'u' },
        );
        expect(await failure(rows.insert({ _id: 'e', user: 'v', request: 'r' }))).to.be.instanceOf(ConflictError);
        expect(await failure(rows.insert({ _id: 'e', user: 'u', request: null }))).to.be.instanceOf(ConflictError);
        expect(await ids({ user: 'u', request: 's' })).to.deep.equal(['b']);
      });

      it('rejects a unique index over documents with the same key', async () => {
        await put({ _id: 'a', n: 1 }, { _id: 'b', n: 1 }, { _id: 'c', m: 1 }, { _id: 'd' });
        expect(await failure(rows.ensureIndex({ n: 1 }, { unique: true }))).to.be.instanceOf(ConflictError);
        expect(await failure(rows.ensureIndex({ m: 1 }, { unique: true }))).to.be.instanceOf(ConflictError);
        await rows.ensureIndex({ m: 1 }, { unique: true, sparse: true });
      });

      it('can be created again, but not with other options', async () => {
        await rows.ensureIndex({ n: 1 }, { unique: true });
        await rows.ensureIndex({ n: 1 }, { unique: true, sparse: false });
        expect(await failure(rows.ensureIndex({ n: 1 }))).to.be.instanceOf(LLMInvalidRequestError);
      });

      for (const [what, keys, options] of [
        ['no field', {}, {}],
        ['a direction other than 1 and -1', { a: 'text' }, {}],
        ['an operator', { $a: 1 }, {}],
        ['every field', { '$**': 1 }, {}],
        ['two fields with an expiry', { a: 1, b: 1 }, { expireAfterSeconds: 1 }],
        ['a negative expiry', { a: 1 }, { expireAfterSeconds: -1 }],
      ] as const) {
        it(`rejects an index on ${what}`, async () => {
          expect(await failure(rows.ensureIndex(keys as Readonly<Record<string, 1>>, options))).to.be.instanceOf(
            LLMInvalidRequestError,
          );
        });
      }

      // The server at MONGO_URL scans for expired documents on its own schedule.
      const canTriggerExpiry = process.env['MONGO_URL'] === undefined || open !== DATABASES['MongoDB over the wire'];
      if (canTriggerExpiry)
        it('removes documents by their expiry date, and no others', async () => {
          await rows.ensureIndex({ at: 1 }, { expireAfterSeconds: 60 });
          const now = Date.now();
          await put(
            { _id: 'old', at: new Date(now - 61_000) },
            { _id: 'young', at: new Date(now - 30_000) },
            { _id: 'future', at: new Date(now + 1e9) },
            { _id: 'number', at: 5 },
            { _id: 'text', at: '1970-01-01T00:00:00Z' },
            { _id: 'none' },
          );
          await opened.expire();
          // The store scans on its own timer; the test's timeout limits the wait.
          while ((await rows.findOne({ _id: 'old' })) !== undefined)
            await new Promise((resolve) => setImmediate(resolve));
          expect(await ids({})).to.deep.equal(['future', 'none', 'number', 'text', 'young']);
          await put({ _id: 'old', at: new Date() });
        });
    });

    it('separates collections, and returns the same one for the same name', async () => {
      await put({ _id: 'a' });
      expect(await opened.database.collection<Row>(`rows_${count}`).find({})).to.have.length(1);
      expect(await opened.database.collection<Row>(`other_${count}`).find({})).to.deep.equal([]);
    });

    for (const bad of ['', '../up', 'a/b', 'a.b', '$cmd', 'a b', 'system.users', '1st', 'x'.repeat(65)]) {
      it(`rejects ${JSON.stringify(bad.slice(0, 12))} as the name of a collection`, () => {
        expect(() => opened.database.collection(bad)).to.throw(LLMInvalidRequestError);
      });
    }
  });
}
