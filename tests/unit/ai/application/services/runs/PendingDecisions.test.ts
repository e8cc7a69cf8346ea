/** Decisions that calls wait for, none of which outlives the run. */
import { DueTimes } from '../../../../../../imports/business/ai/application/services/shared/DueTimes';
import { expect } from 'chai';
import { useFakeTimers } from 'sinon';
import type { SinonFakeTimers } from 'sinon';
import { PendingDecisions } from '../../../../../../imports/business/ai/application/services/runs/PendingDecisions';
import { countTimers } from '../../../../../support/countTimers';

describe('PendingDecisions', () => {
  let clock: SinonFakeTimers;
  beforeEach(() => (clock = useFakeTimers()));
  afterEach(() => clock.restore());

  it('takes the first decision, and rejects when none arrives in time', async () => {
    const decisions = new PendingDecisions(new DueTimes());
    const [approved, expired] = [decisions.awaitApproval('a', 1_000), decisions.awaitReview('b', 1_000)];
    expect(decisions.decide('a', { approved: true })).to.equal(true);
    expect(decisions.decide('a', { approved: true })).to.equal(false);
    await clock.tickAsync(1_000);
    expect(await approved).to.deep.equal({ approved: true });
    expect(await expired).to.include({ approved: false });
    expect(countTimers(clock)).to.equal(0);
  });

  it('leaves no timer behind once closed, even for decisions awaited afterwards', () => {
    const decisions = new PendingDecisions(new DueTimes());
    void decisions.awaitApproval('a', 1_000);
    void decisions.awaitReview('b', 1_000);
    expect(countTimers(clock)).to.equal(1);
    decisions.close();
    void decisions.awaitApproval('c', 1_000);
    void decisions.awaitReview('d', 1_000);
    expect(countTimers(clock)).to.equal(0);
    for (const id of ['a', 'b', 'c', 'd']) expect(decisions.decide(id, { approved: true })).to.equal(false);
  });
});
