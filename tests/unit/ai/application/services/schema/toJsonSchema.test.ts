/** Every kind of schema that callers may pass: its description for the model, and its validation of an answer. */
import { expect } from 'chai';
import SimpleSchema, { toJsonSchema as simpleSchemaToJson } from 'simpl-schema';
import * as v from 'valibot';
import { z } from 'zod';
import { z as z3 } from 'zod/v3';
import { toJsonSchema } from '../../../../../../imports/business/ai/application/services/schema/toJsonSchema';
import { validate } from '../../../../../support/validate';
import { LLMInvalidRequestError } from '../../../../../../imports/business/ai/domain/errors/LLMErrors';
import type { StandardSchema } from '../../../../../../imports/business/ai/domain/types/Schemas';
import type { JsonObject } from '../../../../../../imports/business/ai/domain/types/VendorTypes';

function faultOf(read: () => unknown): LLMInvalidRequestError {
  try {
    read();
  } catch (error) {
    if (error instanceof LLMInvalidRequestError) return error;
    throw error;
  }
  throw new Error('nothing was thrown');
}

describe('a JSON Schema', () => {
  it('is used unchanged, without further validation', () => {
    const schema = { type: 'object' };
    expect(toJsonSchema(schema)).to.deep.equal({ jsonSchema: schema });
    expect(toJsonSchema(schema).jsonSchema).to.equal(schema);
  });

  for (const nothing of [undefined, null, 'object', 7, [], () => 1]) {
    it(`is not ${typeof nothing === 'string' ? 'a string' : String(nothing)}`, () =>
      expect(faultOf(() => toJsonSchema(nothing)).path).to.equal('schema'));
  }
});

describe('a zod schema', () => {
  const weather = z.object({
    city: z.string().min(1),
    days: z.array(z.object({ high: z.number(), at: z.iso.datetime() })),
    unit: z.enum(['c', 'f']).default('c'),
    code: z.string().transform((text) => text.length),
  });

  it('is described by its input, which is what the model writes', () => {
    const { jsonSchema } = toJsonSchema(weather);
    expect(jsonSchema).to.have.nested.property('properties.code.type', 'string');
    expect(jsonSchema.required).to.have.members(['city', 'days', 'code']);
    expect(
      validate(jsonSchema, { city: 'Bern', days: [{ high: 1, at: '2025-01-01T00:00:00Z' }], code: 'abc' }),
    ).to.deep.equal([]);
    expect(validate(jsonSchema, { city: '', days: [{ high: '1' }], code: 1 }).map(({ path }) => path)).to.have.members([
      '$.city',
      '$.days[0].high',
      '$.days[0].at',
      '$.code',
    ]);
  });

  it('returns its own output: transformed, with defaults, typed', async () => {
    const outcome = await toJsonSchema(weather).validate?.({ city: 'Bern', days: [], code: 'abc' });
    expect(outcome).to.deep.equal({ ok: true, value: { city: 'Bern', days: [], unit: 'c', code: 3 } });
    if (outcome?.ok !== true) return;
    const length: number = outcome.value.code;
    // @ts-expect-error the transformed code is a number
    const text: string = outcome.value.code;
    expect(text).to.equal(length);
  });

  it('reports issues with their JSON path, including those of asynchronous refinements', async () => {
    const schema = z.object({
      items: z.array(z.object({ price: z.number().refine(async (price) => price > 0, 'must be positive') })),
    });
    expect(await toJsonSchema(schema).validate?.({ items: [{ price: 1 }, { price: -1 }] })).to.deep.equal({
      ok: false,
      violations: [{ path: '$.items[1].price', message: 'must be positive' }],
    });
  });

  it('runs an asynchronous refinement of zod once, and rejects as it does', async () => {
    let runs = 0;
    const refine = (): Promise<boolean> => {
      runs += 1;
      return Promise.reject(new Error('The database is away.'));
    };
    for (const schema of [z.string().refine(refine), z3.string().refine(refine)]) {
      runs = 0;
      const outcome = await toJsonSchema(schema)
        .validate?.('a')
        .catch((error: unknown) => error);
      expect(outcome).to.be.an('error').with.property('message', 'The database is away.');
      expect(runs).to.equal(1);
    }
  });

  it('is described by a recursive reference if it is recursive', () => {
    interface Tree {
      readonly name: string;
      readonly children: readonly Tree[];
    }
    const tree: z.ZodType<Tree> = z.object({
      name: z.string(),
      get children() {
        return z.array(tree);
      },
    });
    const { jsonSchema } = toJsonSchema(tree);
    expect(validate(jsonSchema, { name: 'a', children: [{ name: 'b', children: [] }] })).to.deep.equal([]);
    expect(validate(jsonSchema, { name: 'a', children: [{ name: 1, children: [] }] })[0]?.path).to.equal(
      '$.children[0].name',
    );
  });

  it('is rejected with the reason if JSON Schema cannot express it', () => {
    const fault = faultOf(() => toJsonSchema(z.object({ when: z.date() })));
    expect(fault.message).to.match(/zod schema cannot be converted to JSON Schema: .*date/i);
    expect(fault.cause).to.be.instanceOf(Error);
  });
});

