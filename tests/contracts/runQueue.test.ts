/** Queued runs on every store are started once, however many workers receive them and how often. */
import { expect } from 'chai';
import { AgenticLoop } from '../../imports/business/ai/application/services/AgenticLoop';
import { RunQueue } from '../../imports/business/ai/application/services/RunQueue';
import { RunRecovery } from '../../imports/business/ai/application/services/RunRecovery';
import { ConflictError, LLMAuthError } from '../../imports/business/ai/domain/errors/LLMErrors';
import type { JobQueue } from '../../imports/business/ai/domain/interfaces/JobQueue';
import type { RunStore } from '../../imports/business/ai/domain/interfaces/RunStore';
import { LocalJobQueue } from '../../imports/business/ai/infrastructure/jobs/LocalJobQueue';
import { ToolRegistry } from '../../imports/business/ai/infrastructure/tools/ToolRegistry';
import { failure } from '../support/failure';
import { RecordingLogger } from '../support/RecordingLogger';
import { callingProvider } from '../support/callingProvider';
import { RUN_STORES } from '../support/runStores';
import type { TestRunStore } from '../support/runStores';
import { VirtualTime } from '../support/VirtualTime';

for (const [name, open] of Object.entries(RUN_STORES)) {
  describe(`queued runs in ${name}`, () => {
    let time: VirtualTime;
    let opened: TestRunStore;
    let store: RunStore;
    let effects: string[];
    const workers: Worker[] = [];
    beforeEach(async () => {
      time = VirtualTime.start();
      opened = await open();
      store = opened.store;
      effects = [];
    });
    afterEach(async () => {
      try {
        for (const { queue, loop } of workers.splice(0)) {
          await queue.stop();
          await loop.close();
        }
        await opened.close();
      } finally {
        time.stop();
      }
    });

    interface Worker {
      readonly loop: AgenticLoop;
      readonly queue: RunQueue;
      readonly jobs: JobQueue;
      readonly logger: RecordingLogger;
    }
    const worker = (concurrency = 4, provider = callingProvider('note')): Worker => {
      const logger = new RecordingLogger();
      const tools = new ToolRegistry()
        .register({ name: 'note', execute: (_args: unknown, { executionId }) => void effects.push(executionId) })
        .register({ name: 'ask', needsApproval: true, execute: () => 'asked' });
      const loop = new AgenticLoop({
        provider,
        toolExecutor: tools,
        runStore: store,
        leaseTimes: { lease: 5_000, heartbeat: 100 },
        logger,
      });
      const jobs = new LocalJobQueue({ concurrency, retryDelay: 1, logger });
      const made = { loop, jobs, logger, queue: new RunQueue({ loop, store, jobs, tools, logger }) };
      workers.push(made);
      return made;
    };
    const options = (executionId: string, tool = 'note') => ({ executionId, model: 'm', input: 'Go.', tools: [tool] });

    it('are recorded at once, and executed when a worker is free', async () => {
      const { queue, loop } = worker();
      expect(await queue.add('ann', options('run-1'), { title: 'Later', source: 'job' })).to.equal('run-1');
      expect((await store.load('run-1'))?.run).to.include({
        state: 'queued',
        owner: '',
        title: 'Later',
        iterations: 0,
      });
      await queue.start();
      expect((await loop.waitForResult('run-1')).response.output_text).to.equal('Done.');
      expect(effects).to.deep.equal(['run-1']);
    });

    it('are started once when two workers receive them twice', async () => {
      const [one, other] = [worker(), worker()];
      const ids = Array.from({ length: 6 }, (_value, index) => `run-${index}`);
      for (const id of ids) await one.queue.add('ann', options(id));
      await Promise.all([one.queue.start(), other.queue.start()]);
      await Promise.all(ids.map((id) => other.jobs.add(id)));
      // What the other worker did is asked for at intervals.
      await time.passInSteps(100, Promise.all(ids.map((id) => one.loop.waitForResult(id))));
      await Promise.all(ids.map((id) => one.jobs.add(id)));
      expect([...effects].sort()).to.deep.equal([...ids].sort());
    });

    it('are found in the store when their job was lost', async () => {
      await worker().queue.add('ann', options('run-1'));
      const { queue, loop } = worker();
      await queue.start();
      await loop.waitForResult('run-1');
      expect(effects).to.deep.equal(['run-1']);
    });

    it('wait for their due time, also when another process queued them in memory', async () => {
      const dueAt = Date.now() + 150;
      await worker().queue.add('ann', options('run-1'), { dueAt });
      const { queue, loop } = worker();
      await queue.start();
      await time.pass(149);
      expect((await store.load('run-1'))?.run.state).to.equal('queued');
      await time.pass(1);
      await loop.waitForResult('run-1');
      expect((await store.load('run-1'))?.run.endedAt).to.be.at.least(dueAt);
    });

    it('are taken over at once from a process that is lost with its memory', async () => {
      // Elsewhere there is no other process.
      if (store.isExclusive) return;
      const [lost, other] = [worker(), worker()];
      const recovery = new RunRecovery({ loop: other.loop, store, lease: 5_000, watchIntervalMs: 20 });
      recovery.onOwnerLost(() => other.queue.onProcessLost());
      await lost.queue.start();
      await other.queue.start();
      await recovery.start();
      const dueAt = Date.now() + 200;
      await lost.queue.add('ann', options('run-1'), { dueAt });
      await lost.queue.stop();
      await lost.loop.close();
      const { response } = await time.passInSteps(20, other.loop.waitForResult('run-1'));
      expect(response.output_text).to.equal('Done.');
      expect(Date.now()).to.be.at.least(dueAt);
      recovery.stop();
    });

    it('free their worker while they wait for a person', async () => {
      const { queue, loop } = worker(1, callingProvider('ask', 'note'));
      await queue.add('ann', options('asks', 'ask'));
      await queue.add('ann', options('runs'));
      await queue.start();
      await loop.waitForResult('runs');
      await loop.local.whenStored('asks');
      const [call] = (await store.load('asks'))?.calls ?? [];
      expect(call?.state).to.equal('awaiting_approval');
      await loop.approve('asks', call?.id ?? '');
      await loop.waitForResult('asks');
    });

    it('that fail are not retried by the queue', async () => {
      let asked = 0;
      const provider = {
        ...callingProvider(),
        generate: () => Promise.reject(new LLMAuthError(`refused ${(asked += 1)}`)),
      };
      const { queue, loop, logger } = worker(4, provider);
      await queue.add('ann', options('run-1'));
      await queue.start();
      expect(await failure(loop.waitForResult('run-1'))).to.include({ code: 'auth-failed' });
      await queue.stop();
      await queue.start();
      expect(asked).to.equal(1);
      expect(logger.warnings).to.deep.equal([]);
    });

    it('can be cancelled before they are started', async () => {
      const { queue, loop } = worker();
      await queue.add('ann', options('run-1'));
      expect(await loop.cancel('run-1')).to.equal('cancelled');
      await queue.start();
      await queue.stop();
      expect(effects).to.deep.equal([]);
    });

    it('are refused under a request id that is taken', async () => {
      const { queue } = worker();
      await queue.add('ann', options('run-1'), { requestId: 'tonight' });
      expect(await failure(queue.add('ann', options('run-2'), { requestId: 'tonight' }))).to.be.instanceOf(
        ConflictError,
      );
    });

    it('are recorded even when the job queue cannot be reached', async () => {
      const { queue, jobs, logger, loop } = worker();
      const add = jobs.add.bind(jobs);
      jobs.add = () => Promise.reject(new Error('no queue'));
      await queue.add('ann', options('run-1'));
      expect(logger.warnings).to.have.length(1);
      jobs.add = add;
      await queue.start();
      await loop.waitForResult('run-1');
    });
  });
}
