import { expect } from 'chai';
import { checkSchema } from '../../../../imports/ui/playground/checkSchema';

describe('checkSchema', () => {
  it('accepts schemas, with keywords that it does not know', () => {
    for (const schema of [
      '{}',
      '{"type":["string","null"],"format":"email","x-internal":[1]}',
      '{"$defs":{"a":{"type":"object","properties":{"b":{"$ref":"#/$defs/a"}}}},"anyOf":[{"$ref":"#/$defs/a"},true]}',
      '{"type":"array","items":{"type":"integer","minimum":0},"minItems":1}',
    ])
      expect(checkSchema(schema), schema).to.equal(undefined);
  });

  for (const [schema, problem] of [
    ['{"type": "object",}', /^Not JSON yet: line 1, column 19\.$/],
    ['{\n  "type": nope\n}', /^Not JSON yet: /],
    ['{', /^Not JSON yet/],
    ['[]', /^A JSON Schema is an object/],
    ['{"type":"objekt"}', /“\$\.type” must be one of: string, number/],
    ['{"properties":{"a":{"type":"text"}}}', /“\$\.properties\.a\.type”/],
    ['{"properties":{"a":{}},"required":["b"]}', /“\$\.required” names “b”, which is not a property/],
    ['{"required":"a"}', /“\$\.required” must be a list of names/],
    ['{"anyOf":[]}', /“\$\.anyOf” must be a list of schemas/],
    ['{"items":{"enum":[]}}', /“\$\.items\.enum”/],
    ['{"pattern":"("}', /“\$\.pattern” must be a regular expression/],
    ['{"minLength":-1}', /“\$\.minLength”/],
    ['{"maximum":"3"}', /“\$\.maximum” must be a number/],
    ['{"additionalProperties":"no"}', /“\$\.additionalProperties” must be a schema/],
  ] as const)
    it(`names the fault of ${schema.replaceAll('\n', ' ')}`, () => {
      expect(checkSchema(schema)).to.match(problem);
    });

  it('returns for a schema of any depth', () => {
    const deep = '{"items":'.repeat(5_000) + '{}' + '}'.repeat(5_000);
    expect(checkSchema(deep)).to.match(/nested too deeply/);
  });
});
