import { expect } from 'chai';
import { HttpResource } from '../../../../../imports/ui/data/http/HttpResource';
import type { EventFeed, EventFeedListener } from '../../../../../imports/ui/data/http/EventFeed';
import { deferred } from '../../../../support/deferred';
import type { Deferred } from '../../../../support/deferred';
import { VirtualTime } from '../../../../support/VirtualTime';

describe('HttpResource', () => {
  let time: VirtualTime;
  beforeEach(() => {
    time = VirtualTime.start();
  });
  afterEach(() => time.stop());

  it('loads once more after reloads that were asked for during a load, and shows the newest', async () => {
    const loads: Deferred<string>[] = [];
    const listeners = new Set<EventFeedListener>();
    const feed = {
      subscribe: (listener: EventFeedListener) => {
        listeners.add(listener);
        listener.onOpen();
        return () => void listeners.delete(listener);
      },
    } as EventFeed;
    const resource = new HttpResource<string>({
      feed,
      load: () => {
        const load = deferred<string>();
        loads.push(load);
        return load.promise;
      },
      reduce: (value) => value,
      needsReload: () => false,
      reloadIntervalMs: 100,
    });
    const unsubscribe = resource.subscribe(() => undefined);
    resource.reload();
    resource.reload();
    expect(loads).to.have.length(1);
    loads[0]?.resolve('before');
    await time.pass(99);
    expect(resource.get()).to.deep.equal({ state: 'ready', value: 'before' });
    expect(loads).to.have.length(1);
    await time.pass(1);
    expect(loads).to.have.length(2);
    loads[1]?.resolve('after');
    await time.pass(100);
    expect(resource.get()).to.deep.equal({ state: 'ready', value: 'after' });
    expect(loads).to.have.length(2);
    unsubscribe();
    expect([listeners.size, time.timers]).to.deep.equal([0, []]);
  });
});
