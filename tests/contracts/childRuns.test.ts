/** Runs as tools: a call starts a run, and takes its result from it, whichever processes they are in. */
import { expect } from 'chai';
import { AgenticLoop } from '../../imports/business/ai/application/services/AgenticLoop';
import type { AgenticLoopOptions } from '../../imports/business/ai/application/services/AgenticLoop';
import { RunQueue } from '../../imports/business/ai/application/services/RunQueue';
import { RunRecovery } from '../../imports/business/ai/application/services/RunRecovery';
import { RunSlots } from '../../imports/business/ai/application/services/queue/RunSlots';
import { childId, MAX_RUN_DEPTH } from '../../imports/business/ai/application/services/shared/childId';
import { StoreUnavailableError } from '../../imports/business/ai/domain/errors/LLMErrors';
import { LocalJobQueue } from '../../imports/business/ai/infrastructure/jobs/LocalJobQueue';
import { runAsTool } from '../../imports/business/ai/infrastructure/tools/runAsTool';
import type { RunToolOptions } from '../../imports/business/ai/infrastructure/tools/runAsTool';
import { ToolRegistry } from '../../imports/business/ai/infrastructure/tools/ToolRegistry';
import { deferred } from '../support/deferred';
import { delegatingProvider } from '../support/delegatingProvider';
import { failure } from '../support/failure';
import { intercepting } from '../support/intercepting';
import { RUN_STORES } from '../support/runStores';
import type { TestRunStore } from '../support/runStores';
import { until } from '../support/until';
import { IS_SOAK } from '../support/soak';
import { VirtualTime } from '../support/VirtualTime';

const CHILD = childId('parent', 'call 0');
const HAND_OVER = { executionId: 'parent', model: 'm', input: 'Go.', tools: ['delegate'] };

/** @param subject an execution id, or what has one */
const idOf = (subject: unknown): unknown =>
  typeof subject === 'object' && subject !== null && 'executionId' in subject ? subject.executionId : subject;

const STORES = Object.entries(RUN_STORES).slice(0, IS_SOAK ? undefined : 2);

