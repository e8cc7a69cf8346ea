import { expect } from 'chai';
import fc from 'fast-check';
import { z as z4 } from 'zod';
import { z } from 'zod/v3';
import { toJsonSchema } from '../../../../../../imports/business/ai/application/services/schema/AnySchema';
import { describeZod3 } from '../../../../../../imports/business/ai/application/services/schema/ZodReader';
import { validate } from '../../../../../support/validate';

/** What TypeScript compiles `enum Level { Low, High }` to. */
const Level = { Low: 0, High: 1, 0: 'Low', 1: 'High' } as const;

describe('ZodReader', () => {
  const cases: readonly (readonly [name: string, schema: unknown, described: object])[] = [
    [
      'text',
      z.string().min(2).max(5).email().describe('An address.'),
      { type: 'string', minLength: 2, maxLength: 5, format: 'email', description: 'An address.' },
    ],
    ['text of a length', z.string().length(3), { type: 'string', minLength: 3, maxLength: 3 }],
    ['integers', z.number().int().positive(), { type: 'integer', exclusiveMinimum: 0 }],
    [
      'numbers',
      z.number().min(1).lt(9).multipleOf(2),
      { type: 'number', minimum: 1, exclusiveMaximum: 9, multipleOf: 2 },
    ],
    ['booleans and null', z.union([z.boolean(), z.null()]), { anyOf: [{ type: 'boolean' }, { type: 'null' }] }],
    ['enums', z.enum(['a', 'b']), { enum: ['a', 'b'] }],
    ['enums of TypeScript', z.nativeEnum(Level), { enum: [0, 1] }],
    ['literals', z.literal('x'), { const: 'x' }],
    [
      'lists',
      z.array(z.string()).min(1).max(2),
      { type: 'array', items: { type: 'string' }, minItems: 1, maxItems: 2 },
    ],
    [
      'tuples',
      z.tuple([z.string(), z.number()]),
      { type: 'array', prefixItems: [{ type: 'string' }, { type: 'number' }], minItems: 2, items: false },
    ],
    [
      'tuples with a rest',
      z.tuple([z.string()]).rest(z.number()),
      { type: 'array', prefixItems: [{ type: 'string' }], minItems: 1, items: { type: 'number' } },
    ],
    ['records', z.record(z.number()), { type: 'object', additionalProperties: { type: 'number' } }],
    ['nullable values', z.string().nullable(), { anyOf: [{ type: 'string' }, { type: 'null' }] }],
    ['the input of a transformation', z.string().transform((text) => text.length), { type: 'string' }],
    ['the input of a pipeline', z.string().pipe(z.coerce.number()), { type: 'string' }],
    ['anything behind a preprocessor', z.preprocess(String, z.string()), {}],
    [
      'brands, read-only values, catches',
      z.array(z.string().readonly().catch('').brand('x')),
      { type: 'array', items: { type: 'string' } },
    ],
    [
      'intersections',
      z.intersection(z.string(), z.string().min(1)),
      { allOf: [{ type: 'string' }, { type: 'string', minLength: 1 }] },
    ],
    [
      'objects',
      z.object({ a: z.string(), b: z.number().optional(), c: z.string().default('x') }),
      {
        type: 'object',
        properties: { a: { type: 'string' }, b: { type: 'number' }, c: { type: 'string' } },
        required: ['a'],
      },
    ],
    [
      'strict objects',
      z.object({}).strict(),
      { type: 'object', properties: {}, required: [], additionalProperties: false },
    ],
    [
      'objects with others',
      z.object({}).catchall(z.number()),
      { type: 'object', properties: {}, required: [], additionalProperties: { type: 'number' } },
    ],
  ];
  for (const [name, schema, described] of cases)
    it(`describes ${name}`, () => {
      expect(describeZod3(schema)).to.deep.equal(described);
    });

  it('leaves a schema that contains itself open further down', () => {
    interface Tree {
      readonly children: readonly Tree[];
    }
    const schema: z.ZodType<Tree> = z.lazy(() => z.object({ children: z.array(schema) }));
    const described = describeZod3(schema);
    expect(validate(described, { children: [{ children: [] }] })).to.deep.equal([]);
    expect(validate(described, { children: [{ children: 1 }] })).not.to.deep.equal([]);
  });

  it('accepts whatever zod accepts', async () => {
    const schema = z.object({
      id: z.string().uuid().optional(),
      count: z.number().int().min(0).nullable(),
      tags: z
        .array(z.enum(['a', 'b']))
        .max(3)
        .default([]),
      point: z.tuple([z.number(), z.number()]).optional(),
      kind: z.discriminatedUnion('type', [
        z.object({ type: z.literal('text'), text: z.string() }),
        z.object({ type: z.literal('size'), size: z.number() }).strict(),
      ]),
    });
    const values = fc.record(
      {
        id: fc.oneof(fc.uuid(), fc.string()),
        count: fc.oneof(fc.integer(), fc.double({ noNaN: true, noDefaultInfinity: true }), fc.constant(null)),
        tags: fc.array(fc.constantFrom('a', 'b', 'c')),
        point: fc.array(fc.integer(), { maxLength: 3 }),
        kind: fc.record(
          { type: fc.constantFrom('text', 'size'), text: fc.string(), size: fc.integer() },
          { requiredKeys: ['type'] },
        ),
      },
      { requiredKeys: ['kind'] },
    );
    const { jsonSchema } = toJsonSchema(schema);
    let accepted = 0;
    fc.assert(
      fc.property(values, (value) => {
        if (!schema.safeParse(value).success) return;
        accepted += 1;
        expect(validate(jsonSchema, value)).to.deep.equal([]);
      }),
      { seed: 20261122, numRuns: 2_000 },
    );
    expect(accepted).to.be.greaterThan(20);
  });

  it('validates by the schema itself, whose output is the value', async () => {
    const { validate: check } = toJsonSchema(z.object({ at: z.string().transform((text) => text.length) }));
    expect(await check?.({ at: 'four' })).to.deep.equal({ ok: true, value: { at: 4 } });
    expect(await check?.({ at: 4 })).to.have.property('ok', false);
  });

  it('leaves zod 4 to its own conversion', () => {
    expect(toJsonSchema(z4.object({ a: z4.string() })).jsonSchema).to.deep.include({ required: ['a'] });
  });
});
