/** Which values are rejected, with which messages; no schema can hang the process or exhaust its memory. */
import { expect } from 'chai';
import fc from 'fast-check';
import {
  assertSchema,
  checkValue,
} from '../../../../../../imports/business/ai/application/services/schema/checkSchema';
import {
  SCHEMA_LIMITS,
  compileSchema,
} from '../../../../../../imports/business/ai/application/services/schema/SchemaCompiler';
import { isSimplePattern } from '../../../../../../imports/business/ai/application/services/schema/schemaComplexity';
import { validate } from '../../../../../support/validate';
import { LLMInvalidRequestError } from '../../../../../../imports/business/ai/domain/errors/LLMErrors';
import { outOfCpuTime } from '../../../../../support/outOfCpuTime';
import { IS_SOAK } from '../../../../../support/soak';
import type { JsonObject } from '../../../../../../imports/business/ai/domain/types/VendorTypes';

const ORDER: JsonObject = {
  type: 'object',
  properties: {
    city: { type: 'string' },
    unit: { enum: ['celsius', 'fahrenheit'] },
    kind: { const: 'order' },
    items: {
      type: 'array',
      items: { type: 'object', properties: { price: { type: 'number', minimum: 0 } }, required: ['price'] },
    },
    'odd key': { type: ['string', 'null'] },
    mail: { type: 'string', format: 'email' },
  },
  required: ['city'],
  additionalProperties: false,
};

function faultOf(schema: unknown): LLMInvalidRequestError {
  try {
    assertSchema(schema as JsonObject);
  } catch (error) {
    if (error instanceof LLMInvalidRequestError) return error;
    throw error;
  }
  throw new Error('the schema was accepted');
}

describe('violationsOf', () => {
  it('reports nothing for a valid value', () => {
    expect(
      validate(ORDER, {
        city: 'Bern',
        unit: 'celsius',
        kind: 'order',
        items: [{ price: 0 }],
        'odd key': null,
        mail: 'a@b.ch',
      }),
    ).to.deep.equal([]);
  });

  const CASES: readonly (readonly [title: string, value: unknown, path: string, message: RegExp])[] = [
    ['a missing property at its own path', {}, '$.city', /^is missing$/],
    ['a wrong type, with the actual one', { city: 7 }, '$.city', /^must be a string, not a number$/],
    [
      'a wrong type inside an array, with its index',
      { city: 'B', items: [{ price: 1 }, { price: 1 }, { price: '3' }] },
      '$.items[2].price',
      /^must be a number, not a string$/,
    ],
    ['a missing property inside an array', { city: 'B', items: [{}] }, '$.items[0].price', /^is missing$/],
    ['a value out of bounds', { city: 'B', items: [{ price: -1 }] }, '$.items[0].price', /must be >= 0/],
    [
      'a value outside an enumeration, with the allowed ones',
      { city: 'B', unit: 'kelvin' },
      '$.unit',
      /^must be one of "celsius", "fahrenheit"$/,
    ],
    ['a wrong constant', { city: 'B', kind: 'x' }, '$.kind', /^must be "order"$/],
    ['an unknown property, with the allowed ones', { city: 'B', town: 1 }, '$.town', /not allowed.*"city", "unit"/],
    [
      'a key that is not an identifier, in brackets',
      { city: 'B', 'odd key': 1 },
      '$["odd key"]',
      /^must be a string or null, not a number$/,
    ],
    ['an invalid format', { city: 'B', mail: 'nobody' }, '$.mail', /format "email"/],
    ['the value itself as $', [], '$', /^must be an object, not an array$/],
  ];
  for (const [title, value, path, message] of CASES) {
    it(`reports ${title}`, () => {
      const [violation, ...rest] = validate(ORDER, value);
      expect(rest).to.deep.equal([]);
      expect(violation?.path).to.equal(path);
      expect(violation?.message).to.match(message);
    });
  }

  it('reports all violations of a small value, at most twenty', () => {
    expect(validate(ORDER, { unit: 1, kind: 1, mail: 1 }).map((violation) => violation.path)).to.have.members([
      '$.city',
      '$.unit',
      '$.kind',
      '$.mail',
    ]);
    expect(validate({ items: { type: 'string' } }, new Array(50).fill(1))).to.have.length(20);
  });

  it('stops at the first violation of a large value', () => {
    const violations = validate({ type: 'array', items: { type: 'string' } }, new Array(300_000).fill(1));
    expect(violations).to.deep.equal([{ path: '$[0]', message: 'must be a string, not a number' }]);
  });

  it('does not modify the value', () => {
    const value = Object.freeze({ b: '1' });
    validate({ type: 'object', properties: { a: { default: 1 }, b: { type: 'number' } } }, value);
    expect(value).to.deep.equal({ b: '1' });
  });

  it('ignores inherited properties', () => {
    expect(
      validate({ type: 'object', required: ['toString', 'constructor'] }, {}).map((violation) => violation.path),
    ).to.have.members(['$.toString', '$.constructor']);
  });
});

