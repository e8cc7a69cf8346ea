import { expect } from 'chai';
import { fromLocalTime, toLocalTime } from '../../../../../imports/ui/components/list/localTime';

describe('the times of filter fields', () => {
  it('survive being shown and read, to the minute', () => {
    const at = String(Date.UTC(2026, 10, 22, 20, 33));
    expect(toLocalTime(at)).to.match(/^2026-11-2\dT\d\d:\d\d$/);
    expect(fromLocalTime(toLocalTime(at))).to.equal(at);
  });

  it('are empty for what is no time', () => {
    expect([toLocalTime(''), toLocalTime('soon'), toLocalTime('9e20')]).to.deep.equal(['', '', '']);
    expect([fromLocalTime(''), fromLocalTime('soon')]).to.deep.equal(['', '']);
  });
});
