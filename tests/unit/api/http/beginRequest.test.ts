import { expect } from 'chai';
import sinon from 'sinon';
import { beginRequest } from '../../../../imports/api/http/beginRequest';
import type { RequestLimiters } from '../../../../imports/api/http/beginRequest';

describe('beginRequest', () => {
  it('tells the limits of the user how large the request is, and what ends its wait', async () => {
    const begin = sinon.fake.resolves(() => undefined);
    const { signal } = new AbortController();
    const userLimiter: RequestLimiters['userLimiter'] = { begin };
    await beginRequest({ userLimiter }, { userId: 'ann', scopes: [] }, { holds: 'calls', bytes: 7, signal });
    expect(begin.args).to.deep.equal([['ann', 'calls', { bytes: 7, signal }]]);
  });
});
