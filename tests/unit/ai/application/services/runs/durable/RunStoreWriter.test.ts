/** The barrier before a tool or a model call: what waits for it together, and what must verify the lease anew. */
import { expect } from 'chai';
import sinon from 'sinon';
import { LeaseLostError } from '../../../../../../../imports/business/ai/domain/errors/LeaseLostError';
import { StoreUnavailableError } from '../../../../../../../imports/business/ai/domain/errors/LLMErrors';
import { MemoryRunStore } from '../../../../../../../imports/business/ai/infrastructure/persistence/runs/MemoryRunStore';
import type { RunStore } from '../../../../../../../imports/business/ai/domain/interfaces/RunStore';
import { deferred } from '../../../../../../support/deferred';
import { failure } from '../../../../../../support/failure';
import { WRITTEN_REQUEST, writtenRun } from '../../../../../../support/writtenRun';

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
  const lease = { executionId: 'run', userId: 'ann', owner: 'me', fence: 1 };
  const { writer, change } = writtenRun(store as RunStore, lease, { isLeaseCurrent: () => isCurrent });
  const loseHeartbeat = (): void => {
    isCurrent = false;
  };
  return { writer, change, writes: () => writes, loseHeartbeat };
}

describe('The barrier of a run’s writer', () => {
  it('is one write for all that wait for it, and opens for none of them before', async () => {
    const written = deferred<boolean>();
    const { writer, change, writes } = setUp(() => written.promise);
    const passed: string[] = [];
    change({ iterations: 1 });
    const waiting = ['a', 'b'].map((name) => writer.flushAndVerifyLease().then(() => passed.push(name)));
    await new Promise((resolve) => setImmediate(resolve));
    expect([writes(), passed]).to.deep.equal([1, []]);
    written.resolve(true);
    await Promise.all(waiting);
    expect([writes(), passed]).to.deep.equal([1, ['a', 'b']]);
  });

  it('closes again: without a recent heartbeat, whoever comes later verifies the lease', async () => {
    const { writer, writes, loseHeartbeat } = setUp(() => Promise.resolve(true));
    await writer.flushAndVerifyLease();
    expect(writes()).to.equal(0);
    loseHeartbeat();
    await writer.flushAndVerifyLease();
    expect(writes()).to.equal(1);
  });

  it('verifies the lease again if the process was suspended for a lease while it did', async () => {
    let now = 0;
    const clock = sinon.stub(performance, 'now').callsFake(() => now);
    try {
      const durations = [LEASE, LEASE + 1, LEASE - 1];
      const { writer, writes, loseHeartbeat } = setUp(() => {
        now += durations[writes() - 1] ?? 0;
        return Promise.resolve(true);
      });
      loseHeartbeat();
      await writer.flushAndVerifyLease();
      expect(writes()).to.equal(durations.length);
    } finally {
      clock.restore();
    }
  });

  it('lets nobody pass once another process owns the run', async () => {
    const { writer, change } = setUp(() => Promise.resolve(false));
    change({ iterations: 1 });
    const outcomes = await Promise.allSettled([writer.flushAndVerifyLease(), writer.flushAndVerifyLease()]);
    expect(outcomes.map(({ status }) => status)).to.deep.equal(['rejected', 'rejected']);
    const later = await Promise.allSettled([writer.flushAndVerifyLease()]);
    expect(later.map(({ status }) => status)).to.deep.equal(['rejected']);
  });
});

describe('A run’s writer, in an outage of the store', () => {
  /** A writer on a store that fails as the test says, and what its owner learns. */
  async function setUpOutage() {
    const memory = new MemoryRunStore();
    const lease = await memory.create(WRITTEN_REQUEST, 'running', 'me');
    /** Before a method takes effect, after it did, or not at all. */
    const failures: { method: string; isApplied: boolean }[] = [];
    const store = new Proxy<RunStore>(memory, {
      get(target, name, receiver) {
        const method = Reflect.get(target, name, receiver) as (...args: unknown[]) => Promise<unknown>;
        if (typeof method !== 'function') return method;
        return async (...args: unknown[]) => {
          const failure = failures[0]?.method === name ? failures.shift() : undefined;
          if (failure?.isApplied !== false) await Promise.resolve();
          if (failure === undefined) return method.apply(target, args);
          if (failure.isApplied) await method.apply(target, args);
          throw new StoreUnavailableError('away');
        };
      },
    });
    return { ...writtenRun(store, lease, { leaseMs: LEASE }), memory, lease, failures };
  }

  it('waits longer than a lease, and then writes', async () => {
    const { writer, change, memory, failures, outages, broken } = await setUpOutage();
    const clock = sinon.useFakeTimers();
    try {
      failures.push({ method: 'saveRun', isApplied: false });
      for (let count = 0; count < 30; count += 1) failures.push({ method: 'claim', isApplied: false });
      change({ iterations: 1 });
      const flushed = writer.flush();
      await clock.tickAsync(LEASE * 30);
      expect([outages, broken]).to.deep.equal([[true], []]);
      await clock.tickAsync(LEASE * 60);
      await flushed;
      expect([outages, broken]).to.deep.equal([[true, false], []]);
      expect((await memory.load('run'))?.run.state).to.equal('running');
    } finally {
      clock.restore();
    }
  });

  it('claims the run again, so that a write of before changes nothing', async () => {
    const { writer, change, memory, lease, failures } = await setUpOutage();
    failures.push({ method: 'saveRun', isApplied: false });
    change({ iterations: 1 });
    await writer.flush();
    expect((await memory.load('run'))?.run).to.include({ owner: 'me', fence: lease.fence + 1 });
    expect(await memory.saveRun(lease, { state: 'waiting' })).to.equal(false);
  });

  it('recognizes a claim of its own whose answer was lost', async () => {
    const { writer, change, memory, failures, broken } = await setUpOutage();
    failures.push({ method: 'saveRun', isApplied: true }, { method: 'claim', isApplied: true });
    change({ iterations: 1 });
    await writer.flush();
    expect(broken).to.deep.equal([]);
    expect((await memory.load('run'))?.run.owner).to.equal('me');
  });

  it('recognizes the end of the run whose answer was lost', async () => {
    const { writer, change, memory, failures, broken } = await setUpOutage();
    failures.push({ method: 'saveRun', isApplied: true });
    change({ status: 'cancelled' });
    await writer.finish({ endedAt: 1, error: { code: 'aborted', message: 'Over.' } });
    expect(broken).to.deep.equal([]);
    expect((await memory.load('run'))?.run.endedAt).to.equal(1);
  });

  it('gives the run up if another process has claimed it meanwhile', async () => {
    const { writer, change, memory, lease, failures, broken } = await setUpOutage();
    failures.push({ method: 'saveRun', isApplied: false });
    change({ iterations: 1 });
    const flushed = writer.flush();
    await memory.claim(lease, 'another', 'orphaned');
    expect(await failure(flushed)).to.be.instanceOf(LeaseLostError);
    expect(broken).to.have.length(1);
  });
});
