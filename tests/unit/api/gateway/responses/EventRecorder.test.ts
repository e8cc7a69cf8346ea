import { getEventListeners } from 'node:events';
import { expect } from 'chai';
import { EventRecorder } from '../../../../../imports/api/gateway/responses/EventRecorder';
import type { ResponseEventStore } from '../../../../../imports/business/ai/domain/interfaces/ResponseEventStore';
import { failure } from '../../../../support/failure';
import { VirtualTime } from '../../../../support/VirtualTime';

describe('EventRecorder', () => {
  let time: VirtualTime;
  beforeEach(() => {
    time = VirtualTime.start();
  });
  afterEach(() => time.stop());

  it('leaves no listener at the signal of a reader, however many events it waits for', async () => {
    const recorder = new EventRecorder(
      { userId: 'ann', id: 'resp_1' },
      {
        events: { append: () => Promise.resolve(true) } as Partial<ResponseEventStore> as ResponseEventStore,
        owner: 'me',
        onError: () => undefined,
      },
    );
    const controller = new AbortController();
    const listeners = (): number => getEventListeners(controller.signal, 'abort').length;
    for (let number = 0; number < 3; number += 1) {
      const changed = recorder.changed(number - 1, controller.signal);
      expect(listeners()).to.equal(1);
      recorder.write([`event: x\ndata: {"sequence_number":${number}}\n\n`]);
      await time.passUntil(() => recorder.after(number - 1).length > 0);
      await changed;
      expect(listeners()).to.equal(0);
    }
    const aborted = failure(recorder.changed(2, controller.signal));
    controller.abort(new Error('left'));
    expect(await aborted).to.have.property('message', 'left');
    expect(listeners()).to.equal(0);
    await recorder.close();
  });
});