describe('other Standard Schemas', () => {
  const city = v.object({ city: v.pipe(v.string(), v.minLength(2)) });

  it('are rejected without a JSON Schema, with advice', () => {
    const mute = { '~standard': { version: 1 as const, vendor: 'mute', validate: (value: unknown) => ({ value }) } };
    expect(faultOf(() => toJsonSchema(mute)).message).to.match(
      /mute schema cannot describe itself.*~standard\.jsonSchema/,
    );
  });

  it('are described by their input in draft 2020-12 if they support Standard JSON Schema', async () => {
    const asked: unknown[] = [];
    const described = {
      '~standard': {
        ...city['~standard'],
        jsonSchema: {
          input: (options: unknown): JsonObject => {
            asked.push(options);
            return { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] };
          },
        },
      },
    };
    const { jsonSchema, validate } = toJsonSchema(described);
    expect(asked).to.deep.include({ target: 'draft-2020-12', io: 'input' });
    expect(jsonSchema.required).to.deep.equal(['city']);
    expect(await validate?.({ city: 'Bern' })).to.deep.equal({ ok: true, value: { city: 'Bern' } });
    const refused = await validate?.({ city: 'B' });
    expect(refused).to.have.nested.property('violations[0].path', '$.city');
  });

  it('may be functions, and describe themselves by their own method', async () => {
    const schema: StandardSchema<string> & { toJsonSchema: () => JsonObject } = Object.assign(() => undefined, {
      '~standard': {
        version: 1 as const,
        vendor: 'functional',
        validate: (value: unknown) =>
          typeof value === 'string' ? { value } : { issues: [{ message: 'no text', path: [{ key: 'a b' }, 0] }] },
      },
      toJsonSchema: () => ({ type: 'string' }),
    });
    expect(toJsonSchema(schema).jsonSchema).to.deep.equal({ type: 'string' });
    expect(await toJsonSchema(schema).validate?.(1)).to.deep.equal({
      ok: false,
      violations: [{ path: '$["a b"][0]', message: 'no text' }],
    });
  });
});

