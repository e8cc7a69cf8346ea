import { expect } from 'chai';
import {
  strictFormat,
  toStrictSchema,
} from '../../../../../../imports/business/ai/infrastructure/converters/shared/strictSchema';
import type { JsonObject, Loss } from '../../../../../../imports/business/ai/domain/types/VendorTypes';

const text = { type: 'string' };

describe('toStrictSchema', () => {
  it('returns the same object for a schema that is strict already', () => {
    const schema = {
      type: 'object',
      properties: { a: text, list: { type: 'array', items: { type: 'integer', minimum: 0 } } },
      required: ['a', 'list'],
      additionalProperties: false,
    };
    expect(toStrictSchema(schema)).to.deep.equal({ schema, losses: [] });
    expect(toStrictSchema(schema)?.schema).to.equal(schema);
  });

  it('closes objects and makes optional properties nullable', () => {
    const schema = {
      type: 'object',
      properties: { a: text, kind: { type: 'string', enum: ['x', 'y'] }, fixed: { const: 1 } },
      required: ['a'],
    };
    expect(toStrictSchema(schema)?.schema).to.deep.equal({
      type: 'object',
      properties: {
        a: text,
        kind: { type: ['string', 'null'], enum: ['x', 'y', null] },
        fixed: { anyOf: [{ const: 1 }, { type: 'null' }] },
      },
      required: ['a', 'kind', 'fixed'],
      additionalProperties: false,
    });
  });

  it('reports exactly the constraints that will not be enforced', () => {
    const schema = {
      $schema: 'x',
      type: 'object',
      properties: { a: { type: 'string', minLength: 2, format: 'color', default: 'b' } },
      required: ['a'],
      additionalProperties: false,
    };
    expect(toStrictSchema(schema)?.losses.map(({ path }) => path)).to.deep.equal([
      'response_format.schema.properties.a.minLength',
      'response_format.schema.properties.a.format',
    ]);
    expect(toStrictSchema(schema)?.schema.properties).to.deep.equal({ a: text });
  });

  it('keeps defaults where the vendor accepts them, but for null', () => {
    const schema = {
      type: 'object',
      properties: { a: { type: 'string', default: 'b' }, c: { type: ['string', 'null'], default: null } },
      required: ['a', 'c'],
      additionalProperties: false,
    };
    expect(toStrictSchema(schema, { strictKeywords: ['default'] })?.schema.properties).to.deep.equal({
      a: { type: 'string', default: 'b' },
      c: { type: ['string', 'null'] },
    });
  });

  it('preserves references and definitions, even recursive ones', () => {
    const node = {
      type: 'object',
      properties: { next: { anyOf: [{ $ref: '#/$defs/node' }, { type: 'null' }] } },
      required: ['next'],
      additionalProperties: false,
    };
    const schema = { ...node, $defs: { node } };
    expect(toStrictSchema(schema)?.schema).to.equal(schema);
  });

  const inexpressible: Record<string, object> = {
    'a map': { type: 'object', additionalProperties: text },
    'an object of anything': { type: 'object' },
    'an untyped property': { type: 'object', properties: { a: {} } },
    'a list of anything': { type: 'object', properties: { a: { type: 'array' } } },
    allOf: { type: 'object', properties: { a: { allOf: [text] } } },
    'a root that is not an object': { type: 'array', items: text },
    'a choice at the root': { type: 'object', anyOf: [{ type: 'object' }] },
  };
  for (const [what, schema] of Object.entries(inexpressible)) {
    it(`returns undefined for ${what}`, () =>
      expect(toStrictSchema(schema as Record<string, unknown>)).to.equal(undefined));
  }

  it('returns undefined for more than 5,000 properties, of all objects together', () => {
    const withProperties = (count: number): JsonObject => ({
      type: 'object',
      properties: Object.fromEntries(Array.from({ length: count }, (_, at) => [`p${at}`, { type: 'string' }])),
    });
    const nested = (count: number): JsonObject => ({
      type: 'object',
      properties: { inner: withProperties(count), list: { type: 'array', items: withProperties(1) } },
    });
    expect(toStrictSchema(withProperties(5_000))).to.be.an('object');
    expect(toStrictSchema(withProperties(5_001))).to.equal(undefined);
    expect(toStrictSchema(nested(4_997))).to.be.an('object');
    expect(toStrictSchema(nested(4_998))).to.equal(undefined);
  });

  it('returns undefined for nesting deeper than ten levels', () => {
    let schema: Record<string, unknown> = text;
    for (let depth = 0; depth < 12; depth += 1)
      schema = { type: 'object', properties: { a: schema }, required: ['a'], additionalProperties: false };
    expect(toStrictSchema(schema)).to.equal(undefined);
  });
});

describe('strictFormat', () => {
  it('leaves a format without strict unchanged', () => {
    const format = { type: 'json_schema', schema: { type: 'object' } } as const;
    expect(strictFormat(format, {}, [])).to.equal(format);
  });

  it('removes strict, and reports it, for vendors and schemas that do not support it', () => {
    const losses: Loss[] = [];
    const format = {
      type: 'json_schema',
      strict: true,
      schema: { type: 'object', additionalProperties: text },
    } as const;
    expect(strictFormat(format, {}, losses)).to.deep.equal({ type: 'json_schema', schema: format.schema });
    expect(strictFormat(format, { supportsStrictSchemas: false }, losses)).not.to.have.property('strict');
    expect(losses.map(({ path }) => path)).to.deep.equal(['response_format.strict', 'response_format.strict']);
  });
});
