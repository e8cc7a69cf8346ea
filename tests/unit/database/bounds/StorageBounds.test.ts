import { expect } from 'chai';
import fc from 'fast-check';
import { boundsFor, fairShare } from '../../../../imports/database/bounds/StorageBounds';

describe('StorageBounds', () => {
  it('leave everybody what they have if it fits', () => {
    expect(fairShare([5, 1, 4], 10)).to.equal(Infinity);
    expect(fairShare([], 10)).to.equal(Infinity);
  });

  it('take from the largest users only, down to the same size', () => {
    expect(fairShare([100, 1, 40, 3], 50)).to.equal(23);
    expect(fairShare([100, 1, 20, 3], 50)).to.equal(26);
  });

  it('are used up, but never exceeded', () => {
    fc.assert(
      fc.property(fc.array(fc.nat(1_000), { minLength: 1 }), fc.nat(5_000), (sizes, total) => {
        const share = fairShare(sizes, total);
        const left = sizes.reduce((sum, size) => sum + Math.min(size, share), 0);
        expect(left).to.be.at.most(total);
        if (share !== Infinity) expect(left).to.be.greaterThan(total - sizes.length);
      }),
    );
  });

  it('are smaller where documents are in the memory of the process, unless others are set', () => {
    const embedded = boundsFor({ isExclusive: true }, {});
    const shared = boundsFor({ isExclusive: false }, {});
    expect(embedded.total).to.be.lessThan(shared.total);
    expect(boundsFor({ isExclusive: true }, { perUser: 7 })).to.deep.equal({ ...embedded, perUser: 7 });
  });
});
