import { expect } from 'chai';
import { readQuery } from '../../../imports/api/http/addOperationRoutes';

describe('the argument in a query', () => {
  const kinds = { limit: 'number', from: 'number', state: 'list', waiting: 'flag', search: 'text' } as const;
  const read = (query: Parameters<typeof readQuery>[1]) => readQuery(kinds, query);

  it('reads numbers, lists and flags, and leaves other fields strings', () => {
    expect(
      read({ limit: '50', from: '1795000000000', state: 'running,failed', waiting: '', search: '12' }),
    ).to.deep.equal({
      limit: 50,
      from: 1_795_000_000_000,
      state: ['running', 'failed'],
      waiting: true,
      search: '12',
    });
  });

  it('passes what is invalid on, for the operation to refuse', () => {
    expect(read({ limit: 'many', waiting: 'no', state: ['a', 'b'] })).to.deep.equal({
      limit: 'many',
      waiting: 'no',
      state: ['a', 'b'],
    });
    expect(read({ limit: '' })).to.deep.equal({ limit: '' });
  });
});
