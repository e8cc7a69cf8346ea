import { expect } from 'chai';
import { parseItems } from '../../../../../imports/ui/data/reducers/parseItems';

describe('parseItems', () => {
  it('returns no items for a truncated, malformed or missing transcript', () => {
    expect(parseItems('[{"type":"mess')).to.deep.equal([]);
    expect(parseItems('{"a":1}')).to.deep.equal([]);
    expect(parseItems(undefined)).to.deep.equal([]);
  });
});
