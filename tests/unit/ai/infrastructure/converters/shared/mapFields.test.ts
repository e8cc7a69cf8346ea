/** Maps the fields of an object. */
import { expect } from 'chai';
import { mapFields } from '../../../../../../imports/business/ai/infrastructure/converters/shared/mapFields';

describe('mapFields', () => {
  it('returns the object itself if no field changes, and a copy in the same order otherwise', () => {
    const fields = { b: 1, a: 2 };
    expect(mapFields(fields, (value) => value)).to.equal(fields);
    const copy = mapFields(fields, (value, name) => (name === 'a' ? 3 : value));
    expect(JSON.stringify(copy)).to.equal('{"b":1,"a":3}');
    expect(fields).to.deep.equal({ b: 1, a: 2 });
  });

  it('keeps a field that is named as the prototype', () => {
    const fields = JSON.parse('{"__proto__":{"x":1},"a":2}') as Record<string, unknown>;
    const copy = mapFields(fields, (value, name) => (name === 'a' ? 3 : value));
    expect(Object.keys(copy)).to.deep.equal(['__proto__', 'a']);
    expect(Object.getPrototypeOf(copy)).to.equal(Object.prototype);
  });
});
