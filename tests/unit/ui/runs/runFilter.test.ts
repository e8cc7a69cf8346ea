import { expect } from 'chai';
import { describeRunFilter, readRunFilter, readRunOrder } from '../../../../imports/ui/runs/runFilter';

describe('the filter of the list of runs', () => {
  it('reads every parameter of the address, with durations in seconds', () => {
    const query = new URLSearchParams(
      'search=ship+it&state=failed&providerId=openai&model=gpt-5&userId=ann&tool=danger&tag=nightly&rating=down' +
        '&conversationId=c1&minCost=0.5&maxCost=2&minDuration=1.5&maxDuration=60&from=1000&to=2000&sort=cost&order=asc',
    );
    expect(readRunFilter(query)).to.deep.equal({
      search: 'ship it',
      state: 'failed',
      providerId: 'openai',
      model: 'gpt-5',
      userId: 'ann',
      tool: 'danger',
      tag: 'nightly',
      rating: 'down',
      conversationId: 'c1',
      minCost: 0.5,
      maxCost: 2,
      minDuration: 1_500,
      maxDuration: 60_000,
      from: 1_000,
      to: 2_000,
    });
    expect(readRunOrder(query)).to.deep.equal({ sort: 'cost', order: 'asc' });
  });

  it('ignores what is invalid, so that an old link still shows a list', () => {
    const query = new URLSearchParams(
      'state=live&rating=5&minCost=cheap&maxCost=-1&from=&sort=title&order=up&toString=1&search=+',
    );
    expect(readRunFilter(query)).to.deep.equal({});
    expect(readRunOrder(query)).to.deep.equal({ sort: 'createdAt', order: 'desc' });
    expect(readRunFilter(new URLSearchParams('state=constructor'))).to.deep.equal({});
  });

  it('covers several states, and what waits for someone', () => {
    expect(readRunFilter(new URLSearchParams('state=active'))).to.deep.equal({
      state: ['queued', 'running', 'waiting'],
    });
    expect(readRunFilter(new URLSearchParams('state=waits'))).to.deep.equal({ waiting: true });
  });

  it('is described by the parameters that are in effect', () => {
    expect(
      describeRunFilter(new URLSearchParams('state=waits&tool=danger&minCost=0.5&minDuration=90&page=2&after=x')),
    ).to.deep.equal([
      { name: 'state', label: 'Waits for someone' },
      { name: 'tool', label: 'Tool: danger' },
      { name: 'minCost', label: 'Cost from $0.50' },
      { name: 'minDuration', label: 'Duration from 1 m 30 s' },
    ]);
  });
});
