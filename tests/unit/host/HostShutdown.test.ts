import { expect } from 'chai';
import { HostShutdown } from '../../../imports/host/HostShutdown';
import { deferred } from '../../support/deferred';
import { VirtualTime } from '../../support/VirtualTime';

describe('HostShutdown', () => {
  let time: VirtualTime;
  beforeEach(() => {
    time = VirtualTime.start();
  });
  afterEach(() => time.stop());

  it('hands the runs over as soon as they may be, then waits for the requests, and for what these have used', async () => {
    const log: string[] = [];
    const [drained, requestsEnded, usageStored] = [deferred(), deferred(), deferred()];
    const shutdown = new HostShutdown({
      api: {
        startLeaving: () => void log.push('leaving'),
        close: () => {
          log.push('no new requests');
          return requestsEnded.promise;
        },
      },
      module: {
        drain: () => drained.promise,
        close: async () => void log.push('runs handed over'),
        usageSettled: () => {
          log.push('storing usage');
          return usageStored.promise;
        },
      },
      noticeMs: 5_000,
      graceMs: 20_000,
    });
    const handedOver = shutdown.handOver().then(() => log.push('over'));
    await time.pass(4_999);
    expect(log).to.deep.equal(['leaving']);
    await time.pass(1);
    expect(log).to.deep.equal(['leaving', 'no new requests']);
    drained.resolve();
    await time.pass(0);
    expect(log.slice(2)).to.deep.equal(['runs handed over']);
    requestsEnded.resolve();
    await time.pass(0);
    expect(log.slice(3)).to.deep.equal(['storing usage']);
    usageStored.resolve();
    await handedOver;
    expect(log.slice(4)).to.deep.equal(['over']);
    expect(time.timers).to.deep.equal([]);
  });
});
