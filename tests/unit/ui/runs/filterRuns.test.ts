import { expect } from 'chai';
import type { ListedRun } from '../../../../imports/ui/data/DashboardData';
import { filterRuns, readRunFilter } from '../../../../imports/ui/runs/filterRuns';
import { RUN } from '../records';

describe('filterRuns', () => {
  const row = (fields: Partial<ListedRun>): ListedRun => ({ ...RUN, awaitingApproval: [], ...fields });
  const runs = [
    row({ _id: '1' }),
    row({ _id: '2', state: 'waiting', awaitingApproval: ['c'] }),
    row({ _id: '3', state: 'failed', providerId: 'groq', error: { code: 'timeout', message: 'It took too long.' } }),
    row({ _id: '4', state: 'completed', model: 'gpt-x' }),
  ];
  const found = (query: string): readonly string[] =>
    filterRuns(runs, readRunFilter(new URLSearchParams(query))).map(({ _id }) => _id);

  it('filters by state, provider, text, and all at once', () => {
    expect(found('')).to.deep.equal(['1', '2', '3', '4']);
    expect(found('state=live')).to.deep.equal(['1', '2']);
    expect(found('state=needs-approval')).to.deep.equal(['2']);
    expect(found('state=completed')).to.deep.equal(['4']);
    expect(found('provider=groq')).to.deep.equal(['3']);
    expect(found('text=OSLO%20weather')).to.deep.equal(['1', '2', '3', '4']);
    expect(found('text=too%20long')).to.deep.equal(['3']);
    expect(found('text=gpt-x&state=live')).to.deep.equal([]);
    expect(found('state=nonsense')).to.deep.equal(['1', '2', '3', '4']);
  });
});