describe('drafts', () => {
  const tuple = { type: 'array', items: [{ type: 'string' }], additionalItems: false };

  it('reads prefixItems as draft 2020-12 does', () => {
    expect(validate({ prefixItems: [{ type: 'string' }], items: false }, ['a', 1])).to.have.length(1);
    expect(validate({ prefixItems: [{ type: 'string' }], items: false }, ['a'])).to.deep.equal([]);
  });

  it('falls back to draft-07 for schemas that only that draft allows', () => {
    expect(validate(tuple, ['a'])).to.deep.equal([]);
    expect(validate(tuple, ['a', 'b'])).to.have.length(1);
  });

  it('respects $schema: prefixItems has no meaning in draft-07', () => {
    expect(
      validate({ $schema: 'http://json-schema.org/draft-07/schema#', prefixItems: [{ type: 'string' }] }, [1]),
    ).to.deep.equal([]);
    expect(
      validate({ $schema: 'https://json-schema.org/draft/2020-12/schema', prefixItems: [{ type: 'string' }] }, [1]),
    ).to.have.length(1);
  });

  it('follows references inside the schema, including recursive ones', () => {
    const tree = {
      $ref: '#/$defs/node',
      $defs: { node: { type: 'object', properties: { next: { $ref: '#/$defs/node' }, n: { type: 'number' } } } },
    };
    expect(validate(tree, { next: { next: { n: '1' } } })).to.deep.equal([
      { path: '$.next.next.n', message: 'must be a number, not a string' },
    ]);
  });

  it('separates two schemas with the same $id', () => {
    expect(validate({ $id: 'https://example.com/s', type: 'string' }, 1)).to.have.length(1);
    expect(validate({ $id: 'https://example.com/s', type: 'number' }, 1)).to.deep.equal([]);
  });

  it('ignores unknown keywords and formats', () => {
    expect(validate({ type: 'string', format: 'holy', 'x-order': 3 }, 'a')).to.deep.equal([]);
  });

  it('accepts a pattern whose escapes are invalid under the u flag', () => {
    const schema = { type: 'string', pattern: '^[a-z\\-]+\\-$' };
    expect(validate(schema, 'a-b-')).to.deep.equal([]);
    expect(validate(schema, 'A')).to.have.length(1);
  });
});

