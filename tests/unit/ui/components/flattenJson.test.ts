import { expect } from 'chai';
import { countValues, flattenJson, pathOf, searchJson } from '../../../../imports/ui/components/flattenJson';
import type { JsonRow } from '../../../../imports/ui/components/flattenJson';

const NONE: ReadonlySet<unknown> = new Set();
const ALL = { levels: Infinity, toggled: NONE };
const pathsOf = (rows: readonly JsonRow[]): readonly string[] => rows.map(pathOf);

describe('flattenJson', () => {
  const value = { user: { name: 'Ann', 'odd key': [1, null] }, empty: {} };

  it('lists every value in the order of the JSON, with its path', () => {
    expect(pathsOf(flattenJson(value, ALL))).to.deep.equal([
      '$',
      '$.user',
      '$.user.name',
      '$.user["odd key"]',
      '$.user["odd key"][0]',
      '$.user["odd key"][1]',
      '$.empty',
    ]);
  });

  it('opens the given levels, and closes or opens what was toggled', () => {
    expect(pathsOf(flattenJson(value, { levels: 1, toggled: NONE }))).to.deep.equal(['$', '$.user', '$.empty']);
    expect(pathsOf(flattenJson(value, { levels: 1, toggled: new Set([value.user]) }))).to.have.length(5);
    expect(pathsOf(flattenJson(value, { levels: Infinity, toggled: new Set([value]) }))).to.deep.equal(['$']);
  });

  it('marks what can be opened', () => {
    const rows = flattenJson(value, { levels: 1, toggled: NONE });
    expect(rows.map((row) => row.isExpanded)).to.deep.equal([true, false, undefined]);
  });

  it('takes values that are nested deeper than the call stack, and long lists', () => {
    const deep: unknown = JSON.parse(`${'['.repeat(20_000)}"needle"${']'.repeat(20_000)}`);
    expect(flattenJson(deep, ALL)).to.have.length(20_001);
    expect(searchJson(deep, 'needle')).to.deep.include({ hits: 1 });
    const wide = Array.from({ length: 50_000 }, (_, index) => ({ id: index }));
    expect(flattenJson(wide, { levels: 1, toggled: NONE })).to.have.length(50_001);
  });
});

describe('searchJson', () => {
  it('finds keys and values in any case, with what leads to them', () => {
    const { rows, hits } = searchJson({ a: { Bee: 1 }, c: ['bEE', 'x'], d: 2 }, 'bee');
    expect(pathsOf(rows)).to.deep.equal(['$', '$.a', '$.a.Bee', '$.c', '$.c[0]']);
    expect(hits).to.equal(2);
  });

  it('finds nothing where nothing is', () => {
    expect(searchJson({ a: 1 }, 'z')).to.deep.equal({ rows: [], hits: 0 });
  });
});

describe('countValues', () => {
  it('counts up to its limit', () => {
    expect(countValues({ a: [1, 2] }, 40)).to.equal(4);
    expect(countValues(Array.from({ length: 1_000 }), 40)).to.equal(40);
  });
});
