/** The barrier before a tool or a model call: what waits for it together, and what must verify the lease anew. */
import { expect } from 'chai';
import sinon from 'sinon';
import { LeaseLostError } from '../../../../../../imports/business/ai/domain/errors/LeaseLostError';
import { RunJournal } from '../../../../../../imports/business/ai/application/services/runs/durable/RunJournal';
import { initialProgress } from '../../../../../../imports/business/ai/domain/entities/initialProgress';
import { StoreUnavailableError } from '../../../../../../imports/business/ai/domain/errors/LLMErrors';
import { MemoryRunStore } from '../../../../../../imports/business/ai/infrastructure/persistence/runs/MemoryRunStore';
import type { RunStore } from '../../../../../../imports/business/ai/domain/interfaces/RunStore';
import type { RunRequest } from '../../../../../../imports/business/ai/domain/types/RunRecords';
import { deferred } from '../../../../../support/deferred';
import { failure } from '../../../../../support/failure';

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
        clearTakeovers: () => Promise.resolve(),
        stateStored: () => undefined,
      },
      lease: { executionId: 'run', userId: 'ann', owner: 'me', fence: 1 },
      storedItems: 0,
      startedAt: 0,
      metadata: { providerId: 'p', title: '', createdAt: 0 },
    },
    {
      progress: () => ({ ...progress }),
      transcript,
      response,
      compaction: undefined,
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

describe('A run’s journal, in an outage of the store', () => {
  /** A journal on a store that fails as the test says, and what its owner learns. */
  async function setUpOutage() {
    const memory = new MemoryRunStore();
    const plan = { input: [], options: {}, limits: {}, tools: [] } as unknown as RunRequest['plan'];
    const request: RunRequest = {
      executionId: 'run',
      userId: 'ann',
      requestId: 'run',
      argumentsHash: '',
      source: 'job',
      title: '',
      providerId: 'p',
      createdAt: 0,
      input: [],
      plan,
    };
    const lease = await memory.create(request, 'running', 'me');
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
    const { transcript, response, ...progress } = initialProgress({ input: [], createdAt: 0 }, 'running');
    const outages: boolean[] = [];
    const broken: unknown[] = [];
    const journal = new RunJournal(
      {
        runs: {
          store,
          leaseMs: LEASE,
          isLeaseCurrent: () => true,
          onLeaseLost: () => undefined,
          clearTakeovers: () => Promise.resolve(),
          stateStored: () => undefined,
        },
        lease,
        storedItems: 0,
        startedAt: 0,
        metadata: { providerId: 'p', title: '', createdAt: 0 },
      },
      {
        progress: () => ({ ...progress }),
        transcript,
        response,
        compaction: undefined,
        getCall: (id) => {
          throw new RangeError(id);
        },
        onBroken: (error) => broken.push(error),
        onStoreOutage: (isOut) => outages.push(isOut),
      },
      [],
    );
    return { journal, memory, lease, failures, outages, broken };
  }

  it('waits longer than a lease, and then writes', async () => {
    const { journal, memory, failures, outages, broken } = await setUpOutage();
    const clock = sinon.useFakeTimers();
    try {
      failures.push({ method: 'saveRun', isApplied: false });
      for (let count = 0; count < 30; count += 1) failures.push({ method: 'claim', isApplied: false });
      journal.runChanged();
      const flushed = journal.flush();
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
    const { journal, memory, lease, failures } = await setUpOutage();
    failures.push({ method: 'saveRun', isApplied: false });
    journal.runChanged();
    await journal.flush();
    expect((await memory.load('run'))?.run).to.include({ owner: 'me', fence: lease.fence + 1 });
    expect(await memory.saveRun(lease, { state: 'waiting' })).to.equal(false);
  });

  it('recognizes a claim of its own whose answer was lost', async () => {
    const { journal, memory, failures, broken } = await setUpOutage();
    failures.push({ method: 'saveRun', isApplied: true }, { method: 'claim', isApplied: true });
    journal.runChanged();
    await journal.flush();
    expect(broken).to.deep.equal([]);
    expect((await memory.load('run'))?.run.owner).to.equal('me');
  });

  it('recognizes the end of the run whose answer was lost', async () => {
    const { journal, memory, failures, broken } = await setUpOutage();
    failures.push({ method: 'saveRun', isApplied: true });
    await journal.finish({ endedAt: 1, error: { code: 'aborted', message: 'Over.' } });
    expect(broken).to.deep.equal([]);
    expect((await memory.load('run'))?.run.endedAt).to.equal(1);
  });

  it('gives the run up if another process has claimed it meanwhile', async () => {
    const { journal, memory, lease, failures, broken } = await setUpOutage();
    failures.push({ method: 'saveRun', isApplied: false });
    journal.runChanged();
    const flushed = journal.flush();
    await memory.claim(lease, 'another', 'orphaned');
    expect(await failure(flushed)).to.be.instanceOf(LeaseLostError);
    expect(broken).to.have.length(1);
  });
});
