import { expect } from 'chai';
import { canonicalJson } from '../../../../../imports/business/ai/domain/util/canonicalJson';

describe('canonicalJson', () => {
  it('sorts keys at every level, and writes the rest as JSON does', () => {
    const value: unknown = {
      b: [{ d: undefined, c: new Date(0) }, undefined],
      a: { é: -0, Z: NaN, '10': null, '2': 'text' },
      ...(JSON.parse('{ "__proto__": { "z": 1, "y": 2 } }') as object),
    };
    expect(canonicalJson(value)).to.equal(
      '{"__proto__":{"y":2,"z":1},"a":{"2":"text","10":null,"Z":null,"é":0},"b":[{"c":"1970-01-01T00:00:00.000Z"},null]}',
    );
  });

  it('takes the form that an object or a function has in JSON, even if that has a form itself', () => {
    const money = { unit: 'EUR', amount: 5, toJSON: () => ({ ...money }) };
    const type = Object.assign(() => true, { toJSON: () => ({ type: 'string', format: 'uuid' }) });
    expect(canonicalJson({ type, money, check: () => true })).to.equal(
      '{"money":{"amount":5,"unit":"EUR"},"type":{"format":"uuid","type":"string"}}',
    );
  });
});
