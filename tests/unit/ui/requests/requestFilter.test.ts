import { expect } from 'chai';
import {
  describeRequestFilter,
  readRequestFilter,
  readRequestOrder,
} from '../../../../imports/ui/requests/requestFilter';

describe('the filter of the list of requests', () => {
  it('reads every parameter of the address, with durations in seconds', () => {
    const query = new URLSearchParams(
      'search=req_9&state=failed&source=gateway&api=gemini&providerId=google&model=m&userId=ann&tokenId=t' +
        '&executionId=e&minCost=0.5&minDuration=1.5&from=1000&to=2000&sort=cost&order=asc',
    );
    expect(readRequestFilter(query)).to.deep.equal({
      search: 'req_9',
      state: 'failed',
      source: 'gateway',
      api: 'gemini',
      providerId: 'google',
      model: 'm',
      userId: 'ann',
      tokenId: 't',
      executionId: 'e',
      minCost: 0.5,
      minDuration: 1_500,
      from: 1_000,
      to: 2_000,
    });
    expect(readRequestOrder(query)).to.deep.equal({ sort: 'cost', order: 'asc' });
  });

  it('ignores what is invalid, so that an old link still shows a list', () => {
    const query = new URLSearchParams('state=odd&source=x&minCost=many&from=-1&sort=model&order=up&other=1');
    expect(readRequestFilter(query)).to.deep.equal({});
    expect(readRequestOrder(query)).to.deep.equal({ sort: 'at', order: 'desc' });
    expect(describeRequestFilter(query)).to.deep.equal([]);
  });

  it('names each filter in effect by the parameter that removes it', () => {
    const query = new URLSearchParams('search=x&state=cancelled&source=run&api=chat_completions&minDuration=2');
    expect(describeRequestFilter(query)).to.deep.equal([
      { name: 'search', label: 'Text: x' },
      { name: 'state', label: 'Cancelled' },
      { name: 'source', label: 'Runs' },
      { name: 'api', label: 'API: Chat Completions' },
      { name: 'minDuration', label: 'Duration from 2.0 s' },
    ]);
  });
});
