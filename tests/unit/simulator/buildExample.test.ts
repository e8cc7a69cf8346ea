/** Examples are valid instances of any schema. */
import { Ajv2020 } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import { expect } from 'chai';
import fc from 'fast-check';
import { buildExample } from '../../../imports/simulator/model/buildExample';
import { extractValues } from '../../../imports/simulator/model/extractValues';
import { IS_SOAK } from '../../support/soak';

const ajv = new Ajv2020({ strict: false });
addFormats(ajv);

const name = fc.constantFrom('city', 'count', 'title', 'query', 'email', 'unit', 'note', 'day');

const leaf: fc.Arbitrary<Record<string, unknown>> = fc.oneof(
  fc.record({ type: fc.constant('string') }),
  fc.record({
    type: fc.constant('string'),
    minLength: fc.integer({ min: 0, max: 8 }),
    maxLength: fc.integer({ min: 8, max: 20 }),
  }),
  fc.record({
    type: fc.constant('string'),
    format: fc.constantFrom(
      'date',
      'date-time',
      'time',
      'duration',
      'email',
      'uri',
      'hostname',
      'ipv4',
      'ipv6',
      'uuid',
    ),
  }),
  fc.record({
    type: fc.constant('string'),
    pattern: fc.constantFrom('^[a-z]', '^\\d{4}-\\d{2}-\\d{2}$', '^[A-Z]\\d$', '^.+$'),
  }),
  fc.record({
    type: fc.constantFrom('integer', 'number'),
    minimum: fc.integer({ min: -50, max: 50 }),
    maximum: fc.integer({ min: 51, max: 200 }),
  }),
  fc.record({
    type: fc.constant('integer'),
    exclusiveMinimum: fc.integer({ min: -9, max: 9 }),
    multipleOf: fc.constantFrom(1, 2, 5),
  }),
  fc.record({ type: fc.constantFrom('boolean', 'null') }),
  fc.record({ type: fc.constant(['string', 'null']) }),
  fc.record({ enum: fc.uniqueArray(fc.oneof(fc.string(), fc.integer()), { minLength: 1, maxLength: 4 }) }),
  fc.record({ const: fc.oneof(fc.string(), fc.integer(), fc.constant(null)) }),
);

const { schema } = fc.letrec<{ schema: Record<string, unknown> }>((tie) => ({
  schema: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    leaf,
    fc.tuple(fc.dictionary(name, tie('schema'), { maxKeys: 4 }), fc.boolean()).map(([properties, closed]) => ({
      type: 'object',
      properties,
      required: Object.keys(properties),
      ...(closed ? { additionalProperties: false } : {}),
    })),
    fc
      .tuple(tie('schema'), fc.integer({ min: 0, max: 3 }))
      .map(([items, minItems]) => ({ type: 'array', items, minItems })),
    fc.array(tie('schema'), { minLength: 1, maxLength: 3 }).map((anyOf) => ({ anyOf })),
    tie('schema').map((inner) => ({ $ref: '#/$defs/inner', $defs: { inner } })),
  ),
}));

const text = fc.oneof(
  fc.string(),
  fc.constantFrom(
    'The weather in Oslo and Paris on 2024-02-29, 7 times, for "Bob" (bob@example.org).',
    'Call 12, 3.5 and -8.',
    'https://example.org/a "" 99999',
  ),
);

describe('buildExample', () => {
  it('builds a valid instance for any schema and text', () => {
    fc.assert(
      fc.property(schema, text, fc.boolean(), (given, source, optional) => {
        const closed = hoisted(given);
        const example = buildExample(closed, extractValues(source), { optional });
        const validate = ajv.compile(closed);
        expect(validate(example), `${JSON.stringify(example)} ${ajv.errorsText(validate.errors)}`).to.equal(true);
      }),
      { numRuns: IS_SOAK ? 300 : 100 },
    );
  });

  it('uses each extracted value once, chosen by the property’s name', () => {
    const schemaOf = (properties: Record<string, object>): Record<string, unknown> => ({
      type: 'object',
      properties,
      required: Object.keys(properties),
    });
    const given = schemaOf({
      latitude: { type: 'string' },
      longitude: { type: 'string' },
      place: { type: 'string' },
      title: { type: 'string' },
    });
    const source = 'At 52.52 and 13.40, the trip to Berlin called "Spring".';
    expect(buildExample(given, extractValues(source), { optional: false })).to.deep.equal({
      latitude: '52.52',
      longitude: '13.40',
      place: 'Berlin',
      title: 'Spring',
    });
  });

  it('prefers defaults and examples to the text', () => {
    const given = {
      type: 'object',
      properties: { a: { type: 'integer', default: 7 }, b: { type: 'string', examples: ['x'] } },
      required: ['a', 'b'],
    };
    expect(buildExample(given, extractValues('1 "y"'), { optional: false })).to.deep.equal({ a: 7, b: 'x' });
  });

  it('gives up a pattern that backtracks without end, and takes the text as fitting', () => {
    const text = `${'a'.repeat(30)}!`;
    const given = {
      type: 'object',
      properties: { query: { type: 'string', pattern: '^(a+)+$|^simulated$' } },
      required: ['query'],
    };
    expect(buildExample(given, extractValues(`Search "${text}"`), { optional: false })).to.deep.equal({ query: text });
  });

  it('terminates on a recursive schema', () => {
    const tree = {
      $ref: '#/$defs/node',
      $defs: {
        node: {
          type: 'object',
          properties: { children: { type: 'array', items: { $ref: '#/$defs/node' } } },
          required: ['children'],
        },
      },
    };
    const example = buildExample(tree, extractValues(''), { optional: true });
    expect(ajv.validate(tree, example)).to.equal(true);
  });

  it('accepts Gemini’s upper-case types', () => {
    expect(
      buildExample({ type: 'OBJECT', properties: { n: { type: 'INTEGER' } }, required: ['n'] }, extractValues('5'), {
        optional: false,
      }),
    ).to.deep.equal({ n: 5 });
  });
});

/** Moves definitions to the root, where references expect them, under unique names. */
function hoisted(given: Record<string, unknown>): Record<string, unknown> {
  const definitions: Record<string, unknown> = {};
  const walk = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(walk);
    if (typeof value !== 'object' || value === null) return value;
    if (!('$ref' in value) || !('$defs' in value))
      return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, walk(item)]));
    const definition = `d${Object.keys(definitions).length}`;
    definitions[definition] = true;
    definitions[definition] = walk((value.$defs as { inner: unknown }).inner);
    return { $ref: `#/$defs/${definition}` };
  };
  return { ...(walk(given) as Record<string, unknown>), $defs: definitions };
}
