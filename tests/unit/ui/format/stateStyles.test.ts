import { expect } from 'chai';
import { runStyle } from '../../../../imports/ui/format/stateStyles';

describe('the badge of a run', () => {
  it('says what the run waits for, until the run has ended', () => {
    expect(runStyle('waiting', 'approval').label).to.contain('approval');
    expect(runStyle('waiting', undefined).label).to.equal('Waiting');
    expect(runStyle('cancelled', 'approval').label).to.equal('Cancelled');
    expect(runStyle('completed', 'external').label).to.equal('Completed');
  });
});
