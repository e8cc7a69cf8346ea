import { expect } from 'chai';
import fc from 'fast-check';
import { IS_SOAK } from '../../../../support/soak';
import { PartialJson } from '../../../../../imports/business/ai/domain/util/PartialJson';

/** The values after each piece that made it grow, copied. */
function valuesOf(pieces: readonly string[]): unknown[] {
  const json = new PartialJson();
  const values: unknown[] = [];
  for (const piece of pieces) if (json.push(piece)) values.push(structuredClone(json.value));
  if (json.end()) values.push(structuredClone(json.value));
  return values;
}

/** Whether a value can become the other by adding elements and by letting its last string grow. */
function growsTo(before: unknown, after: unknown): boolean {
  if (typeof before === 'string') return typeof after === 'string' && after.startsWith(before);
  if (typeof before !== 'object' || before === null) return Object.is(before, after);
  if (typeof after !== 'object' || after === null || Array.isArray(before) !== Array.isArray(after)) return false;
  return Object.entries(before).every(
    ([key, value]) => Object.hasOwn(after, key) && growsTo(value, (after as Record<string, unknown>)[key]),
  );
}

function pieces(text: string, sizes: readonly number[]): string[] {
  const cut: string[] = [];
  for (let at = 0, turn = 0; at < text.length; turn += 1) {
    const size = sizes[turn % sizes.length] ?? 1;
    cut.push(text.slice(at, at + size));
    at += size;
  }
  return cut;
}

describe('PartialJson', () => {
  it('has each element once it is complete, and strings as they grow', () => {
    const values = valuesOf(['{"na', 'me":"A', 'da","age":3', '6,"tags":["a",', '"b"]', '}']);
    expect(values).to.deep.equal([
      {},
      { name: 'A' },
      { name: 'Ada' },
      { name: 'Ada', age: 36, tags: ['a'] },
      { name: 'Ada', age: 36, tags: ['a', 'b'] },
      { name: 'Ada', age: 36, tags: ['a', 'b'] },
    ]);
  });

  it('ends with what JSON.parse reads, and only grows until then', () => {
    const key = fc.oneof(fc.string({ maxLength: 4 }), fc.constantFrom('a:b', '"', '\\', '[', ',', '😀'));
    const { tree } = fc.letrec((tie) => ({
      tree: fc.oneof({ maxDepth: 4 }, fc.array(tie('value'), { maxLength: 5 }), fc.dictionary(key, tie('value'))),
      value: fc.oneof(
        { maxDepth: 4 },
        fc.string({ unit: 'binary', maxLength: 12 }),
        fc.constantFrom(0, -1.5e-7, true, false, null, '', '\\', '"]}', 'é\u2028\n', '\ud83d\ude00'),
        tie('tree'),
      ),
    }));
    const sizes = fc.array(fc.integer({ min: 1, max: 9 }), { minLength: 1, maxLength: 6 });
    fc.assert(
      fc.property(tree, sizes, fc.constantFrom(undefined, 2), fc.boolean(), (value, cuts, indent, escapes) => {
        const written = JSON.stringify(value, null, indent);
        const text = escapes ? written.replace(/[^\x20-\x7e\n]/g, escaped) : written;
        const values = valuesOf(pieces(text, cuts));
        expect(values.at(-1)).to.deep.equal(JSON.parse(text));
        for (const [index, after] of values.slice(1).entries())
          expect(growsTo(values[index], after), JSON.stringify([text, values[index], after])).to.equal(true);
      }),
      { numRuns: IS_SOAK ? 3_000 : 60 },
    );
  });

  it('finds the value in prose and a code fence, and stops after it', () => {
    expect(valuesOf(['Here "it" is, as asked:\n```json\n[1', ',2]', '\n``` [3]']).at(-1)).to.deep.equal([1, 2]);
  });

  it('keeps what it has when the text is not JSON', () => {
    const json = new PartialJson();
    expect(json.push('{"a":[1,2,x,3')).to.equal(true);
    expect(json.push('],"b":1}') || json.end()).to.equal(false);
    expect(json.value).to.deep.equal({ a: [] });
  });

  it('neither changes a prototype nor reads what is nested too deep', () => {
    const json = new PartialJson();
    for (const piece of ['{"__proto__":{"isAdmin', '":true},"a":"', 'b","__proto__":"c', 'd"}']) json.push(piece);
    json.end();
    expect(Object.getPrototypeOf(json.value)).to.equal(Object.prototype);
    expect(json.value).to.deep.equal({ a: 'b' });
    const deep = new PartialJson();
    deep.push('['.repeat(100_000));
    expect(deep.push(']'.repeat(100_000)) || deep.end()).to.equal(false);
  });

  it('reads a long text in proportion to its length', () => {
    const json = new PartialJson();
    let grown = 0;
    json.push('{"text":"');
    for (let piece = 0; piece < 20_000; piece += 1) if (json.push('abcdefgh')) grown += 1;
    expect(grown).to.be.within(400, 1_500);
    json.push('"}');
    json.end();
    expect(json.value).to.deep.equal({ text: 'abcdefgh'.repeat(20_000) });
  });
});

function escaped(unit: string): string {
  return `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`;
}
