/** Reduces JSON Schemas to what Gemini supports. */
import { expect } from 'chai';
import { toOpenApiSchema } from '../../../../../../../imports/business/ai/infrastructure/converters/google/openApiSchema';
import { sanitizeSchema } from '../../../../../../../imports/business/ai/infrastructure/converters/google/request/jsonSchema';
import type { JsonObject } from '../../../../../../../imports/business/ai/domain/types/VendorTypes';

const lossPathsOf = (schema: JsonObject): string[] => sanitizeSchema(schema).losses.map(({ path }) => path);

describe('sanitizeSchema', () => {
  it('leaves supported keywords unchanged', () => {
    const schema: JsonObject = {
      type: 'object',
      title: 'T',
      description: 'D',
      required: ['a'],
      additionalProperties: false,
      propertyOrdering: ['a', 'b'],
      properties: {
        a: { type: ['string', 'null'], enum: ['x', 'y'], format: 'date-time' },
        b: { type: 'array', items: { type: 'integer', minimum: 1, maximum: 9 }, minItems: 1, maxItems: 3 },
        c: { anyOf: [{ type: 'string' }, { type: 'number' }] },
        d: { type: 'array', prefixItems: [{ type: 'string' }] },
        properties: { type: 'string' },
      },
    };
    expect(sanitizeSchema(schema)).to.deep.equal({ schema, losses: [] });
  });

  it('omits unsupported keywords, and reports each by path', () => {
    const schema = {
      $schema: 'https://json-schema.org/draft/2020-12/schema',
      type: 'object',
      properties: {
        a: { type: 'string', pattern: '^a', minLength: 1, format: 'email' },
        b: { type: 'number', exclusiveMinimum: 0, default: 1 },
        c: { not: { type: 'null' } },
      },
      patternProperties: { x: {} },
    };
    expect(lossPathsOf(schema)).to.deep.equal([
      '.properties.a.pattern',
      '.properties.a.minLength',
      '.properties.a.format',
      '.properties.b.exclusiveMinimum',
      '.properties.b.default',
      '.properties.c.not',
      '.patternProperties',
    ]);
    expect(sanitizeSchema(schema).schema).to.deep.equal({
      type: 'object',
      properties: { a: { type: 'string' }, b: { type: 'number' }, c: {} },
    });
  });

  it('expands references, with the keywords next to them', () => {
    const schema = {
      type: 'object',
      properties: { home: { $ref: '#/$defs/a~1b', description: 'Home' } },
      $defs: {
        'a/b': { type: 'object', description: 'Place', properties: { city: { $ref: '#/$defs/city' } } },
        city: { type: 'string' },
      },
    };
    expect(sanitizeSchema(schema)).to.deep.equal({
      schema: {
        type: 'object',
        properties: { home: { type: 'object', description: 'Home', properties: { city: { type: 'string' } } } },
      },
      losses: [],
    });
  });

  it('truncates a recursive schema, and reports where', () => {
    const schema = {
      $ref: '#/$defs/node',
      $defs: { node: { type: 'object', description: 'Node', properties: { next: { $ref: '#/$defs/node' } } } },
    };
    const { schema: clean, losses } = sanitizeSchema(schema);
    expect(clean).to.deep.equal({
      type: 'object',
      description: 'Node',
      properties: {
        next: { type: 'object', description: 'Node', properties: { next: { type: 'object', description: 'Node' } } },
      },
    });
    expect(losses.map(({ path }) => path)).to.deep.equal(['.properties.next.properties.next']);
    expect(sanitizeSchema({ $ref: '#/$defs/a', $defs: { a: { $ref: '#/$defs/a' } } }).schema).to.deep.equal({});
  });

  it('truncates references that grow exponentially', () => {
    const $defs = Object.fromEntries(
      Array.from({ length: 20 }, (_, n) => [
        `d${n}`,
        { type: 'object', properties: { l: { $ref: `#/$defs/d${n + 1}` }, r: { $ref: `#/$defs/d${n + 1}` } } },
      ]),
    );
    const { schema, losses } = sanitizeSchema({ $ref: '#/$defs/d0', $defs: { ...$defs, d20: { type: 'string' } } });
    expect(JSON.stringify(schema).length).to.be.lessThan(1_000_000);
    expect(losses.length).to.be.greaterThan(0);
  });

  it('returns the schema itself if nothing has to change, however many properties it has', () => {
    const names = Array.from({ length: 10_000 }, (_, index) => `p${index}`);
    const schema = { type: 'object', properties: Object.fromEntries(names.map((name) => [name, { type: 'string' }])) };
    const { schema: clean, losses } = sanitizeSchema(schema);
    expect(clean).to.equal(schema);
    expect(losses).to.deep.equal([]);
  });

  it('truncates a long chain of references', () => {
    const chain = Array.from({ length: 10_000 }, (_, n) => [`d${n}`, { $ref: `#/$defs/d${n + 1}` }] as const);
    const schema = { type: 'object', properties: { a: { $ref: '#/$defs/d0' } }, $defs: Object.fromEntries(chain) };
    expect(sanitizeSchema(schema)).to.deep.equal({
      schema: { type: 'object', properties: { a: {} } },
      losses: [
        { path: '.properties.a', what: 'everything below', reason: 'The schema refers to references too often.' },
      ],
    });
  });

  it('merges the members of allOf', () => {
    const schema = {
      allOf: [{ type: 'object', properties: { a: { type: 'string' } }, required: ['a'] }, { $ref: '#/$defs/more' }],
      $defs: { more: { properties: { b: { type: 'number' } }, required: ['b'], minimum: 1 } },
      minimum: 2,
    };
    const { schema: clean, losses } = sanitizeSchema(schema);
    expect(clean).to.deep.equal({
      type: 'object',
      properties: { a: { type: 'string' }, b: { type: 'number' } },
      required: ['a', 'b'],
      minimum: 1,
    });
    expect(losses.map(({ what }) => what)).to.deep.equal(['minimum of a member of allOf']);
  });

  it('writes constants as enumerations of one value, and reports unsupported ones', () => {
    expect(sanitizeSchema({ const: 'a' }).schema).to.deep.equal({ enum: ['a'], type: 'string' });
    expect(sanitizeSchema({ enum: [1, null] }).schema).to.deep.equal({ enum: [1], type: ['number', 'null'] });
    expect(sanitizeSchema({ type: 'boolean', const: true })).to.deep.include({ schema: { type: 'boolean' } });
    expect(lossPathsOf({ type: 'boolean', const: true })).to.deep.equal(['.const']);
  });

  it('tolerates unresolved references and schemas that are not objects', () => {
    expect(lossPathsOf({ $ref: '#/nowhere' })).to.deep.equal(['.$ref']);
    expect(lossPathsOf({ $ref: 'https://a.example/schema' })).to.deep.equal(['.$ref']);
    expect(lossPathsOf({ $ref: '#/%' })).to.deep.equal(['.$ref']);
    expect(sanitizeSchema({ properties: { a: true, b: false } }).schema).to.deep.equal({
      properties: { a: {}, b: {} },
    });
  });

  it('converts each schema object once', () => {
    const schema = { type: 'object', properties: { a: { type: 'string' } } };
    expect(sanitizeSchema(schema)).to.equal(sanitizeSchema(schema));
  });
});

describe('toOpenApiSchema', () => {
  it('writes the OpenAPI subset, with the order of properties', () => {
    const { schema, losses } = toOpenApiSchema({
      type: 'object',
      additionalProperties: false,
      required: ['b'],
      properties: {
        b: { type: ['integer', 'null'], enum: [1] },
        a: { oneOf: [{ type: 'string', format: 'date' }, { type: ['string', 'number'] }] },
        c: { type: 'array', items: { const: 'x' } },
      },
    });
    expect(schema).to.deep.equal({
      type: 'OBJECT',
      required: ['b'],
      propertyOrdering: ['b', 'a', 'c'],
      properties: {
        b: { type: 'INTEGER', nullable: true },
        a: { anyOf: [{ type: 'STRING' }, { anyOf: [{ type: 'STRING' }, { type: 'NUMBER' }] }] },
        c: { type: 'ARRAY', items: { enum: ['x'], type: 'STRING' } },
      },
    });
    expect(losses.map(({ path }) => path)).to.deep.equal([
      '.additionalProperties',
      '.properties.b.enum',
      '.properties.a.oneOf[0].format',
    ]);
  });
});