for (const [name, open] of STORES) {
  describe(`a run as a tool (${name})`, () => {
    let opened: TestRunStore;
    const ends: (() => unknown)[] = [];
    beforeEach(async () => {
      opened = await open();
    });
    afterEach(async () => {
      for (const end of ends.splice(0).reverse()) await end();
      await opened.close();
    });

    interface Process {
      readonly loop: AgenticLoop;
      readonly tools: ToolRegistry;
      /** Ids of the runs whose tool `work` runs here, with what ends it. */
      readonly working: Map<string, () => void>;
      readonly provider: ReturnType<typeof delegatingProvider>;
      /** The most runs that ever worked at the same time. */
      most: number;
    }
    function startProcess(
      tool: { readonly run?: RunToolOptions['run'] | undefined; readonly timeout?: number } = {},
      options: Partial<AgenticLoopOptions> = {},
      times = 1,
    ): Process {
      const working = new Map<string, () => void>();
      const tools = new ToolRegistry().register({
        name: 'work',
        idempotent: true,
        execute: (_args: unknown, { executionId }) =>
          new Promise<string>((resolve) => {
            working.set(executionId, () => {
              working.delete(executionId);
              resolve('worked');
            });
            made.most = Math.max(made.most, working.size);
          }),
      });
      const run = (): { input: string; tools: string[] } => ({ input: 'Do your part.', tools: ['work'] });
      tools.register(runAsTool({ name: 'delegate', ...('run' in tool ? {} : { run }), ...tool }));
      const provider = delegatingProvider({ delegate: times, work: 1 });
      const leaseTimes = { lease: 5_000, heartbeat: 20 };
      const loop = new AgenticLoop({ provider, toolExecutor: tools, runStore: opened.store, leaseTimes, ...options });
      ends.push(() => loop.close());
      const made: Process = { loop, tools, working, provider, most: 0 };
      return made;
    }
    const startQueue = async ({ loop, tools }: Process, concurrency: number): Promise<RunQueue> => {
      const jobs = new LocalJobQueue({ concurrency });
      const slots = new RunSlots({ loop, tools, limit: concurrency });
      const queue = new RunQueue({ loop, store: opened.store, jobs, tools, slots });
      await queue.start();
      ends.push(() => queue.stop());
      return queue;
    };
    const stateOf = async (executionId: string) => (await opened.store.load(executionId))?.run.state;

    it('returns the answer of a run of the same user', async () => {
      const { loop } = startProcess({ run: undefined });
      const starts: unknown[] = [];
      loop.on('run:started', ({ executionId, parentExecutionId, parentCallId }) =>
        starts.push([executionId, parentExecutionId, parentCallId]),
      );
      const { response } = await loop.execute('ann', HAND_OVER);
      expect(starts).to.deep.equal([
        ['parent', undefined, undefined],
        [CHILD, 'parent', 'call 0'],
      ]);
      expect(response.output_text).to.equal('done');
      const child = (await opened.store.load(CHILD))?.run;
      expect(child).to.include({
        userId: 'ann',
        state: 'completed',
        parentExecutionId: 'parent',
        parentCallId: 'call 0',
      });
      expect(child).to.include({ depth: 1 });
      expect(child).to.include({ title: 'part 0' });
      expect(await opened.store.childrenOf('parent')).to.deep.equal([
        { executionId: CHILD, isFinished: true, spent: { calls: 1, tokens: 15, money: 0 } },
      ]);
    });

    it('is told why the run has not completed', async () => {
      const { loop, working } = startProcess();
      const { done } = await loop.start('ann', HAND_OVER);
      await until(() => working.has(CHILD));
      await loop.cancel(CHILD);
      expect((await done).response.output_text).to.include('was cancelled');
    });

    it('is cancelled with the run that called it', async () => {
      const { loop, working } = startProcess();
      const { done } = await loop.start('ann', HAND_OVER);
      await until(async () => (await stateOf(CHILD)) === 'running');
      await loop.cancel('parent');
      await failure(done);
      expect(await stateOf(CHILD)).to.equal('cancelled');
      expect(working.size).to.be.lessThan(2);
    });

    /** The call of a run times out exactly when a method of the store is called for the run that it starts. */
    const timeOutAt = async (method: 'head' | 'create'): Promise<Process> => {
      const time = VirtualTime.start();
      ends.push(() => time.stop());
      let isOver = false;
      const runStore = intercepting(opened.store, method, async (proceed, [subject]) => {
        if (idOf(subject) === CHILD && !isOver) {
          isOver = true;
          await time.pass(100);
        }
        return proceed();
      });
      const process = startProcess({ timeout: 100 }, { runStore });
      const { response } = await process.loop.execute('ann', HAND_OVER);
      expect(response.output_text).to.include('timed out');
      return process;
    };

    it('is cancelled with its call', async () => {
      const time = VirtualTime.start();
      ends.push(() => time.stop());
      const { loop, working } = startProcess({ timeout: 100 });
      const { done } = await loop.start('ann', HAND_OVER);
      await until(() => working.has(CHILD));
      await time.pass(100);
      expect((await done).response.output_text).to.include('timed out');
      await until(async () => (await stateOf(CHILD)) === 'cancelled');
    });

    it('is cancelled with its call also if that times out while the run is recorded', async () => {
      await timeOutAt('create');
      await until(async () => (await stateOf(CHILD)) === 'cancelled');
    });

    it('is not started by a call that has timed out', async () => {
      const { provider } = await timeOutAt('head');
      expect(await stateOf(CHILD)).to.equal(undefined);
      expect(provider.calls).to.deep.equal(['parent', 'parent']);
    });

    it('is cancelled when the run that called it completes, if the store could not be reached before', async () => {
      // It reads no commands.
      const other = startProcess({}, { leaseTimes: { lease: 5_000, heartbeat: 60_000 } }).loop;
      const child = { executionId: CHILD, model: 'm', input: 'Do your part.', tools: ['work'] };
      const { done: childDone } = await other.start('ann', child, { parentExecutionId: 'parent', depth: 1 });
      const left = failure(childDone);
      const waits = deferred();
      const waiting = intercepting(opened.store, 'unfinishedAmong', (ask) => {
        waits.resolve();
        return ask();
      });
      let isOut = false;
      const runStore = intercepting(waiting, 'head', (read) => {
        if (!isOut) return read();
        isOut = false;
        return Promise.reject(new StoreUnavailableError('The store cannot be reached.'));
      });
      const { loop } = startProcess({}, { runStore });
      const { done } = await loop.start('ann', HAND_OVER);
      await waits.promise;
      isOut = true;
      await loop.submitToolResult('parent', 'call 0', { output: 'I did it.' });
      expect((await done).response.output_text).to.equal('I did it.');
      expect(isOut).to.equal(false);
      expect((await opened.store.commands(10)).map(({ id }) => id)).to.include(`${CHILD}:cancel`);
      await other.close();
      await left;
    });

    it('is cancelled with the run that called it once the store says which runs that has started', async () => {
      let refusals = 0;
      const runStore = intercepting(opened.store, 'childrenOf', (read) =>
        refusals++ === 0 ? Promise.reject(new Error('Broken.')) : read(),
      );
      const { loop, working } = startProcess({}, { runStore });
      const recovery = new RunRecovery({ loop, store: opened.store, lease: 100 });
      await recovery.start();
      ends.push(() => recovery.stop());
      const { done } = await loop.start('ann', HAND_OVER);
      await until(() => working.has(CHILD));
      await loop.cancel('parent');
      expect(await failure(done)).to.include({ code: 'aborted', message: 'The run was cancelled.' });
      expect(refusals).to.be.greaterThan(1);
      expect([await stateOf('parent'), await stateOf(CHILD)]).to.deep.equal(['cancelled', 'cancelled']);
    });

    for (const reason of ['unreadable', 'max-takeovers'] as const) {
      const parkParent = async (): Promise<{ readonly lost: Promise<unknown> }> => {
        const first = startProcess();
        const { done } = await first.loop.start('ann', HAND_OVER);
        await until(() => first.working.has(CHILD));
        const lost = failure(done);
        const head = await opened.store.head('parent');
        if (head === undefined) throw new Error('The run is gone.');
        await opened.store.park(head, { reason, message: 'Broken.', at: Date.now() - 1_000 });
        return { lost };
      };
      it(`is cancelled with a run that was parked (${reason}) and that a person ends`, async () => {
        const { lost } = await parkParent();
        expect(await startProcess().loop.cancel('parent')).to.equal('cancelled');
        await until(async () => (await stateOf(CHILD)) === 'cancelled');
        await lost;
      });

      it(`is cancelled with a run that was parked (${reason}) for too long`, async () => {
        const { lost } = await parkParent();
        const { loop } = startProcess();
        expect(await loop.claims.endParked('parent', 'Nobody resumed it.')).to.equal(true);
        expect((await opened.store.load('parent'))?.run.error).to.include({ message: 'Nobody resumed it.' });
        expect(await loop.claims.endParked('parent', 'Again.')).to.equal(false);
        await until(async () => (await stateOf(CHILD)) === 'cancelled');
        await lost;
      });
    }

    it('goes on with the run that called it in another process, and its result arrives once', async () => {
      const first = startProcess();
      const { done } = await first.loop.start('ann', HAND_OVER);
      const lost = failure(done);
      await until(() => first.working.has(CHILD));
      await until(async () => (await opened.store.load(CHILD))?.calls[0]?.state === 'executing');
      await first.loop.close();
      await lost;
      // A process that leaves a run does not cancel what the run has started.
      expect(await opened.store.commands(10)).to.deep.equal([]);
      const other = startProcess();
      const recovery = new RunRecovery({ loop: other.loop, store: opened.store, lease: 5_000 });
      await recovery.start();
      ends.push(() => recovery.stop());
      await until(() => other.working.has(CHILD));
      other.working.get(CHILD)?.();
      const { response, transcript } = await other.loop.waitForResult('parent');
      expect(response.output_text).to.equal('worked');
      expect(transcript.filter(({ type }) => type === 'function_call_output')).to.have.length(1);
      // Neither model was asked again for what it had answered.
      expect([...first.provider.calls, ...other.provider.calls].toSorted()).to.deep.equal(
        [CHILD, CHILD, 'parent', 'parent'].toSorted(),
      );
    });

    it('takes the only place of the queue while the run that called it waits', async () => {
      const process = startProcess({}, {}, 2);
      const queue = await startQueue(process, 1);
      const ids = ['parent', 'other', 'third'];
      for (const executionId of ids) await queue.add('ann', { ...HAND_OVER, executionId });
      const results = Promise.all(ids.map((id) => process.loop.waitForResult(id)));
      let isOver = false;
      void results.then(() => (isOver = true));
      await until(() => {
        for (const end of process.working.values()) end();
        return isOver;
      });
      for (const { response } of await results) expect(response.output_text).to.equal('worked, worked');
      expect(process.most).to.equal(1);
      expect((await opened.store.load(CHILD))?.run).to.include({ isQueued: true });
    });

    it('may start runs itself, but not without end', async () => {
      const { loop } = startProcess({ run: () => ({ input: 'Again.', tools: ['delegate'] }) });
      expect((await loop.execute('ann', HAND_OVER)).response.output_text).to.include(`${MAX_RUN_DEPTH} deep`);
      let executionId = 'parent';
      for (let depth = 1; depth <= MAX_RUN_DEPTH; depth += 1) {
        executionId = childId(executionId, 'call 0');
        expect((await opened.store.load(executionId))?.run.depth).to.equal(depth);
      }
      expect(await opened.store.childrenOf(executionId)).to.deep.equal([]);
    });

    it('gets what is left of the budget, and spends it', async () => {
      const { loop } = startProcess({ run: undefined }, {}, 2);
      const error = await failure(loop.execute('ann', { ...HAND_OVER, budget: { calls: 3 } }));
      expect(error).to.include({ code: 'budget-exceeded' });
      const children = await Promise.all(
        (await opened.store.childrenOf('parent')).map(({ executionId }) => opened.store.load(executionId)),
      );
      expect(children.map((child) => child?.run.plan.limits.budget)).to.have.deep.members([{ calls: 2 }, { calls: 1 }]);
    });

    it('works at most as many at a time as the run has parallel tools', async () => {
      const process = startProcess({}, { maxParallelTools: 2 }, 5);
      const { done } = await process.loop.start('ann', HAND_OVER);
      let isOver = false;
      void done.then(() => (isOver = true));
      await until(() => {
        if (process.working.size === 2 || process.provider.calls.length > 8)
          for (const end of process.working.values()) end();
        return isOver;
      });
      expect(process.most).to.equal(2);
    });
  });
}

describe('a run as a tool, where runs are not stored', () => {
  it('returns its answer, and is cancelled with the run that called it', async () => {
    const started: string[] = [];
    const tools = new ToolRegistry()
      .register(runAsTool({ name: 'delegate', run: () => ({ input: 'Go.', tools: ['work'] }) }))
      .register(runAsTool({ name: 'answer' }))
      .register({
        name: 'work',
        execute: (_args: unknown, { executionId }) => {
          started.push(executionId);
          return new Promise(() => undefined);
        },
      });
    const provider = delegatingProvider({ delegate: 1, answer: 1, work: 1 });
    const loop = new AgenticLoop({ provider, toolExecutor: tools });
    const { response } = await loop.execute('ann', { model: 'm', input: 'Go.', tools: ['answer'] });
    expect(response.output_text).to.equal('done');
    const { done } = await loop.start('ann', HAND_OVER);
    await until(() => started.length === 1);
    await loop.cancel('parent');
    await failure(done);
    expect(await loop.cancel(CHILD)).to.equal('cancelled');
  });
});
