/** Query semantics that the stand-ins for MongoDB cannot verify. */
import { expect } from 'chai';
import type { FindOptions } from '../../../../imports/database/DocumentCollection';
import { compileSelector } from '../../../../imports/database/query/compileSelector';
import { projectFields } from '../../../../imports/database/query/findOptions';
import { compareScalars } from '../../../../imports/database/query/scalars';
import { TopDocuments } from '../../../../imports/database/query/TopDocuments';
import { seededRandom } from '../../../../scripts/seed/seededRandom';

describe('TopDocuments', () => {
  const sorted = <T extends object>(documents: readonly T[], sort: FindOptions['sort'], limit?: number): T[] => {
    const top = new TopDocuments<T>(sort, limit);
    for (const document of documents) top.add(document);
    return top.toArray();
  };
  const ids = (documents: readonly { readonly id: string }[]): string => documents.map(({ id }) => id).join('');

  it('sorts an array by its least element, or by its greatest in descending order', () => {
    const documents = [
      { id: 'a', v: 5 },
      { id: 'b', v: [1, 9] },
      { id: 'c', v: ['x', 2] },
      { id: 'd', v: [] },
      { id: 'e', v: null },
    ];
    expect(ids(sorted(documents, { v: 1 }))).to.equal('debca');
    expect(ids(sorted(documents, { v: -1 }))).to.equal('cbaed');
  });

  it('compares the fields of all objects in an array', () => {
    const documents = [
      { id: 'a', list: [{ n: 3 }, { n: 1 }, 0] },
      { id: 'b', list: [{ n: 2 }] },
    ];
    expect(ids(sorted(documents, { 'list.n': 1 }))).to.equal('ab');
    expect(ids(sorted(documents, { 'list.n': -1 }))).to.equal('ab');
  });

  it('preserves the order of equal documents', () => {
    const documents = [
      { id: 'a', n: 1 },
      { id: 'b', n: 0 },
      { id: 'c', n: 1 },
    ];
    expect(ids(sorted(documents, { n: 1 }))).to.equal('bac');
    expect(ids(sorted(documents, {}))).to.equal('abc');
  });

  it('returns the first of many documents, whatever their order', () => {
    const random = seededRandom(5);
    const documents = Array.from({ length: 5_000 }, (_, id) => ({ id, n: Math.floor(random() * 900) }));
    const expected = documents.toSorted((left, right) => left.n - right.n || right.id - left.id);
    const sort = { n: 1, id: -1 } as const;
    for (const limit of [1, 7, 200, 4_999, 9_000])
      expect(sorted(documents, sort, limit), `${limit}`).to.deep.equal(expected.slice(0, limit));
    expect(sorted(expected, sort, 10)).to.deep.equal(expected.slice(0, 10));
    expect(sorted(expected.toReversed(), sort, 10)).to.deep.equal(expected.slice(0, 10));
  });

  it('is full once it has enough documents that need no order', () => {
    const top = new TopDocuments<{ id: number }>({}, 2);
    top.add({ id: 1 });
    expect(top.isFull).to.equal(false);
    top.add({ id: 2 });
    expect(top.isFull).to.equal(true);
    expect(top.toArray()).to.deep.equal([{ id: 1 }, { id: 2 }]);
  });

  it('compares strings by code point, as UTF-8 bytes compare', () => {
    const texts = [
      '',
      'a',
      'ab',
      'b',
      'é',
      '\ud7ff',
      '\ue000',
      '\uffff',
      '\u{10000}',
      '\u{10001}',
      '\u{1f388}',
      '\u{10ffff}',
    ];
    for (const left of texts) {
      for (const right of texts)
        expect(Math.sign(compareScalars(left, right)), `${left} ${right}`).to.equal(
          Buffer.compare(Buffer.from(left), Buffer.from(right)),
        );
    }
  });
});

describe('null in a selector', () => {
  it('matches a field that an object in an array lacks, and nothing in an empty array', () => {
    const isMatch = compileSelector({ 'items.k': null });
    expect(isMatch({ items: [{ k: 1 }, { j: 1 }] })).to.equal(true);
    expect(isMatch({ items: [{ k: 1 }] })).to.equal(false);
    expect(isMatch({ items: [] })).to.equal(false);
    expect(isMatch({ items: 5 })).to.equal(true);
  });
});

describe('projectFields', () => {
  it('finds fields through arrays, and omits values without fields', () => {
    const document = { _id: 'a', list: [{ n: 1, m: 2 }, 5, { m: 3 }], text: 'x', empty: {} };
    expect(projectFields(document, { 'list.n': 1, 'text.n': 1, 'empty.n': 1 })).to.deep.equal({
      _id: 'a',
      list: [{ n: 1 }, {}],
      empty: {},
    });
  });
});
