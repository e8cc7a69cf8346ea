/** Query semantics that the stand-ins for MongoDB cannot verify. */
import { expect } from 'chai';
import {
  projectFields,
  sortDocuments,
} from '../../../../../../../imports/business/ai/infrastructure/persistence/databases/query/findOptions';
import { matchesSelector } from '../../../../../../../imports/business/ai/infrastructure/persistence/databases/query/matchDocument';
import { compareScalars } from '../../../../../../../imports/business/ai/infrastructure/persistence/databases/query/scalars';

describe('sortDocuments', () => {
  const ids = (documents: readonly { readonly id: string }[]): string => documents.map(({ id }) => id).join('');

  it('sorts an array by its least element, or by its greatest in descending order', () => {
    const documents = [
      { id: 'a', v: 5 },
      { id: 'b', v: [1, 9] },
      { id: 'c', v: ['x', 2] },
      { id: 'd', v: [] },
      { id: 'e', v: null },
    ];
    expect(ids(sortDocuments(documents, { v: 1 }))).to.equal('debca');
    expect(ids(sortDocuments(documents, { v: -1 }))).to.equal('cbaed');
  });

  it('compares the fields of all objects in an array', () => {
    const documents = [
      { id: 'a', list: [{ n: 3 }, { n: 1 }, 0] },
      { id: 'b', list: [{ n: 2 }] },
    ];
    expect(ids(sortDocuments(documents, { 'list.n': 1 }))).to.equal('ab');
    expect(ids(sortDocuments(documents, { 'list.n': -1 }))).to.equal('ab');
  });

  it('preserves the order of equal documents, and the given list', () => {
    const documents = [
      { id: 'a', n: 1 },
      { id: 'b', n: 0 },
      { id: 'c', n: 1 },
    ];
    expect(ids(sortDocuments(documents, { n: 1 }))).to.equal('bac');
    expect(ids(documents)).to.equal('abc');
    expect(ids(sortDocuments(documents))).to.equal('abc');
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
    const selector = { 'items.k': null };
    expect(matchesSelector({ items: [{ k: 1 }, { j: 1 }] }, selector)).to.equal(true);
    expect(matchesSelector({ items: [{ k: 1 }] }, selector)).to.equal(false);
    expect(matchesSelector({ items: [] }, selector)).to.equal(false);
    expect(matchesSelector({ items: 5 }, selector)).to.equal(true);
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
