import { expect } from 'chai';
import { omitUndefined } from '../../../../../imports/business/ai/domain/util/omitUndefined';

describe('omitUndefined', () => {
  it('leaves out what is undefined, and nothing else', () => {
    const fields = { a: undefined, b: null, c: 0, d: '', e: false, f: NaN, g: undefined };
    expect(Object.entries(omitUndefined(fields))).to.deep.equal([
      ['b', null],
      ['c', 0],
      ['d', ''],
      ['e', false],
      ['f', NaN],
    ]);
  });

  it('does not change the given object', () => {
    const fields = Object.freeze({ a: 1, b: undefined });
    expect(omitUndefined(fields)).to.have.all.keys('a');
    expect(fields).to.have.all.keys('a', 'b');
  });
});
