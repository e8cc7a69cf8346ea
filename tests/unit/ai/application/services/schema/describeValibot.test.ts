/** valibot schemas as JSON Schema: described as far as JSON Schema can, and never more strictly than they are. */
import { expect } from 'chai';
import fc from 'fast-check';
import * as v from 'valibot';
import { toJsonSchema } from '../../../../../../imports/business/ai/application/services/schema/toJsonSchema';
import { assertSchema } from '../../../../../../imports/business/ai/application/services/schema/checkSchema';
import { validate } from '../../../../../support/validate';

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

const SCHEMAS: readonly v.GenericSchema[] = [
  v.pipe(v.string(), v.minLength(2), v.maxLength(5), v.description('A word')),
  v.pipe(v.string(), v.regex(/^a/i)),
  v.pipe(v.string(), v.hexadecimal()),
  v.pipe(v.number(), v.integer(), v.minValue(1), v.maxValue(9)),
  v.enum(Level),
  v.object({ a: v.string(), b: v.optional(v.number()), c: v.nullish(v.string()) }),
  v.strictObject({ a: v.string() }),
  v.objectWithRest({ a: v.string() }, v.number()),
  v.record(v.string(), v.number()),
  v.variant('type', [v.object({ type: v.literal('x') }), v.object({ type: v.literal('y'), n: v.number() })]),
  v.intersect([v.object({ a: v.string() }), v.object({ b: v.string() })]),
  v.pipe(v.string(), v.minLength(1), v.transform(Number), v.maxValue(5)),
  v.date(),
];

describe('a valibot schema', () => {
  it('is described by its input, and left open where JSON Schema cannot express it', () => {
    const schema = v.object({
      at: v.pipe(v.string(), v.minLength(1), v.transform(Number), v.maxValue(5)),
      word: v.pipe(
        v.string(),
        v.regex(/^a/i),
        v.check((text) => text !== 'ab'),
      ),
      day: v.optional(v.date()),
    });
    expect(toJsonSchema(schema).jsonSchema).to.deep.include({
      properties: { at: { type: 'string', minLength: 1 }, word: { type: 'string' }, day: {} },
      required: ['at', 'word'],
    });
  });

  it('is described by a recursive reference if it is recursive', async () => {
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
      fc.constantFrom('Abc', '0XfF', 'low', { a: 'x', b: 1 }, { type: 'y', n: 1 }, { a: 'x', b: 'y' }, 3, null),
      fc.dictionary(
        fc.constantFrom('a', 'b', 'c', 'type', 'n'),
        fc.oneof(fc.string(), fc.integer(), fc.constant(null)),
      ),
    );
    fc.assert(
      fc.property(fc.constantFrom(...SCHEMAS), values, (schema, value) => {
        // valibot also accepts arrays as objects, which a model should not write.
        if (!Array.isArray(value) && v.is(schema, value))
          expect(validate(toJsonSchema(schema).jsonSchema, value)).to.deep.equal([]);
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
