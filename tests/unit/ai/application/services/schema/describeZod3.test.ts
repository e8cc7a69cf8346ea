import { expect } from 'chai';
import fc from 'fast-check';
import { z as z4 } from 'zod';
import { z } from 'zod/v3';
import { toJsonSchema } from '../../../../../../imports/business/ai/application/services/schema/toJsonSchema';
import { validate } from '../../../../../support/validate';

describe('a schema of zod 3', () => {
  it('is described by its input, and accepts what zod would remove', () => {
    const name = z.string().min(2).describe('A name.');
    const schema = z.object({
      first: name,
      last: name.optional(),
      size: z.string().transform((text) => text.length),
      count: z.string().pipe(z.coerce.number()),
    });
    expect(toJsonSchema(schema).jsonSchema).to.deep.include({
      type: 'object',
      properties: {
        first: { type: 'string', minLength: 2, description: 'A name.' },
        last: { type: 'string', minLength: 2, description: 'A name.' },
        size: { type: 'string' },
        count: { type: 'string' },
      },
      required: ['first', 'size', 'count'],
    });
    expect(toJsonSchema(schema).jsonSchema).not.to.have.property('additionalProperties');
  });

  it('is described by a reference where it contains itself', () => {
    interface Tree {
      readonly children: readonly Tree[];
    }
    const tree: z.ZodType<Tree> = z.lazy(() => z.object({ children: z.array(tree) }));
    const { jsonSchema } = toJsonSchema(z.object({ tree, other: tree }));
    const value = { tree: { children: [{ children: [] }] }, other: { children: [] } };
    expect(validate(jsonSchema, value)).to.deep.equal([]);
    const broken = { ...value, other: { children: [{ children: [{ children: 1 }] }] } };
    expect(validate(jsonSchema, broken)).not.to.deep.equal([]);
  });

  it('accepts whatever zod accepts', async () => {
    const schema = z.object({
      id: z.string().uuid().optional(),
      code: z
        .string()
        .regex(/^[a-f]+$/i)
        .optional(),
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
        code: fc.constantFrom('abc', 'ABC', 'x'),
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
