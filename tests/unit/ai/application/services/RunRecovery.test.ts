/** When the owner of a run is gone, by what one process has seen of its heartbeats. */
import { expect } from 'chai';
import { useFakeTimers } from 'sinon';
import type { SinonFakeTimers } from 'sinon';
import { RunRecovery } from '../../../../../imports/business/ai/application/services/RunRecovery';
import { StoreUnavailableError } from '../../../../../imports/business/ai/domain/errors/LLMErrors';
import type { RunStore } from '../../../../../imports/business/ai/domain/interfaces/RunStore';
import { RecordingLogger } from '../../../../support/RecordingLogger';

/** Milliseconds. */
const LEASE = 15_000;

describe('the recovery of runs', () => {
  let clock: SinonFakeTimers;
  let isOut: boolean;
  let beats: number;
  let recovered: string[];
  let scans: number;
  let present: string[];
  let recovery: RunRecovery;
  let owner: string;
  let logger: RecordingLogger;

  beforeEach(async () => {
    clock = useFakeTimers();
    isOut = false;
    beats = 1;
    recovered = [];
    owner = 'other';
    logger = new RecordingLogger();
    scans = 0;
    present = ['other'];
    const whenReachable = <T>(value: T): Promise<T> =>
      isOut ? Promise.reject(new StoreUnavailableError('away')) : Promise.resolve(value);
    const store: Pick<RunStore, 'isExclusive' | 'leased' | 'heartbeats' | 'commands'> = {
      isExclusive: false,
      leased: (_limit, except = []) => {
        scans += 1;
        return whenReachable(
          except.includes(owner) ? [] : [{ executionId: 'run', userId: 'ann', owner, fence: 1, takeovers: 0 }],
        );
      },
      heartbeats: () => whenReachable(new Map(present.map((each) => [each, beats]))),
      commands: () => whenReachable([]),
    };
    recovery = new RunRecovery({
      store: store as RunStore,
      loop: {
        leasedWork: { ownerId: 'other work' },
        local: { size: 0, has: () => false, isWorking: () => false, isSuspected: () => false },
        claims: {
          ownerId: 'me',
          losses: 0,
          toolsLackedBy: () => [],
          toolWaits: undefined,
          leave: () => Promise.resolve(),
          recover: () => Promise.reject(new Error('Nothing is on trial.')),
          recoverAll: (steps) =>
            steps.map(({ lease }) => {
              recovered.push(lease.executionId);
              return Promise.resolve(undefined);
            }),
        },
        cancel: () => Promise.reject(new Error('Nothing cancels the run.')),
      },
      lease: LEASE,
      logger,
    });
    await recovery.start();
  });
  afterEach(() => {
    recovery.stop();
    clock.restore();
  });

  it('takes a run over when its owner has written no heartbeat for a lease', async () => {
    await clock.tickAsync(LEASE - 1);
    expect(recovered).to.deep.equal([]);
    await clock.tickAsync(LEASE);
    expect(recovered).to.include('run');
  });

  it('does not count an outage of the store, in which nobody could write one', async () => {
    isOut = true;
    await clock.tickAsync(LEASE * 8);
    isOut = false;
    await clock.tickAsync(LEASE * 0.75);
    beats += 1;
    await clock.tickAsync(LEASE / 2);
    expect(recovered).to.deep.equal([]);
  });

  it('gives owners most of a lease to come back after an outage that was shorter than one', async () => {
    await clock.tickAsync(LEASE / 3 - 1);
    beats += 1;
    await clock.tickAsync(1);
    isOut = true;
    await clock.tickAsync(LEASE - 1_000);
    isOut = false;
    await clock.tickAsync(LEASE / 2);
    beats += 1;
    await clock.tickAsync(LEASE / 2);
    expect(recovered).to.deep.equal([]);
  });

  it('takes a run over whose owner does not come back after an outage', async () => {
    isOut = true;
    await clock.tickAsync(LEASE * 8);
    isOut = false;
    await clock.tickAsync(LEASE * 2);
    expect(recovered).to.include('run');
  });

  it('takes a run over that is its own and that it does not work on, and says so', async () => {
    // At the start, it was another process's.
    await clock.tickAsync(LEASE / 3);
    owner = 'me';
    await clock.tickAsync(60_000 + LEASE);
    expect(recovered).to.include('run');
    expect(logger.errors.join()).to.include('"run" was to be executed by this process');
  });

  it('reads the runs of others between two scans only if one of these has left', async () => {
    const counts = [scans];
    for (const owners of [['other'], [], []]) {
      present = owners;
      await clock.tickAsync(LEASE / 15);
      counts.push(scans);
    }
    expect(counts).to.deep.equal([1, 1, 2, 2]);
  });
});

describe('RunRecovery: suspects', () => {
  let clock: SinonFakeTimers;

  beforeEach(() => {
    clock = useFakeTimers();
  });
  afterEach(() => clock.restore());

  it('are tried as soon as those before them have made progress, and are looked at once', async () => {
    let scans = 0;
    const suspected = new Set(['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h']);
    const local = new Set<string>();
    const tried: string[][] = [];
    const store: Pick<RunStore, 'isExclusive' | 'leased' | 'heartbeats' | 'commands'> = {
      isExclusive: true,
      leased: () => {
        scans += 1;
        return Promise.resolve(
          [...suspected].map((executionId) => {
            return { executionId, userId: 'ann', owner: 'lost', fence: 1, takeovers: 2 };
          }),
        );
      },
      heartbeats: () => Promise.resolve(new Map()),
      commands: () => Promise.resolve([]),
    };
    const recovery = new RunRecovery({
      store: store as RunStore,
      loop: {
        leasedWork: { ownerId: 'other work' },
        local: {
          size: 0,
          has: (executionId) => local.has(executionId),
          isWorking: () => false,
          isSuspected: (executionId) => suspected.has(executionId),
        },
        claims: {
          ownerId: 'me',
          losses: 0,
          toolsLackedBy: () => [],
          toolWaits: undefined,
          leave: () => Promise.resolve(),
          recover: () => Promise.reject(new Error('None is parked.')),
          recoverAll: (steps) => {
            const group = steps.map(({ lease }) => lease.executionId);
            tried.push(group);
            for (const executionId of group) local.add(executionId);
            return group.map(() => Promise.resolve(undefined));
          },
        },
        cancel: () => Promise.reject(new Error('Nothing cancels the run.')),
      },
      lease: LEASE,
      logger: new RecordingLogger(),
    });
    await recovery.start();
    await clock.tickAsync(1_000);
    suspected.delete('a');
    await clock.tickAsync(1_000);
    expect(tried, 'one of a group says nothing of the other').to.deep.equal([['a', 'b']]);
    suspected.delete('b');
    await clock.tickAsync(20);
    expect(tried).to.deep.equal([
      ['a', 'b'],
      ['c', 'd', 'e', 'f', 'g', 'h'],
    ]);
    suspected.clear();
    await clock.tickAsync(1_000);
    expect(scans, 'the first one, and one after each group').to.equal(3);
    recovery.stop();
  });
});