describe('a SimpleSchema', () => {
  const person = new SimpleSchema({
    name: { type: String, max: 10, regEx: /^[a-z]+$/ },
    nick: { type: String, optional: true, regEx: /^[a-z]+$/i },
    age: { type: SimpleSchema.Integer, min: 0, max: Infinity },
    born: Date,
    tags: { type: Array, minCount: 1 },
    'tags.$': String,
    address: Object,
    'address.city': String,
    'address.zip': { type: String, optional: true },
    pets: [new SimpleSchema({ kind: { type: String, allowedValues: ['cat', 'dog'] } })],
    role: { type: String, defaultValue: 'guest', optional: true },
  });
  const valid = {
    name: 'ann',
    age: 3,
    born: '2020-02-03T00:00:00Z',
    tags: ['a', 'b'],
    address: { city: 'Bern' },
    pets: [{ kind: 'cat' }],
  };

  it('is described with nested objects, arrays of any length, optional fields and patterns', () => {
    const { jsonSchema } = toJsonSchema(person);
    expect(validate(jsonSchema, valid)).to.deep.equal([]);
    const broken = { ...valid, name: 'Ann', age: 1.5, tags: ['a', 2], address: {}, pets: [{ kind: 'cow' }], extra: 1 };
    expect(validate(jsonSchema, broken).map(({ path }) => path)).to.have.members([
      '$.name',
      '$.age',
      '$.tags[1]',
      '$.address.city',
      '$.pets[0].kind',
      '$.extra',
    ]);
    expect(jsonSchema.required).to.not.include('nick');
  });

  it('is described as by the package itself, whose lists and patterns are corrected here', () => {
    class Point {
      x = 1;
    }
    const schema = new SimpleSchema({
      either: SimpleSchema.oneOf(String, { type: Number, min: 1 }, Boolean),
      anything: { type: SimpleSchema.Any, optional: true },
      free: { type: Object, blackbox: true },
      point: { type: Point },
      part: new SimpleSchema({ whole: SimpleSchema.Integer, deep: { type: Object }, 'deep.er': { type: Date } }),
      'list.$.name': String,
      'list.$.more.$': { type: Array },
      'list.$.more.$.$': { type: Number, max: 2, min: 1, exclusiveMax: true, exclusiveMin: true },
      'list.$.more': Array,
      'list.$': Object,
      list: { type: Array, optional: true, defaultValue: [] },
      later: { type: Date, min: new Date(0), max: () => new Date() },
      computed: { type: String, max: () => 3, allowedValues: () => ['a'] },
      chosen: { type: String, allowedValues: new Set(['a', 'b']), defaultValue: 'a' },
      path: { type: String, regEx: /^\/a+$/ },
    });
    const own = simpleSchemaToJson(schema);
    expect(toJsonSchema(schema).jsonSchema).to.deep.equal(corrected(own));
  });

  it('describes the counts of lists and the allowed numbers, which the package omits', () => {
    const schema = new SimpleSchema({
      list: { type: Array, minCount: 1, maxCount: 2 },
      'list.$': { type: Number, allowedValues: [1, 2] },
    });
    expect(toJsonSchema(schema).jsonSchema).to.deep.nested.include({
      'properties.list': { type: 'array', items: { type: 'number', enum: [1, 2] }, minItems: 1, maxItems: 2 },
    });
  });

  it('does not turn a pattern with flags into another pattern', () => {
    expect(toJsonSchema(person).jsonSchema).to.deep.nested.include({
      'properties.nick': { type: 'string', description: 'must match /^[a-z]+$/i' },
    });
  });

  it('returns the cleaned value: dates as Dates, defaults filled in, strings unchanged', async () => {
    const given = Object.freeze({ ...valid, nick: 'Ann' });
    const outcome = await toJsonSchema(person).validate?.(given);
    expect(outcome).to.deep.equal({
      ok: true,
      value: { ...given, born: new Date('2020-02-03T00:00:00Z'), role: 'guest' },
    });
  });

  it('reports violations that only it can find, with JSON paths', async () => {
    const outcome = await toJsonSchema(person).validate?.({ ...valid, nick: '7', tags: [], pets: [{ kind: 'cow' }] });
    expect(outcome?.ok).to.equal(false);
    expect(outcome)
      .to.have.nested.property('violations')
      .that.satisfies((violations: readonly { path: string; message: string }[]) => {
        expect(violations.map(({ path }) => path)).to.have.members(['$.nick', '$.tags', '$.pets[0].kind']);
        expect(violations.find(({ path }) => path === '$.tags')?.message).to.match(/at least 1/);
        return true;
      });
  });

  it('rejects a value that is not an object', async () => {
    expect(await toJsonSchema(person).validate?.(['x'])).to.have.property('ok', false);
  });
});

/** simpl-schema 3.4.6 writes list items as tuples of one, and patterns with their slashes. */
function corrected(node: unknown): unknown {
  if (Array.isArray(node)) return node.map(corrected);
  if (typeof node !== 'object' || node === null) return node;
  const { additionalItems, ...rest } = node as JsonObject;
  return Object.fromEntries(
    Object.entries(rest).map(([key, value]) => {
      if (key === 'items' && additionalItems === false) return [key, corrected((value as unknown[])[0])];
      if (key === 'pattern' && typeof value === 'string') return [key, value.slice(1, -1)];
      return [key, corrected(value)];
    }),
  );
}
