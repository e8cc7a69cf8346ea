/** Which JSON is extracted from a text, and which is rejected. */
import { expect } from 'chai';
import fc from 'fast-check';
import { parseJsonAnswer } from '../../../../../../imports/business/ai/application/services/structured/parseJsonAnswer';

function valueOf(text: string, lenient = false): unknown {
  const answer = parseJsonAnswer(text, lenient);
  return answer.ok ? answer.value : new Error(answer.violation.message);
}

describe('parseJsonAnswer', () => {
  it('parses any JSON value, surrounded by white space and a byte order mark', () => {
    expect(valueOf('\uFEFF \n{"a":[1,null,"x"]}\n')).to.deep.equal({ a: [1, null, 'x'] });
    expect(valueOf('7')).to.equal(7);
    expect(valueOf('null')).to.equal(null);
  });

  const WRAPPED: readonly (readonly [title: string, text: string, value: unknown])[] = [
    ['a fence with a language', '```json\n{"a":1}\n```', { a: 1 }],
    ['a bare fence', '```\n[1,2]\n```', [1, 2]],
    ['surrounding prose', 'Here you are:\n{"a":{"b":2}}\nAnything else?', { a: { b: 2 } }],
    ['prose with braces before it', 'With {x} and [note] in mind: {"a":1}', { a: 1 }],
    ['a citation before it', 'As in [1], {"a":"long enough"}', { a: 'long enough' }],
    ['prose, with brackets in its strings', 'So: {"a":"}]{[","b":"\\"}"} there', { a: '}]{[', b: '"}' }],
    ['prose, with a backslash at the end of a string', 'So: {"a":"\\\\"} there', { a: '\\' }],
    ['an unclosed brace before it', 'If { then so. {"a":1}', { a: 1 }],
  ];
  for (const [title, text, value] of WRAPPED) {
    it(`finds JSON in lenient mode only: ${title}`, () => {
      expect(valueOf(text, true)).to.deep.equal(value);
      expect(valueOf(text)).to.be.instanceOf(Error);
    });
  }

  for (const text of ['', '  \n', '{"a":1', 'no JSON here', "{'a':1}", '{"a":NaN}']) {
    it(`rejects ${JSON.stringify(text)}`, () => {
      expect(valueOf(text)).to.be.instanceOf(Error);
      expect(valueOf(text, true)).to.be.instanceOf(Error);
    });
  }

  it('rejects a text that exceeds the length limit', () => {
    expect(parseJsonAnswer('"aaaaaaaa"', false, { characters: 10, depth: 3 }).ok).to.equal(true);
    expect(parseJsonAnswer('"aaaaaaaaa"', false, { characters: 10, depth: 3 }).ok).to.equal(false);
  });

  it('rejects a value that exceeds the depth limit, even by a million levels', () => {
    expect(parseJsonAnswer('[[[1]]]', false, { characters: 99, depth: 3 }).ok).to.equal(true);
    expect(parseJsonAnswer('[[[[]]]]', false, { characters: 99, depth: 3 }).ok).to.equal(false);
    expect(valueOf('['.repeat(1_000_000) + ']'.repeat(1_000_000))).to.be.instanceOf(Error);
    expect(valueOf('{"a":'.repeat(500_000), true)).to.be.instanceOf(Error);
  });

  it('rejects a __proto__ key at any depth', () => {
    expect(valueOf('{"a":[{"__proto__":{"admin":true}}]}')).to.be.instanceOf(Error);
    expect(valueOf('{"constructor":"Lotus"}')).to.deep.equal({ constructor: 'Lotus' });
  });

  it('finds JSON in any prose without brackets, and never throws', () => {
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
