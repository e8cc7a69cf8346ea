import { expect } from 'chai';
import { LeaseHeartbeat } from '../../../../../../../imports/business/ai/application/services/runs/durable/LeaseHeartbeat';
import { MemoryRunStore } from '../../../../../../../imports/business/ai/infrastructure/persistence/runs/MemoryRunStore';
import { deferred } from '../../../../../../support/deferred';
import { RecordingLogger } from '../../../../../../support/RecordingLogger';
import { VirtualTime } from '../../../../../../support/VirtualTime';

const LEASE = 15_000;

class SlowStore extends MemoryRunStore {
  override readonly isExclusive = false as true;
  readonly written = deferred();

  override heartbeat(): Promise<void> {
    return this.written.promise;
  }
}

describe('LeaseHeartbeat', () => {
  let time: VirtualTime;
  beforeEach(() => {
    time = VirtualTime.start();
  });
  afterEach(() => time.stop());

  it('counts a lease from the beginning of its renewal, after which others count it', async () => {
    const store = new SlowStore();
    const handler = {
      size: 0,
      heartbeat: () => undefined,
      apply: () => undefined,
      checkLeases: () => Promise.resolve(),
    };
    const heartbeat = new LeaseHeartbeat(store, handler, { lease: LEASE, heartbeat: 1_000 }, new RecordingLogger());
    const started = heartbeat.start();
    await time.pass(LEASE - 1);
    store.written.resolve();
    await started;
    expect(heartbeat.isLeaseCurrent()).to.equal(true);
    await time.pass(1);
    expect(heartbeat.isLeaseCurrent()).to.equal(false);
    await heartbeat.release();
  });
});
