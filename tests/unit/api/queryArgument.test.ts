import { expect } from 'chai';
import { queryArgument } from '../../../imports/api/http/queryArgument';

describe('queryArgument', () => {
  const read = queryArgument({ numbers: ['limit', 'from'], lists: ['state'], flags: ['waiting'] });

  it('reads numbers, lists and flags, and leaves other fields strings', () => {
    expect(
      read({ query: { limit: '50', from: '1795000000000', state: 'running,failed', waiting: '', search: '12' } }),
    ).to.deep.equal({
      limit: 50,
      from: 1_795_000_000_000,
      state: ['running', 'failed'],
      waiting: true,
      search: '12',
    });
  });

  it('passes what is invalid on, for the operation to refuse', () => {
    expect(read({ query: { limit: 'many', waiting: 'no', state: ['a', 'b'] } })).to.deep.equal({
      limit: 'many',
      waiting: 'no',
      state: ['a', 'b'],
    });
    expect(read({ query: { limit: '' } })).to.deep.equal({ limit: '' });
  });
});
