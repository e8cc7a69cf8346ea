/** Users take turns in the queue, priorities order within what they may, and limits hold for all processes together. */
import { expect } from 'chai';
import sinon from 'sinon';
import { AgenticLoop } from '../../imports/business/ai/application/services/AgenticLoop';
import { RunQueue } from '../../imports/business/ai/application/services/RunQueue';
import type { QueuedRun } from '../../imports/business/ai/application/services/RunQueue';
import { QueueRunUseCase } from '../../imports/business/ai/application/usecases/QueueRunUseCase';
import { LLMInvalidRequestError, LLMPermissionError } from '../../imports/business/ai/domain/errors/LLMErrors';
import type { JobQueue } from '../../imports/business/ai/domain/interfaces/JobQueue';
import type { RunStore } from '../../imports/business/ai/domain/interfaces/RunStore';
import { openAgendaQueue } from '../../imports/business/ai/infrastructure/jobs/AgendaJobQueue';
import { LocalJobQueue } from '../../imports/business/ai/infrastructure/jobs/LocalJobQueue';
import { MeteorDatabase } from '../../imports/database/meteor/MeteorDatabase';
import { openMongoDatabase } from '../../imports/database/mongo/MongoDatabase';
import { JOB_STATES } from '../../imports/business/ai/infrastructure/persistence/jobs/DocumentJobStates';
import type { JobStateDocument } from '../../imports/business/ai/infrastructure/persistence/jobs/DocumentJobStates';
import { DocumentQueuedRuns } from '../../imports/business/ai/infrastructure/persistence/runs/DocumentQueuedRuns';
import { openRunStore } from '../../imports/business/ai/infrastructure/persistence/runs/DocumentRunStore';
import { MemoryRunStore } from '../../imports/business/ai/infrastructure/persistence/runs/MemoryRunStore';
import { RUNS } from '../../imports/business/ai/infrastructure/persistence/runs/runDocuments';
import { ToolRegistry } from '../../imports/business/ai/infrastructure/tools/ToolRegistry';
import { resetMeteor } from '../stubs/server/registry';
import { callingProvider } from '../support/callingProvider';
import { describeInSoak } from '../support/soak';
import { failure } from '../support/failure';
import { METEOR_PACKAGES } from '../meteor/meteorPackages';
import { QUICK_RUN_STORES } from '../support/runStores';
import type { TestRunStore } from '../support/runStores';
import { startTestMongo } from '../support/startTestMongo';
import { until } from '../support/until';

interface Worker {
  readonly loop: AgenticLoop;
  readonly queue: RunQueue;
  /** Ids of the runs whose tools run here, oldest first, with what ends the tool. */
  readonly running: Map<string, () => void>;
  close(): Promise<void>;
}

/** @param started receives the ids of the runs in the order in which their tools start */
function createWorker(store: RunStore, jobs: JobQueue, started: string[], concurrencyPerUser?: number): Worker {
  const running = new Map<string, () => void>();
  const tools = new ToolRegistry()
    .register({
      name: 'work',
      idempotent: true,
      execute: (_args: unknown, { executionId }) =>
        new Promise<void>((resolve) => {
          started.push(executionId);
          running.set(executionId, () => {
            running.delete(executionId);
            resolve();
          });
        }),
    })
    .register({ name: 'ask', needsApproval: true, execute: () => 'asked' });
  const loop = new AgenticLoop({
    provider: callingProvider('work', 'ask'),
    toolExecutor: tools,
    runStore: store,
    leaseTimes: { lease: 5_000, heartbeat: 20 },
  });
  const queue = new RunQueue({ loop, store, jobs, tools, concurrencyPerUser });
  const close = async (): Promise<void> => {
    await queue.stop();
    await loop.close();
  };
  return { loop, queue, running, close };
}

const add = async ({ queue }: Worker, userId: string, ids: readonly string[], queued?: QueuedRun): Promise<void> => {
  for (const executionId of ids)
    await queue.add(userId, { executionId, model: 'm', input: 'Go.', tools: ['work'] }, queued);
};
const named = (name: string, count: number): readonly string[] =>
  Array.from({ length: count }, (_value, index) => `${name} ${index}`);

/** Lets tools end, the oldest first, until so many have started. */
async function progress(workers: readonly Worker[], started: readonly string[], count: number): Promise<void> {
  await until(() => {
    if (started.length >= count) return true;
    for (const { running } of workers) running.values().next().value?.();
    return false;
  });
}