describe('invalid schemas', () => {
  it('are rejected with the path of the invalid keyword', () => {
    const fault = faultOf({ type: 'object', properties: { city: { type: 'text' } } });
    expect(fault.path).to.equal('$.properties.city.type');
    expect(fault.message).to.contain('$.properties.city.type');
    expect(fault.code).to.equal('invalid-request');
  });

  const cycle: JsonObject = { type: 'object' };
  cycle.properties = { self: cycle };
  let deep: JsonObject = {};
  for (let level = 0; level < 5_000; level += 1) deep = { properties: { a: deep } };
  const CASES: readonly (readonly [title: string, schema: unknown, message: RegExp])[] = [
    [
      'that refer to another document',
      { properties: { a: { $ref: 'https://example.com/other.json' } } },
      /only references inside/,
    ],
    ['that refer to a file', { $ref: 'file:///etc/passwd' }, /only references inside/],
    ['that refer to an undefined schema', { $ref: '#/$defs/nothing' }, /resolve reference/],
    ['that contain themselves', cycle, /nested deeper/],
    ['that are too deep', deep, /nested deeper/],
    ['that have too many nodes', { enum: Array.from({ length: 5_001 }, (_, index) => index) }, /nodes/],
    ['that are too long', { description: 'x'.repeat(600_000) }, /characters/],
    [
      'with a pattern that is not a regular expression',
      { items: { pattern: '(' } },
      /at \$\.items\.pattern: .*regular expression/,
    ],
    ['with a pattern that is too long', { pattern: 'a'.repeat(3_000) }, /pattern/],
    ['that are asynchronous', { $async: true, type: 'object' }, /asynchronous/],
    ['that contain values that are not JSON', { const: 1n }, /not JSON/],
    ['that are not an object', [], /must be an object/],
  ];
  for (const [title, schema, message] of CASES) {
    it(`are rejected: ${title}`, () => expect(faultOf(schema).message).to.match(message));
  }

  it('are never executed as code', () => {
    const seen: unknown[] = [];
    (globalThis as Record<string, unknown>).schemaRan = (mark: unknown) => seen.push(mark);
    const evil = "');schemaRan(1);('\\u2028`${schemaRan(2)}`//*/";
    const schema = {
      $comment: evil,
      title: evil,
      required: [evil],
      properties: { [evil]: { enum: [evil], pattern: 'a', default: evil } },
      additionalProperties: { const: evil },
    };
    validate(schema, { [evil]: 1, other: evil });
    delete (globalThis as Record<string, unknown>).schemaRan;
    expect(seen).to.deep.equal([]);
  });
});

describe('schemas with excessive validation time', () => {
  /** Which limit is reached first depends on the machine's speed. */
  const NEVER = /could not be checked against its schema(?: within|: that takes too much memory)/;
  const recursiveUnion = {
    $ref: '#/$defs/n',
    $defs: {
      n: {
        anyOf: [1, 2, 3].map((a) => ({
          properties: { next: { $ref: '#/$defs/n' }, [`k${a}`]: { type: 'string' } },
          required: [`k${a}`],
        })),
      },
    },
  };
  let chain: JsonObject = {};
  for (let level = 0; level < 40; level += 1) chain = { next: chain };

  const CASES: readonly (readonly [title: string, schema: JsonObject, value: unknown])[] = [
    ['a pattern with nested repetitions', { pattern: '^(a+)+$' }, `${'a'.repeat(60)}!`],
    ['a pattern with overlapping branches', { pattern: '^(a|aa)+$' }, `${'a'.repeat(60)}!`],
    [
      'a pattern with many optional parts',
      { pattern: `^${'a?'.repeat(40)}${'a'.repeat(40)}$` },
      `${'a'.repeat(39)}${'!'.repeat(90)}`,
    ],
    ['a pattern over property names', { patternProperties: { '^(a+)+$': {} } }, { [`${'a'.repeat(60)}!`]: 1 }],
    ['a simple pattern over a large text', { pattern: 'a+$' }, `${'a'.repeat(400_000)}!`],
    [
      'unique items over a large array',
      { uniqueItems: true },
      Array.from({ length: 30_000 }, (_, index) => ({ index })),
    ],
    ['a recursive union over a deep value', recursiveUnion, chain],
  ];
  for (const [title, schema, value] of CASES) {
    // Without the limit, each of these runs for minutes; in the soak it does so for two seconds.
    it(`are stopped: ${title}`, async () => {
      const check = () => checkValue({ schema, untrusted: false, userId: 'u' }, value);
      const { violations } = await (IS_SOAK ? check() : outOfCpuTime(check));
      expect(violations[0]?.message).to.match(NEVER);
    });
  }

  it('cause a violation instead of a crash if they recurse infinitely', () => {
    expect(validate({ allOf: [{ $ref: '#' }] }, 1)[0]?.message).to.match(/recurses infinitely|could not be checked/);
  });

  for (const [format, value] of [
    ['uri', `data:image/png;base64,${'BwcH'.repeat(8_000_000)}`],
    ['uri-reference', 'BwcH'.repeat(8_000_000)],
    ['byte', 'BwcH'.repeat(8_000_000)],
  ] as const)
    it(`do not take a large file for a violation: ${format}`, () => {
      expect(validate({ format }, value)).to.deep.equal([]);
      expect(validate({ format }, 'no%')[0]?.message).to.include(format);
    });

  it('are still applied to harmless values', () => {
    expect(validate({ pattern: '^(a+)+$' }, 'aaaa')).to.deep.equal([]);
    expect(validate({ pattern: '^(a+)+$' }, 'b')[0]?.message).to.match(/pattern/);
    expect(validate({ uniqueItems: true }, [1, 2, 1])).to.have.length(1);
  });

  it('distinguish simple patterns from those that may backtrack exponentially', () => {
    for (const pattern of ['^[a-z]+$', '^\\d{3}-\\d{4}$', 'a|b', '^(ab)?c*$', '\\+\\*', '[*+]{3}'])
      expect(isSimplePattern(pattern), pattern).to.equal(true);
    for (const pattern of [
      '(a+)+',
      'a*b*',
      '(a)\\1',
      '(?=a)b',
      '(?<!a)b',
      '(?<n>a)\\k<n>',
      '(a{2,5}){3,}',
      'x{50}y{50}',
      '([a]]*)*',
      '(a|aa)+',
      '(a|a)(a|a)',
      `${'a?'.repeat(30)}$`,
    ])
      expect(isSimplePattern(pattern), pattern).to.equal(false);
  });
});

