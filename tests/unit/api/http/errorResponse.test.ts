import { expect } from 'chai';
import { errorResponse } from '../../../../imports/api/http/errorResponse';
import { LLMRateLimitError } from '../../../../imports/business/ai/domain/errors/LLMErrors';

describe('errorResponse', () => {
  const retryAfter = (retryAfterMs?: number): string | undefined =>
    errorResponse(new LLMRateLimitError('Slow down.', retryAfterMs === undefined ? {} : { retryAfterMs }), {
      api: 'app',
      requestId: 'req_1',
    }).headers['retry-after'];

  it('names whole seconds, after which a retry is never too early', () => {
    expect([1, 999, 1_000, 1_001, 61_500].map(retryAfter)).to.deep.equal(['1', '1', '1', '2', '62']);
  });

  it('names a retry at once, and nothing if nothing is known', () => {
    expect([retryAfter(0), retryAfter()]).to.deep.equal(['0', undefined]);
  });
});