for (const [name, open] of Object.entries(QUICK_RUN_STORES)) {
  describe(`the turns of users in the queue, in ${name}`, () => {
    let opened: TestRunStore;
    let started: string[];
    const workers: Worker[] = [];
    beforeEach(async () => {
      opened = await open();
      started = [];
    });
    afterEach(async () => {
      for (const worker of workers.splice(0)) await worker.close();
      await opened.close();
    });
    const worker = (concurrency: number, concurrencyPerUser?: number): Worker => {
      const jobs = new LocalJobQueue({ concurrency });
      const made = createWorker(opened.store, jobs, started, concurrencyPerUser);
      workers.push(made);
      return made;
    };

    it('come before the many runs that another user queued earlier', async () => {
      const one = worker(2);
      await add(one, 'ann', named('ann', 60));
      await add(one, 'bob', named('bob', 3));
      await one.queue.start();
      await progress([one], started, 8);
      expect(started.filter((id) => id.startsWith('bob'))).to.deep.equal(named('bob', 3));
      expect(started.indexOf('bob 2')).to.be.at.most(6);
    });

    it('follow the priority of their own runs, which does not count among users', async () => {
      const one = worker(1);
      await add(one, 'ann', ['ann low'], { priority: -1 });
      await add(one, 'ann', ['ann usual']);
      await add(one, 'ann', ['ann high'], { priority: 100 });
      await add(one, 'bob', ['bob usual']);
      await add(one, 'bob', ['bob later'], { dueAt: Date.now() + 3_600_000, priority: 100, globalPriority: 100 });
      await one.queue.start();
      await progress([one], started, 4);
      expect(started).to.deep.equal(['ann high', 'bob usual', 'ann usual', 'ann low']);
    });

    it('come after runs with a global priority, whoever has queued them', async () => {
      const one = worker(1);
      await add(one, 'ann', ['ann 0']);
      await add(one, 'bob', ['bob 0', 'bob 1'], { globalPriority: 1 });
      await one.queue.start();
      await progress([one], started, 3);
      expect(started).to.deep.equal(['bob 0', 'bob 1', 'ann 0']);
    });

    it('leave no more of a user at work than the limit, in all processes', async () => {
      const one = worker(4, 2);
      // An exclusive store has no other process.
      const other = opened.store.isExclusive ? one : worker(4, 2);
      await add(one, 'ann', named('ann', 5));
      for (const { queue } of new Set([one, other])) await queue.start();
      await until(() => started.length >= 2);
      // The worker's place is not lost to runs that are held back.
      await add(other, 'bob', ['bob 0']);
      await until(() => started.includes('bob 0'));
      expect(started.filter((id) => id.startsWith('ann'))).to.have.length(2);
      await progress([one, other], started, 6);
    });

    it('are over when the queue stops, also for runs that limits hold back', async () => {
      const one = worker(4, 1);
      await add(one, 'ann', named('ann', 3));
      await one.queue.start();
      await until(() => started.length === 1);
      await one.queue.stop();
      expect(started).to.deep.equal(['ann 0']);
      expect(await opened.store.queued(10)).to.have.length(2);
    });

    it('leave no more under a key at work than its limit', async () => {
      const one = worker(4);
      await add(one, 'ann', ['key 0', 'key 1'], { concurrencyKey: 'mail' });
      await add(one, 'bob', ['other user'], { concurrencyKey: 'mail' });
      await add(one, 'ann', ['no key']);
      await one.queue.start();
      await until(() => started.length === 3);
      expect([...started].sort()).to.deep.equal(['key 0', 'no key', 'other user']);
      one.running.get('key 0')?.();
      await until(() => started.includes('key 1'));
    });

    it('do not count a run that waits for a person', async () => {
      const one = worker(4, 1);
      await one.queue.add('ann', { executionId: 'asks', model: 'm', input: 'Go.', tools: ['ask'] });
      await one.queue.start();
      await until(async () => (await opened.store.load('asks'))?.calls[0]?.state === 'awaiting_approval');
      await add(one, 'ann', ['works']);
      await until(() => started.includes('works'));
    });
  });
}

