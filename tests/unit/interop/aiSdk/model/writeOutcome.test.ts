import { expect } from 'chai';
import { toUsage } from '../../../../../imports/interop/aiSdk/model/writeOutcome';

describe('the usage that the AI SDK gets', () => {
  it('has parts that add up to the whole, whatever was cached and thought', () => {
    const { inputTokens, outputTokens } = toUsage({
      input_tokens: 1_000,
      output_tokens: 400,
      total_tokens: 1_400,
      input_tokens_details: { cached_tokens: 300, cache_write_tokens: 50 },
      output_tokens_details: { reasoning_tokens: 150 },
    });
    expect(inputTokens).to.deep.equal({ total: 1_000, noCache: 650, cacheRead: 300, cacheWrite: 50 });
    expect(outputTokens).to.deep.equal({ total: 400, text: 250, reasoning: 150 });
  });
});
