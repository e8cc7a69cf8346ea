import { expect } from 'chai';
import { Readable } from 'node:stream';
import {
  errorMessage,
  serializeToolResult,
} from '../../../../../../imports/business/ai/application/services/tools/toolResult';
import { ToolError } from '../../../../../../imports/business/ai/domain/errors/LLMErrors';

const LIMIT = 256 * 1024;

describe('serializeToolResult', () => {
  it('leaves strings unchanged and serializes everything else as JSON', () => {
    expect(serializeToolResult('plain "text"', LIMIT)).to.equal('plain "text"');
    expect(serializeToolResult({ n: 1, when: new Date(0) }, LIMIT)).to.equal(
      '{"n":1,"when":"1970-01-01T00:00:00.000Z"}',
    );
    expect(serializeToolResult(undefined, LIMIT)).to.equal('null');
    expect(serializeToolResult(null, LIMIT)).to.equal('null');
    expect(serializeToolResult(0, LIMIT)).to.equal('0');
  });

  it('serializes what plain JSON would lose: maps, sets, errors', () => {
    expect(
      serializeToolResult({ map: new Map([['a', 1]]), set: new Set([1, 2]), failed: new Error('no') }, LIMIT),
    ).to.equal('{"map":{"a":1},"set":[1,2],"failed":{"error":"no"}}');
  });

  it('serializes them in the midst of plain data, at any depth', () => {
    const nested = (value: unknown, depth: number): unknown =>
      depth === 0 ? value : { in: [nested(value, depth - 1)] };
    for (const depth of [1, 7, 8, 9, 40]) {
      const plain = JSON.stringify(nested({ a: 1 }, depth));
      expect(serializeToolResult(nested({ a: 1 }, depth), LIMIT)).to.equal(plain);
      expect(serializeToolResult(nested(new Map([['a', 1]]), depth), LIMIT)).to.equal(plain);
      expect(() => serializeToolResult(nested({ a: () => 1 }, depth), LIMIT)).to.throw(ToolError, 'function');
    }
    expect(serializeToolResult({ toJSON: () => 'own' }, LIMIT)).to.equal('"own"');
    expect(serializeToolResult([undefined, NaN, Object.create(null)], LIMIT)).to.equal('[null,null,{}]');
  });

  const cycle: Record<string, unknown> = {};
  cycle['self'] = cycle;
  const unspeakable: Record<string, unknown> = {
    'a cycle': cycle,
    'a BigInt': { n: 1n },
    'a function': () => 1,
    'a function inside': { run: () => 1 },
    'a symbol': Symbol('s'),
    'a promise inside': { rows: Promise.resolve([1]) },
    'a node stream': Readable.from(['x']),
    'a web stream': new ReadableStream(),
    'an async generator': (async function* () {
      yield 1;
    })(),
    'a toJSON that throws': {
      toJSON() {
        throw new Error('no JSON today');
      },
    },
  };
  for (const [name, value] of Object.entries(unspeakable)) {
    it(`refuses ${name} with the reason`, () => {
      expect(() => serializeToolResult(value, LIMIT))
        .to.throw(ToolError, /not serializable as JSON: .+/)
        .with.property('failure', 'unserialisable-result');
    });
  }

  it('truncates a larger result at a character boundary, and states by how much', () => {
    const text = serializeToolResult('é'.repeat(300), 101);
    expect(text).to.equal(`${'é'.repeat(50)}\n[cut: the first 100 of 600 bytes are shown]`);
  });

  it('replaces lone surrogates, which no vendor accepts', () => {
    expect(serializeToolResult('a\ud800b', LIMIT)).to.equal('a\ufffdb');
  });
});

describe('errorMessage', () => {
  it('returns the message of any thrown value, and never a stack', () => {
    const trap = new Proxy(
      {},
      {
        has() {
          throw new Error('trap');
        },
      },
    );
    const table: [unknown, string | RegExp][] = [
      [new Error('broken'), 'broken'],
      ['just text', 'just text'],
      [undefined, 'The tool failed without a message.'],
      [null, 'The tool failed without a message.'],
      [new Error(''), 'The tool failed without a message.'],
      [{ status: 500 }, '{"status":500}'],
      [42, '42'],
      [Symbol('odd'), 'Symbol(odd)'],
      [trap, /could not be read/],
      [() => 1, /threw a function/],
    ];
    for (const [thrown, expected] of table) {
      if (typeof expected === 'string') expect(errorMessage(thrown)).to.equal(expected);
      else expect(errorMessage(thrown)).to.match(expected);
    }
    expect(errorMessage(new Error('x'.repeat(10_000)))).to.have.length(2_000);
  });
});
