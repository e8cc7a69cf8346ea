import { expect } from 'chai';
import { lastDays } from '../../../../imports/ui/overview/days';

describe('lastDays', () => {
  it('names the days as the statistics do', () => {
    expect(lastDays(Date.UTC(2026, 2, 1, 23, 59), 3)).to.deep.equal(['2026-02-27', '2026-02-28', '2026-03-01']);
  });
});
