import { getEventListeners } from 'node:events';
import { expect } from 'chai';
import { elapsedSince, sleep } from '../../../../../../imports/business/ai/application/services/shared/time';
import { failure } from '../../../../../support/failure';
import { VirtualTime } from '../../../../../support/VirtualTime';

describe('sleep', () => {
  let time: VirtualTime;
  beforeEach(() => {
    time = VirtualTime.start();
  });
  afterEach(() => time.stop());

  it('leaves neither a timer nor a listener behind, whether it ends or is aborted', async () => {
    const controller = new AbortController();
    const waited = sleep(1_000, controller.signal);
    expect(time.timers).to.have.length(1);
    await time.pass(1_000);
    await waited;
    expect([time.timers, getEventListeners(controller.signal, 'abort').length]).to.deep.equal([[], 0]);
    const aborted = failure(sleep(1_000, controller.signal));
    controller.abort(new Error('enough'));
    expect(await aborted).to.have.property('message', 'enough');
    expect([time.timers, getEventListeners(controller.signal, 'abort').length]).to.deep.equal([[], 0]);
    expect(await failure(sleep(1_000, controller.signal))).to.have.property('message', 'enough');
    expect(time.timers).to.deep.equal([]);
  });
});

describe('elapsedSince', () => {
  it('takes a clock that was set back for no time', () => {
    expect([elapsedSince(1_000, 3_500), elapsedSince(3_500, 1_000)]).to.deep.equal([2_500, 0]);
  });
});
