import { expect } from 'chai';
import { randomHex } from '../../../../imports/api/http/randomHex';

describe('randomHex', () => {
  it('returns ids of the given length that differ, also from one block to the next', () => {
    const ids = Array.from({ length: 2_000 }, (_, n) => ({ bytes: 12 + (n % 2) * 4, id: randomHex(12 + (n % 2) * 4) }));
    for (const { bytes, id } of ids) expect(id).to.match(new RegExp(`^[0-9a-f]{${bytes * 2}}$`));
    const firstHalves = new Set(ids.map(({ id }) => id.slice(0, 12)));
    const lastHalves = new Set(ids.map(({ id }) => id.slice(-12)));
    expect([firstHalves.size, lastHalves.size]).to.deep.equal([2_000, 2_000]);
  });
});
