/** valibot schemas as JSON Schema: described as far as JSON Schema can, and never more strictly than they are. */
import { expect } from 'chai';
import fc from 'fast-check';
import * as v from 'valibot';
import { toJsonSchema } from '../../../../../../imports/business/ai/application/services/schema/AnySchema';
import { assertSchema } from '../../../../../../imports/business/ai/application/services/schema/checkSchema';
import { validate } from '../../../../../support/validate';
import type { JsonObject } from '../../../../../../imports/business/ai/domain/types/VendorTypes';

interface Tree {
  readonly name: string;
  readonly children: readonly Tree[];
}
const tree: v.GenericSchema<Tree> = v.object({ name: v.string(), children: v.array(v.lazy(() => tree)) });
// oxlint-disable-next-line bolide/conventions -- valibot supports its users' enums
enum Level {
  Low = 'low',
  High = 'high',
}

const CASES: readonly (readonly [what: string, schema: v.GenericSchema, described: JsonObject])[] = [
  [
    'a string with bounds',
    v.pipe(v.string(), v.minLength(2), v.maxLength(5), v.description('A word')),
    { type: 'string', minLength: 2, maxLength: 5, description: 'A word' },
  ],
  ['a non-empty string', v.pipe(v.string(), v.nonEmpty()), { type: 'string', minLength: 1 }],
  [
    'an integer in a range',
    v.pipe(v.number(), v.integer(), v.minValue(1), v.maxValue(9)),
    { type: 'integer', minimum: 1, maximum: 9 },
  ],
  ['a boolean', v.boolean(), { type: 'boolean' }],
  ['a literal', v.literal('on'), { const: 'on' }],
  ['a picklist', v.picklist(['a', 'b']), { enum: ['a', 'b'] }],
  ['an enum', v.enum(Level), { enum: ['low', 'high'] }],
  [
    'an object',
    v.object({ a: v.string(), b: v.optional(v.number()), c: v.nullish(v.string()) }),
    {
      type: 'object',
      properties: {
        a: { type: 'string' },
        b: { type: 'number' },
        c: { anyOf: [{ type: 'string' }, { type: 'null' }] },
      },
      required: ['a'],
    },
  ],
  [
    'a strict object',
    v.strictObject({ a: v.string() }),
    { type: 'object', properties: { a: { type: 'string' } }, required: ['a'], additionalProperties: false },
  ],
  [
    'an object with rest properties',
    v.objectWithRest({ a: v.string() }, v.number()),
    {
      type: 'object',
      properties: { a: { type: 'string' } },
      required: ['a'],
      additionalProperties: { type: 'number' },
    },
  ],
  [
    'a list',
    v.pipe(v.array(v.string()), v.length(2)),
    { type: 'array', items: { type: 'string' }, minItems: 2, maxItems: 2 },
  ],
  [
    'a tuple',
    v.tuple([v.string(), v.number()]),
    { type: 'array', prefixItems: [{ type: 'string' }, { type: 'number' }] },
  ],
  ['a record', v.record(v.string(), v.number()), { type: 'object', additionalProperties: { type: 'number' } }],
  ['a union', v.union([v.string(), v.null()]), { anyOf: [{ type: 'string' }, { type: 'null' }] }],
  [
    'a variant',
    v.variant('type', [v.object({ type: v.literal('x') }), v.object({ type: v.literal('y'), n: v.number() })]),
    {
      anyOf: [
        { type: 'object', properties: { type: { const: 'x' } }, required: ['type'] },
        { type: 'object', properties: { type: { const: 'y' }, n: { type: 'number' } }, required: ['type', 'n'] },
      ],
    },
  ],
  [
    'an intersection',
    v.intersect([v.object({ a: v.string() }), v.object({ b: v.string() })]),
    {
      allOf: [
        { type: 'object', properties: { a: { type: 'string' } }, required: ['a'] },
        { type: 'object', properties: { b: { type: 'string' } }, required: ['b'] },
      ],
    },
  ],
  [
    'a transformed value by its input',
    v.pipe(v.string(), v.minLength(1), v.transform(Number), v.maxValue(5)),
    { type: 'string', minLength: 1 },
  ],
  [
    'a check that JSON Schema cannot express',
    v.pipe(
      v.string(),
      v.regex(/^a/i),
      v.check((text) => text !== 'ab'),
    ),
    { type: 'string' },
  ],
  ['anything', v.unknown(), {}],
  ['a value that JSON cannot hold', v.date(), {}],
];

describe('a valibot schema', () => {
  for (const [what, schema, described] of CASES) {
    it(`describes ${what}`, () => {
      const { jsonSchema } = toJsonSchema(schema);
      expect(jsonSchema).to.deep.equal(described);
      assertSchema(jsonSchema);
    });
  }

  it('is described to the depth of realistic answers if it is recursive', async () => {
    const schema = toJsonSchema(tree);
    const { jsonSchema } = schema;
    assertSchema(jsonSchema);
    const value = { name: 'a', children: [{ name: 'b', children: [] }] };
    expect(validate(jsonSchema, value)).to.deep.equal([]);
    expect(validate(jsonSchema, { name: 'a', children: [{ name: 7 }] })).not.to.deep.equal([]);
    expect(await schema.validate?.(value)).to.deep.equal({ ok: true, value });
  });

  it('is never stricter in JSON Schema than in valibot', () => {
    const values = fc.oneof(
      fc.jsonValue({ maxDepth: 2 }),
      fc.constantFrom(
        'on',
        'a',
        'low',
        ['x', 1],
        { a: 'x', b: 1 },
        { type: 'y', n: 1 },
        { a: 'x', b: 'y' },
        ['a', 'b'],
        3,
        null,
      ),
      fc.dictionary(
        fc.constantFrom('a', 'b', 'c', 'type', 'n'),
        fc.oneof(fc.string(), fc.integer(), fc.constant(null)),
      ),
    );
    fc.assert(
      fc.property(fc.constantFrom(...CASES), values, ([what, schema], value) => {
        // valibot also accepts arrays as objects, which a model should not write.
        if (Array.isArray(value) && !['a list', 'a tuple', 'anything'].includes(what)) return;
        if (v.is(schema, value)) expect(validate(toJsonSchema(schema).jsonSchema, value)).to.deep.equal([]);
      }),
      { numRuns: 2_000, seed: Number(process.env['BOLIDE_SEED'] ?? 7) },
    );
  });

  it('reports violations that JSON Schema cannot express', async () => {
    const schema = v.object({ word: v.pipe(v.string(), v.regex(/^a/, 'must begin with a')) });
    expect(await toJsonSchema(schema).validate?.({ word: 'b' })).to.deep.equal({
      ok: false,
      violations: [{ path: '$.word', message: 'must begin with a' }],
    });
  });
});