describe('the schema cache', () => {
  it('finds a schema by object and by text', () => {
    const schema = { type: 'object', properties: { cached: { type: 'string' } } };
    expect(compileSchema(schema)).to.equal(compileSchema(schema));
    expect(compileSchema(structuredClone(schema))).to.equal(compileSchema(schema));
  });

  it('evicts the least recently used schemas', () => {
    const make = (n: number): JsonObject => ({ minimum: n });
    const first = compileSchema(make(-1));
    const cached = compileSchema(make(-2));
    for (let n = 0; n < SCHEMA_LIMITS.cached - 1; n += 1) {
      compileSchema(make(n));
      expect(compileSchema(make(-2))).to.equal(cached);
    }
    expect(compileSchema(make(-1))).to.not.equal(first);
  });
});

describe('any schema and any value', () => {
  it('result in violations or a typed error, never in a crash', () => {
    const keyword = fc.constantFrom(
      'type',
      'items',
      'properties',
      'required',
      'anyOf',
      'not',
      'enum',
      'const',
      'pattern',
      '$ref',
      'minimum',
      '$id',
      'if',
      'prefixItems',
      'format',
      'nullable',
      '__proto__',
    );
    const node = fc.letrec<{ schema: unknown }>((tie) => ({
      schema: fc.oneof(
        { maxDepth: 4 },
        fc.jsonValue({ maxDepth: 2 }),
        fc.constantFrom('string', 'object', 'array', '#', '#/properties', '(', 'email'),
        fc.dictionary(keyword, tie('schema'), { maxKeys: 4, noNullPrototype: true }),
        fc.array(tie('schema'), { maxLength: 3 }),
      ),
    })).schema;
    fc.assert(
      fc.property(node, fc.jsonValue(), (schema, value) => {
        try {
          assertSchema(schema as JsonObject);
          for (const violation of validate(schema as JsonObject, value)) expect(violation.path).to.match(/^\$/);
        } catch (error) {
          expect(error).to.be.instanceOf(LLMInvalidRequestError);
        }
      }),
      { numRuns: 300 },
    );
  });
});
