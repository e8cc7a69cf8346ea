/** Which JSON is found in a text, and which is refused. */
import { expect } from 'chai';
import fc from 'fast-check';
import { parseJsonAnswer } from '../../../../../../imports/business/ai/application/services/structured/parseJsonAnswer';

function valueOf(text: string, lenient = false): unknown {
  const answer = parseJsonAnswer(text, lenient);
  return answer.ok ? answer.value : new Error(answer.violation.message);
}

describe('parseJsonAnswer', () => {
  it('is any JSON value, white space and a byte order mark around it', () => {
    expect(valueOf('\uFEFF \n{"a":[1,null,"x"]}\n')).to.deep.equal({ a: [1, null, 'x'] });
    expect(valueOf('7')).to.equal(7);
    expect(valueOf('null')).to.equal(null);
  });

  const WRAPPED: readonly (readonly [title: string, text: string, value: unknown])[] = [
    ['a fence with a language', '```json\n{"a":1}\n```', { a: 1 }],
    ['a bare fence', '```\n[1,2]\n```', [1, 2]],
    ['words around it', 'Here you are:\n{"a":{"b":2}}\nAnything else?', { a: { b: 2 } }],
    ['braces in prose before it', 'With {x} and [note] in mind: {"a":1}', { a: 1 }],
    ['a citation before it', 'As in [1], {"a":"long enough"}', { a: 'long enough' }],
    ['brackets in its strings', 'So: {"a":"}]{[","b":"\\"}"} there', { a: '}]{[', b: '"}' }],
    ['backslashes at the end of a string', 'So: {"a":"\\\\"} there', { a: '\\' }],
    ['an opening that never closes', 'If { then so. {"a":1}', { a: 1 }],
  ];
  for (const [title, text, value] of WRAPPED) {
    it(`is found in ${title}, by the lenient reading alone`, () => {
      expect(valueOf(text, true)).to.deep.equal(value);
      expect(valueOf(text)).to.be.instanceOf(Error);
    });
  }

  for (const text of ['', '  \n', '{"a":1', 'no JSON here', "{'a':1}", '{"a":NaN}']) {
    it(`is not ${JSON.stringify(text)}`, () => {
      expect(valueOf(text)).to.be.instanceOf(Error);
      expect(valueOf(text, true)).to.be.instanceOf(Error);
    });
  }

  it('is not longer than its limit', () => {
    expect(parseJsonAnswer('"aaaaaaaa"', false, { characters: 10, depth: 3 }).ok).to.equal(true);
    expect(parseJsonAnswer('"aaaaaaaaa"', false, { characters: 10, depth: 3 }).ok).to.equal(false);
  });

  it('is not deeper than its limit, though it were a million levels', () => {
    expect(parseJsonAnswer('[[[1]]]', false, { characters: 99, depth: 3 }).ok).to.equal(true);
    expect(parseJsonAnswer('[[[[]]]]', false, { characters: 99, depth: 3 }).ok).to.equal(false);
    expect(valueOf('['.repeat(1_000_000) + ']'.repeat(1_000_000))).to.be.instanceOf(Error);
    expect(valueOf('{"a":'.repeat(500_000), true)).to.be.instanceOf(Error);
  });

  it('has no __proto__ key anywhere', () => {
    expect(valueOf('{"a":[{"__proto__":{"admin":true}}]}')).to.be.instanceOf(Error);
    expect(valueOf('{"constructor":"Lotus"}')).to.deep.equal({ constructor: 'Lotus' });
  });

  it('is found in any prose without brackets, and reading any text throws nothing', () => {
    const prose = fc.string().map((text) => text.replace(/[{}[\]"]/g, ''));
    fc.assert(
      fc.property(
        prose,
        fc.dictionary(
          fc.string().filter((key) => key !== '__proto__'),
          fc.jsonValue({ maxDepth: 3 }),
          { minKeys: 1, noNullPrototype: true },
        ),
        prose,
        (before, value, after) => {
          const plain: unknown = JSON.parse(JSON.stringify(value));
          fc.pre(!JSON.stringify(value).includes('__proto__'));
          expect(valueOf(`${before}${JSON.stringify(value)}${after}`, true)).to.deep.equal(plain);
        },
      ),
      { numRuns: 200 },
    );
    fc.assert(
      fc.property(
        fc.string({ unit: fc.constantFrom('{', '}', '[', ']', '"', ',', ':', '\\', 'a', '1', ' ', '\n') }),
        (text) => {
          const strict = parseJsonAnswer(text, false);
          const lenient = parseJsonAnswer(text, true);
          if (strict.ok) expect(lenient).to.deep.equal(strict);
        },
      ),
      { numRuns: 300 },
    );
  });
});
