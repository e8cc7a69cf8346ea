import { expect } from 'chai';
import { batchPrice } from '../../../../../imports/business/ai/domain/entities/batchPrice';
import type { ModelPrice } from '../../../../../imports/business/ai/domain/types/ModelPrice';

const PRICE: ModelPrice = {
  ...{ asOf: '2026-01-01', input: 4, output: 20, cached: 0.4, cacheWrite: 5, cacheWriteHour: 8 },
  longPrompt: { above: 200_000, input: 8, output: 30, cached: 6 },
};

describe('The price of a batch', () => {
  it('is half of each list price, those of long prompts included', () => {
    expect(batchPrice('anthropic', PRICE)).to.deep.equal({
      ...{ asOf: '2026-01-01', input: 2, output: 10, cached: 0.2, cacheWrite: 2.5, cacheWriteHour: 4 },
      longPrompt: { above: 200_000, input: 4, output: 15, cached: 3 },
    });
  });

  it('is that of the list for what Google reads from its cache, but never more than without it', () => {
    expect(batchPrice('google', PRICE)).to.deep.include({ cached: 0.4 });
    expect(batchPrice('google', PRICE).longPrompt).to.deep.include({ input: 4, cached: 4 });
  });

  it('is the list price at a vendor without a discount', () => {
    expect(batchPrice('acme', PRICE)).to.equal(PRICE);
  });
});
