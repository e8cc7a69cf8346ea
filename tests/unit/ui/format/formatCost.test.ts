import { expect } from 'chai';
import { formatRunCost } from '../../../../imports/ui/format/formatCost';
import { RUN } from '../records';

const USAGE = { ...RUN.usage, input_tokens: 5, total_tokens: 5 };
const UNPRICED = { calls: 1, models: ['house'], reasons: ['no price for model "house"'] };

describe('formatRunCost', () => {
  it('tells no cost from one that is to follow, and from one that is unknown', () => {
    expect(formatRunCost({ ...RUN, state: 'running' })).to.equal('none yet');
    expect(formatRunCost({ ...RUN, state: 'failed' })).to.equal('none');
    expect(formatRunCost({ ...RUN, state: 'cancelled' })).to.equal('none');
    expect(formatRunCost({ ...RUN, state: 'completed', usage: USAGE })).to.equal('unknown');
    expect(formatRunCost({ ...RUN, state: 'failed', unpriced: UNPRICED })).to.equal('unknown');
    expect(formatRunCost({ ...RUN, state: 'completed', usage: USAGE, cost: 0.5 })).to.equal('$0.50');
    expect(formatRunCost({ ...RUN, usage: USAGE, cost: 0.5, unpriced: UNPRICED })).to.equal('at least $0.50');
  });
});