describe('what is asked of the queue', () => {
  const request = { requestId: 'r-1', providerId: 'p', input: 'Go.', tools: [] };
  const useCase = (queueAdd: sinon.SinonSpy): QueueRunUseCase =>
    new QueueRunUseCase(
      {
        access: { decide: () => Promise.resolve({ allowed: true }) },
        runs: new MemoryRunStore(),
        providers: new Set(['p']),
      },
      { add: queueAdd },
    );

  it('has no global priority unless an administrator or the server asks', async () => {
    const queueAdd = sinon.fake.resolves('r');
    const queue: QueueRunUseCase['execute'] = (...given) => useCase(queueAdd).execute(...given);
    const options = { globalPriority: 1 };
    const refused = queue({ userId: 'ann', source: 'http' }, request, undefined, options);
    expect(await failure(refused)).to.be.instanceOf(LLMPermissionError);
    await queue({ userId: 'boss', source: 'http', isAdmin: true }, request, undefined, options);
    await queue({ userId: 'nightly', source: 'job' }, request, undefined, options);
    expect(queueAdd.args.map(([, , queued]) => (queued as QueuedRun).globalPriority)).to.deep.equal([1, 1]);
  });

  it('is refused outside of its bounds', async () => {
    const worker = createWorker(new MemoryRunStore(), new LocalJobQueue(), []);
    for (const queued of [
      { priority: 101 },
      { globalPriority: 0.5 },
      { concurrencyKey: '' },
      { concurrencyLimit: 2 },
      { concurrencyKey: 'k', concurrencyLimit: 0 },
    ])
      expect(await failure(add(worker, 'ann', ['r'], queued))).to.be.instanceOf(LLMInvalidRequestError);
    await worker.close();
  });

  it('is nothing while the job queue cannot be started', async () => {
    const jobs = new LocalJobQueue();
    sinon.stub(jobs, 'start').rejects(new Error('unreachable'));
    const worker = createWorker(new MemoryRunStore(), jobs, []);
    expect(await failure(worker.queue.start())).to.have.property('message', 'unreachable');
    expect(worker.queue.isRunning).to.equal(false);
    await worker.close();
  });

  it('is listed in the order of the turns', async () => {
    resetMeteor();
    const database = new MeteorDatabase(METEOR_PACKAGES);
    const worker = createWorker(await openRunStore(database), new LocalJobQueue(), []);
    await add(worker, 'ann', ['ann 0', 'ann 1']);
    await add(worker, 'ann', ['ann 2'], { priority: 1 });
    await add(worker, 'bob', ['bob 0']);
    await add(worker, 'cat', ['cat 0'], { globalPriority: 1 });
    const { runs } = await new DocumentQueuedRuns(database.collection(RUNS)).waiting(10);
    expect(runs.map(({ _id }) => _id)).to.deep.equal(['cat 0', 'ann 2', 'bob 0', 'ann 0', 'ann 1']);
    await worker.close();
    resetMeteor();
  });
});

describe('the lock under which processes choose queued runs', () => {
  it('takes the right to start the chosen run from a holder that was too slow', async () => {
    resetMeteor();
    const database = new MeteorDatabase(METEOR_PACKAGES);
    const store = await openRunStore(database);
    const worker = createWorker(store, new LocalJobQueue({ concurrency: 1 }), []);
    await add(worker, 'ann', ['ann 0'], { concurrencyKey: 'k' });
    const turn = { now: Date.now(), except: [], fullUsers: [], keys: [] };
    const chosen = await store.nextQueued(turn);
    const slow = await store.queueLock?.acquire('slow');
    expect(await slow?.choose(chosen!)).to.equal(true);
    expect(await store.queueLock?.acquire('other')).to.equal(undefined);
    await database.collection<JobStateDocument>(JOB_STATES).update({ _id: 'admission' }, { $set: { lockedUntil: 0 } });
    const other = await store.queueLock?.acquire('other');
    expect(other).not.to.equal(undefined);
    expect(await worker.loop.claims.startQueued('ann 0', chosen!.fence)).to.equal(undefined);
    expect(await slow?.choose(chosen!)).to.equal(false);
    await slow?.release();
    expect(await store.queueLock?.acquire('third')).to.equal(undefined);
    await other?.release();
    expect(await store.queueLock?.acquire('third')).not.to.equal(undefined);
    expect((await store.nextQueued(turn))?.fence).to.equal(chosen!.fence + 1);
    await worker.close();
    resetMeteor();
  });
});

describeInSoak('the turns of users in the queue, by Agenda', () => {
  it('let 3 runs of one user start among the first of 200 of another, within limits of two processes', async () => {
    const mongo = await startTestMongo();
    const started: string[] = [];
    const databases = await Promise.all([openMongoDatabase(mongo.url), openMongoDatabase(mongo.url)]);
    const workers: Worker[] = [];
    for (const database of databases) {
      const jobs = await openAgendaQueue({ url: mongo.url, concurrency: 4, pollEvery: 20 });
      workers.push(createWorker(await openRunStore(database), jobs, started, 3));
    }
    const [one] = workers as [Worker, Worker];
    await add(one, 'ann', named('ann', 200));
    await add(one, 'bob', named('bob', 3));
    await Promise.all(workers.map(({ queue }) => queue.start()));
    let most = 0;
    await until(() => {
      const running = workers.flatMap((worker) => [...worker.running.keys()]).filter((id) => id.startsWith('ann'));
      most = Math.max(most, running.length);
      for (const { running: own } of workers) own.values().next().value?.();
      return started.length >= 30;
    });
    expect(started.slice(0, 12).filter((id) => id.startsWith('bob'))).to.have.length(3);
    expect(most).to.be.at.most(3);
    for (const worker of workers) await worker.close();
    for (const database of databases) await database.close();
    await mongo.stop();
  });
});
