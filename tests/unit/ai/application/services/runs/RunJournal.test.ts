/** The barrier before a tool or a model call: what waits for it together, and what must verify the lease anew. */
import { expect } from 'chai';
import sinon from 'sinon';
import { RunJournal } from '../../../../../../imports/business/ai/application/services/runs/durable/RunJournal';
import { initialProgress } from '../../../../../../imports/business/ai/domain/entities/initialProgress';
import type { RunStore } from '../../../../../../imports/business/ai/domain/interfaces/RunStore';
import { deferred } from '../../../../../support/deferred';

/** Milliseconds. */
const LEASE = 1_000;

function setUp(saveRun: () => Promise<boolean>) {
  let writes = 0;
  let isCurrent = true;
  const store: Pick<RunStore, 'saveRun'> = {
    saveRun: () => {
      writes += 1;
      return saveRun();
    },
  };
  const { transcript, response, ...progress } = initialProgress({ input: [], createdAt: 0 }, 'running');
  const journal = new RunJournal(
    {
      runs: {
        store: store as RunStore,
        leaseMs: LEASE,
        isLeaseCurrent: () => isCurrent,
        onLeaseLost: () => undefined,
        stateStored: () => undefined,
      },
      lease: { executionId: 'run', userId: 'ann', owner: 'me', fence: 1 },
      startedAt: 0,
      metadata: { providerId: 'p', title: '', createdAt: 0 },
    },
    {
      progress: () => ({ ...progress }),
      transcript,
      response,
      getCall: (id) => {
        throw new RangeError(id);
      },
      onBroken: () => undefined,
      onStoreOutage: () => undefined,
    },
    [],
  );
  const loseHeartbeat = (): void => {
    isCurrent = false;
  };
  return { journal, writes: () => writes, loseHeartbeat };
}

describe('The barrier of a run’s journal', () => {
  it('is one write for all that wait for it, and opens for none of them before', async () => {
    const written = deferred<boolean>();
    const { journal, writes } = setUp(() => written.promise);
    const passed: string[] = [];
    journal.runChanged();
    const waiting = ['a', 'b'].map((name) => journal.flushAndVerifyLease().then(() => passed.push(name)));
    await new Promise((resolve) => setImmediate(resolve));
    expect([writes(), passed]).to.deep.equal([1, []]);
    written.resolve(true);
    await Promise.all(waiting);
    expect([writes(), passed]).to.deep.equal([1, ['a', 'b']]);
  });

  it('closes again: without a recent heartbeat, whoever comes later verifies the lease', async () => {
    const { journal, writes, loseHeartbeat } = setUp(() => Promise.resolve(true));
    await journal.flushAndVerifyLease();
    expect(writes()).to.equal(0);
    loseHeartbeat();
    await journal.flushAndVerifyLease();
    expect(writes()).to.equal(1);
  });

  it('verifies the lease again if the process was suspended for a lease while it did', async () => {
    let now = 0;
    const clock = sinon.stub(performance, 'now').callsFake(() => now);
    try {
      const durations = [LEASE, LEASE + 1, LEASE - 1];
      const { journal, writes, loseHeartbeat } = setUp(() => {
        now += durations[writes() - 1] ?? 0;
        return Promise.resolve(true);
      });
      loseHeartbeat();
      await journal.flushAndVerifyLease();
      expect(writes()).to.equal(durations.length);
    } finally {
      clock.restore();
    }
  });

  it('lets nobody pass once another process owns the run', async () => {
    const { journal } = setUp(() => Promise.resolve(false));
    journal.runChanged();
    const outcomes = await Promise.allSettled([journal.flushAndVerifyLease(), journal.flushAndVerifyLease()]);
    expect(outcomes.map(({ status }) => status)).to.deep.equal(['rejected', 'rejected']);
    const later = await Promise.allSettled([journal.flushAndVerifyLease()]);
    expect(later.map(({ status }) => status)).to.deep.equal(['rejected']);
  });
});
