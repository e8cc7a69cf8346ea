/** The contract of every document store. */
import { expect } from 'chai';
import { ConflictError, LLMInvalidRequestError } from '../../imports/business/ai/domain/errors/LLMErrors';
import type { Aggregation, DocumentCollection, Modifier, Selector } from '../../imports/database/DocumentCollection';
import { findPage } from '../../imports/database/query/findPage';
import type { PageOptions } from '../../imports/database/query/findPage';
import { asScalar } from '../../imports/database/query/scalars';
import {
  SELECTOR_DOCUMENTS,
  INAPPLICABLE_MODIFIERS,
  MODIFIERS,
  INVALID_MODIFIERS,
  INVALID_OPTIONS,
  INVALID_AGGREGATIONS,
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

      it('rejects only the duplicates among many concurrent inserts', async () => {
        await put({ _id: '7' }, { _id: '40' });
        const ids = [...Array.from({ length: 70 }, (_, n) => String(n)), '3', '3', '69'];
        const results = await Promise.allSettled(ids.map((_id, n) => rows.insert({ _id, n })));
        const refused = ids.filter((_, at) => results[at]?.status === 'rejected');
        expect(refused.toSorted()).to.deep.equal(['3', '3', '40', '69', '7']);
        for (const result of results)
          if (result.status === 'rejected') expect(result.reason).to.be.instanceOf(ConflictError);
        expect(await rows.count({})).to.equal(70);
      });
    });

    describe('upsertMany', () => {
      it('updates what matches, inserts what is missing, and leaves the rest as it is', async () => {
        await put({ _id: 'low', n: 1, old: 'x' }, { _id: 'high', n: 9, old: 'y' });
        const change = (_id: string) => ({
          _id,
          selector: { n: { $lte: 5 } },
          modifier: { $set: { n: 5, text: _id }, $unset: { old: true as const } },
        });
        expect(await rows.upsertMany([change('high'), change('low'), change('new')])).to.deep.equal({
          written: 2,
          inserted: 1,
        });
        expect(await rows.find({}, { sort: { _id: 1 } })).to.deep.equal([
          { _id: 'high', n: 9, old: 'y' },
          { _id: 'low', n: 5, text: 'low' },
          { _id: 'new', n: 5, text: 'new' },
        ]);
        expect(await rows.upsertMany([change('new'), change('low')])).to.deep.equal({ written: 2, inserted: 0 });
        expect(await rows.upsertMany([])).to.deep.equal({ written: 0, inserted: 0 });
      });

      it('refuses what cannot be stored', async () => {
        const upsert = { _id: 'a', selector: {}, modifier: { $set: { n: NaN } } };
        expect(await failure(rows.upsertMany([upsert]))).to.be.instanceOf(LLMInvalidRequestError);
        expect(await rows.count({})).to.equal(0);
      });
    });

    describe('insertMany', () => {
      it('inserts all documents, and shares nothing with its caller', async () => {
        const many = Array.from({ length: 2_500 }, (_, n) => ({ _id: `${n}`, n, in: { n } }));
        await rows.insertMany(many);
        many[7]!.in.n = -1;
        expect(await rows.count({})).to.equal(2_500);
        expect(await rows.findOne({ _id: '7' })).to.deep.equal({ _id: '7', n: 7, in: { n: 7 } });
        await rows.insertMany([]);
        expect(await rows.count({})).to.equal(2_500);
      });

      it('rejects a list with a document that cannot be inserted', async () => {
        await rows.ensureIndex({ key: 1, other: 1 }, { unique: true });
        await put({ _id: 'a', key: 1, other: 1 });
        for (const bad of [
          { _id: 'a', key: 2 },
          { _id: 'b', key: 1, other: 1 },
        ])
          expect(await failure(rows.insertMany([{ _id: `new ${bad._id}`, key: bad._id }, bad]))).to.be.instanceOf(
            ConflictError,
          );
        // At most one of two with the same key in a list is inserted, even if part of the key is missing.
        for (const [key, fields] of [
          ['x', { other: 5 }],
          ['y', {}],
        ] as const) {
          const twins = ['1', '2'].map((_id) => ({ _id: `${key}${_id}`, key, ...fields }));
          expect(await failure(rows.insertMany(twins))).to.be.instanceOf(ConflictError);
          expect(await rows.count({ key })).to.be.lessThan(2);
        }
        expect(await failure(rows.insertMany([{ _id: 'c', n: NaN }]))).to.be.instanceOf(LLMInvalidRequestError);
        expect(await rows.findOne({ _id: 'c' })).to.equal(undefined);
      });
    });

    describe('selectors', () => {
      beforeEach(() => put(...SELECTOR_DOCUMENTS));
      for (const [what, selector, expected] of SELECTORS) {
        it(`finds by ${what}`, async () => {
          expect((await ids(selector)).join('')).to.equal(expected);
          expect(await rows.count(selector)).to.equal(expected.length);
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
            () => rows.count(selector as Selector),
            () => rows.aggregate(selector as Selector, {}),
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

    describe('bytes', () => {
      it('is about the size of the matching documents', async () => {
        const long = 'ä'.repeat(50_000);
        await put({ _id: 'a', text: long, n: 1 }, { _id: 'b', text: long, n: 2 }, { _id: 'c', text: 'c', n: 2 });
        await rows.ensureIndex({ n: 1 });
        for (const [selector, size] of [
          [{}, 200_000],
          [{ n: 2 }, 100_000],
          [{ _id: { $in: ['a', 'c'] } }, 100_000],
          [{ _id: 'z' }, 0],
        ] as const)
          expect(await rows.bytes(selector, ['text', 'n', 'none', 'all.*'])).to.be.within(size, size * 1.1);
      });
    });

    describe('aggregate', () => {
      const DAY = 86_400_000;

      it('counts the matching documents and sums their numbers', async () => {
        await put(
          { _id: 'a', n: 1, usage: { tokens: 5 } },
          { _id: 'b', n: 2.5, usage: { tokens: 7 } },
          { _id: 'c', n: null, usage: {} },
          { _id: 'd', n: '9', usage: [{ tokens: 3 }] },
          { _id: 'e', n: [4] },
          { _id: 'f', n: 100, skipped: true },
        );
        const selector = { skipped: null };
        expect(await rows.aggregate(selector, { sum: { n: 'n', tokens: 'usage.tokens', none: 'none' } })).to.deep.equal(
          [
            {
              key: {},
              count: 5,
              sum: { n: { total: 3.5, count: 2 }, tokens: { total: 12, count: 2 }, none: { total: 0, count: 0 } },
              min: {},
              max: {},
            },
          ],
        );
        expect(await rows.aggregate({ _id: 'z' }, { sum: { n: 'n' } })).to.deep.equal([]);
      });

      it('groups by scalars, and counts everything else as null', async () => {
        await put(
          { _id: 'a', by: 'x', in: { n: 1 } },
          { _id: 'b', by: 'x', in: { n: 1 } },
          { _id: 'c', by: 'x', in: { n: '1' } },
          { _id: 'd', by: null },
          { _id: 'e' },
          { _id: 'f', by: ['x'], in: [{ n: 1 }] },
          { _id: 'g', by: { x: 1 }, in: {} },
          { _id: 'h', by: true, in: { n: new Date(5) } },
          { _id: 'i', by: true, in: { n: new Date(5) } },
        );
        const groups = async (aggregation: Aggregation): Promise<readonly unknown[]> =>
          (await rows.aggregate({}, aggregation)).map(({ key, count: documents }) => [key, documents]);
        expect(await groups({ by: { by: 'by' } })).to.deep.equal([
          [{ by: null }, 4],
          [{ by: 'x' }, 3],
          [{ by: true }, 2],
        ]);
        expect(await groups({ by: { a: 'by', n: 'in.n' } })).to.deep.equal([
          [{ a: null, n: null }, 4],
          [{ a: 'x', n: 1 }, 2],
          [{ a: true, n: new Date(5) }, 2],
          [{ a: 'x', n: '1' }, 1],
        ]);
        expect(await groups({ by: { a: 'by', n: 'in.n' }, limit: 2 })).to.have.length(2);
      });

      it('groups by intervals of time, from numbers and dates, in UTC and in local time', async () => {
        await put(
          { _id: 'a', at: 0, n: 1 },
          { _id: 'b', at: new Date(DAY - 1), n: 2 },
          { _id: 'c', at: DAY, n: 4 },
          { _id: 'd', at: 1.7e12, n: 8 },
          { _id: 'e', at: -1, n: 16 },
          { _id: 'f', at: 'noon', n: 32 },
          { _id: 'g', n: 64 },
        );
        const days = async (offset?: number): Promise<Record<string, unknown>> => {
          const at = { path: 'at', width: DAY, ...(offset === undefined ? {} : { offset }) };
          const found = await rows.aggregate({}, { by: { at }, sum: { n: 'n' } });
          return Object.fromEntries(found.map(({ key, sum }) => [String(key['at']), sum['n']?.total]));
        };
        expect(await days()).to.deep.equal({
          0: 3,
          [DAY]: 4,
          [Math.floor(1.7e12 / DAY) * DAY]: 8,
          [-DAY]: 16,
          null: 96,
        });
        const hour = 3_600_000;
        // Two hours east of Greenwich, a day starts at 22:00 UTC of the day before.
        expect(await days(2 * hour)).to.deep.equal({
          [-2 * hour]: 17,
          [DAY - 2 * hour]: 6,
          [Math.floor((1.7e12 + 2 * hour) / DAY) * DAY - 2 * hour]: 8,
          null: 96,
        });
      });

      it('counts a document once per element of an unwound array, and once without elements', async () => {
        await put(
          { _id: 'a', n: 1, in: { tags: ['x', 'y'] } },
          { _id: 'b', n: 2, in: { tags: ['x', 'x', 5] } },
          { _id: 'c', n: 4, in: { tags: [] } },
          { _id: 'd', n: 8 },
          { _id: 'e', n: 16, in: { tags: 'x' } },
          { _id: 'f', n: 32, in: { tags: [{ name: 'x' }, null] } },
        );
        const sums = async (aggregation: Aggregation): Promise<readonly unknown[]> =>
          (await rows.aggregate({}, aggregation)).map(({ key, count: documents, sum }) => [
            key['tag'],
            documents,
            sum['n']?.total,
          ]);
        expect(await sums({ by: { tag: 'in.tags' }, unwind: 'in.tags', sum: { n: 'n' } })).to.deep.equal([
          [null, 4, 76],
          ['x', 4, 21],
          [5, 1, 2],
          ['y', 1, 1],
        ]);
        expect((await sums({ by: { tag: 'in.tags.name' }, unwind: 'in.tags', sum: { n: 'n' } }))[1]).to.deep.equal([
          'x',
          1,
          32,
        ]);
        expect(await rows.find({}, { sort: { _id: 1 }, fields: { in: 1 } })).to.deep.include({
          _id: 'a',
          in: { tags: ['x', 'y'] },
        });
      });

      it('returns least and greatest values', async () => {
        await put(
          { _id: 'a', g: 1, at: new Date(7), n: 3 },
          { _id: 'b', g: 1, at: new Date(2), n: -1 },
          { _id: 'c', g: 1, at: null, n: [99] },
          { _id: 'd', g: 2 },
        );
        const paths = { at: 'at', n: 'n' };
        expect(await rows.aggregate({}, { by: { g: 'g' }, min: paths, max: paths })).to.deep.equal([
          { key: { g: 1 }, count: 3, sum: {}, min: { at: new Date(2), n: -1 }, max: { at: new Date(7), n: 3 } },
          { key: { g: 2 }, count: 1, sum: {}, min: { at: null, n: null }, max: { at: null, n: null } },
        ]);
      });

      for (const [what, aggregation] of Object.entries(INVALID_AGGREGATIONS)) {
        it(`rejects ${what}`, async () => {
          await put({ _id: 'a', a: 1 });
          expect(await failure(rows.aggregate({}, aggregation as Aggregation))).to.be.instanceOf(
            LLMInvalidRequestError,
          );
        });
      }
    });

    describe('findPage', () => {
      const pages = async (options: PageOptions, selector: Selector = {}): Promise<string[][]> => {
        const found: string[][] = [];
        let after: string | undefined;
        do {
          const page = await findPage(rows, selector, { ...options, ...(after === undefined ? {} : { after }) });
          found.push(page.rows.map(({ _id }) => _id));
          after = page.next;
        } while (after !== undefined);
        return found;
      };

      for (const [type, at] of [
        ['numbers', (n: number) => n],
        ['dates', (n: number) => new Date(n)],
        ['strings', (n: number) => `${n} "ü"`],
      ] as const) {
        it(`reaches each document once, also those without the field, sorted by ${type}`, async () => {
          await rows.ensureIndex({ 'in.at': -1, _id: -1 });
          await put(
            { _id: 'a', in: { at: at(3) } },
            { _id: 'b', in: { at: at(1) } },
            { _id: 'c' },
            { _id: 'd', in: { at: at(3) } },
            { _id: 'e', in: { at: null } },
            { _id: 'f', in: { at: at(3) } },
            { _id: 'g', in: {}, hidden: true },
          );
          const down = ['f', 'd', 'a', 'b', 'g', 'e', 'c'];
          for (const limit of [1, 2, 3, 7, 10]) {
            expect((await pages({ sort: 'in.at', limit })).flat(), `${limit} down`).to.deep.equal(down);
            expect((await pages({ sort: 'in.at', order: 'asc', limit })).flat(), `${limit} up`).to.deep.equal(
              down.toReversed(),
            );
          }
          expect(
            await pages({ sort: 'in.at', limit: 3 }, { $or: [{ hidden: null }, { hidden: false }] }),
          ).to.deep.equal([
            ['f', 'd', 'a'],
            ['b', 'e', 'c'],
          ]);
        });
      }

      it('neither repeats nor skips a document when others come and go', async () => {
        await put(...[1, 2, 3, 4, 5, 6].map((n) => ({ _id: `${n}`, n })));
        const first = await findPage(rows, {}, { sort: 'n', limit: 2 });
        await put({ _id: 'new', n: 7 });
        await rows.remove({ _id: '5' });
        const second = await findPage(rows, {}, { sort: 'n', limit: 2, after: first.next! });
        expect(second.rows.map(({ _id }) => _id)).to.deep.equal(['4', '3']);
      });

      it('pages with few fields', async () => {
        await put({ _id: 'a', n: 1, long: 'x', s: 1 }, { _id: 'b', n: 2, long: 'y', s: 1 });
        const page = await findPage(rows, {}, { sort: 'n', limit: 1, fields: { s: 1 } });
        expect(page.rows).to.deep.equal([{ _id: 'b', n: 2, s: 1 }]);
        const options = { sort: 'n', limit: 1, fields: { s: 1 }, after: page.next! } as const;
        expect((await findPage(rows, {}, options)).rows).to.deep.equal([{ _id: 'a', n: 1, s: 1 }]);
      });

      it('rejects a cursor that it did not return, or that belongs to another order', async () => {
        await put({ _id: 'a', n: 1 }, { _id: 'b', n: 2 });
        const { next } = await findPage(rows, {}, { sort: 'n', limit: 1 });
        const encoded = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString('base64url');
        for (const after of [
          '',
          'x',
          '%',
          encoded('text'),
          encoded([]),
          encoded(['desc n', 1]),
          encoded(['desc n', 1, '']),
          encoded(['desc n', true, 'a']),
          encoded(['desc n', { $gt: 0 }, 'a']),
          encoded(['desc n', { date: 1e99 }, 'a']),
          encoded(['desc n', 1, { $gt: '' }]),
        ])
          expect(await failure(findPage(rows, {}, { sort: 'n', limit: 1, after })), after)
            .to.be.instanceOf(LLMInvalidRequestError)
            .and.to.have.property('path', 'after');
        for (const options of [{ sort: 'n', order: 'asc' }, { sort: 'm' }] as const)
          expect(await failure(findPage(rows, {}, { ...options, limit: 1, after: next! })))
            .to.be.instanceOf(LLMInvalidRequestError)
            .and.to.have.property('path', 'after');
      });
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
        ['_id alone', { _id: 1 }, {}],
        ['_id before another field', { _id: 1, a: 1 }, {}],
        ['_id, if it is unique', { a: 1, _id: 1 }, { unique: true }],
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
