/** A process never works on more queued runs than its limit, whichever way they reach it. */
import { expect } from 'chai';
import { AgenticLoop } from '../../imports/business/ai/application/services/AgenticLoop';
import { RunQueue } from '../../imports/business/ai/application/services/RunQueue';
import { RunRecovery } from '../../imports/business/ai/application/services/RunRecovery';
import { RunSlots } from '../../imports/business/ai/application/services/queue/RunSlots';
import { LocalJobQueue } from '../../imports/business/ai/infrastructure/jobs/LocalJobQueue';
import { DocumentRunStore } from '../../imports/business/ai/infrastructure/persistence/runs/DocumentRunStore';
import { MeteorDatabase } from '../../imports/database/meteor/MeteorDatabase';
import { ToolRegistry } from '../../imports/business/ai/infrastructure/tools/ToolRegistry';
import { resetMeteor } from '../stubs/server/registry';
import { callingProvider } from '../support/callingProvider';
import { METEOR_PACKAGES } from '../meteor/meteorPackages';
import { until } from '../support/until';

const LIMIT = 4;

describe('the limit of queued runs', () => {
  let store: DocumentRunStore;
  const processes: Process[] = [];
  beforeEach(() => {
    resetMeteor();
    store = new DocumentRunStore(new MeteorDatabase(METEOR_PACKAGES));
  });
  afterEach(async () => {
    for (const process of processes.splice(0)) await process.close();
    resetMeteor();
  });

  interface Process {
    readonly loop: AgenticLoop;
    readonly queue: RunQueue;
    readonly recovery: RunRecovery;
    /** Ids of runs whose tool runs here, oldest first, with what ends it. */
    readonly running: Map<string, () => void>;
    /** The most runs of the queue whose tools ran at the same time. */
    readonly most: () => number;
    close(): Promise<void>;
  }
  const isQueued = (executionId: string): boolean => executionId.startsWith('queued');
  function startProcess(tool = 'work'): Process {
    const running = new Map<string, () => void>();
    let most = 0;
    const tools = new ToolRegistry()
      .register({
        name: 'work',
        idempotent: true,
        execute: (_args: unknown, { executionId }) =>
          new Promise<void>((resolve) => {
            running.set(executionId, () => {
              running.delete(executionId);
              resolve();
            });
            most = Math.max(most, [...running.keys()].filter(isQueued).length);
          }),
      })
      .register({ name: 'ask', needsApproval: true, execute: () => 'asked' });
    const loop = new AgenticLoop({
      provider: callingProvider(tool, 'work'),
      toolExecutor: tools,
      runStore: store,
      leaseTimes: { lease: 60_000, heartbeat: 5 },
    });
    const jobs = new LocalJobQueue({ concurrency: LIMIT });
    const slots = new RunSlots({ loop, tools, limit: LIMIT });
    const queue = new RunQueue({ loop, store, jobs, tools, slots });
    const recovery = new RunRecovery({ loop, store, slots, lease: 60_000, watchIntervalMs: 5 });
    const close = async (): Promise<void> => {
      recovery.stop();
      await queue.stop();
      await loop.close();
    };
    const made = { loop, queue, recovery, running, most: () => most, close };
    processes.push(made);
    return made;
  }
  const add = async ({ queue }: Process, ids: readonly string[], tool = 'work'): Promise<void> => {
    for (const executionId of ids) await queue.add('ann', { executionId, model: 'm', input: 'Go.', tools: [tool] });
  };
  const named = (name: string, count: number): readonly string[] =>
    Array.from({ length: count }, (_value, index) => `queued ${name} ${index}`);
  /** Ends all tools until the runs have ended. */
  const finish = async ({ running, loop }: Process, ids: readonly string[]): Promise<void> => {
    const ended = Promise.all(ids.map((id) => loop.waitForResult(id)));
    let hasEnded = false;
    void ended.then(() => (hasEnded = true));
    await until(() => {
      running.values().next().value?.();
      return hasEnded;
    });
  };

  it('holds for the runs that are taken over from a lost process, which come before those that wait', async () => {
    const lost = startProcess();
    await add(lost, named('lost', LIMIT));
    await lost.queue.start();
    await until(() => lost.running.size === LIMIT);
    // Not of the queue: whoever takes the lost runs over takes this one at the same time.
    await lost.loop.start('ann', { executionId: 'direct', model: 'm', input: 'Go.', tools: ['work'] });
    await until(() => lost.running.size === LIMIT + 1);
    const other = startProcess();
    await other.recovery.start();
    await add(other, named('own', LIMIT + 2));
    await other.queue.start();
    await until(() => other.running.size === LIMIT);
    await lost.close();
    await until(() => other.running.has('direct'));
    expect([...other.running.keys()].filter(isQueued)).to.deep.equal(named('own', LIMIT));
    other.running.get('queued own 0')?.();
    await until(() => [...other.running.keys()].filter(isQueued).length === LIMIT);
    expect(other.running.has('queued lost 0')).to.equal(true);
    await finish(other, [...named('lost', LIMIT), ...named('own', LIMIT + 2), 'direct']);
    expect(other.most()).to.equal(LIMIT);
  });

  it('does not count a run that waits for a person, until it goes on', async () => {
    const { queue, loop, running, ...rest } = startProcess('ask');
    const process = { queue, loop, running, ...rest };
    await add(process, ['queued asks'], 'ask');
    await queue.start();
    await until(async () => (await store.load('queued asks'))?.calls[0]?.state === 'awaiting_approval');
    await add(process, named('own', LIMIT + 1));
    await until(() => running.size === LIMIT);
    expect(process.most()).to.equal(LIMIT);
    await finish(process, named('own', LIMIT + 1));
    await loop.approve('queued asks', (await store.load('queued asks'))?.calls[0]?.id ?? '');
    await loop.waitForResult('queued asks');
  });

  it('does not count a run that is taken over while it waits for a person', async () => {
    const lost = startProcess('ask');
    await add(lost, named('asks', LIMIT), 'ask');
    await lost.queue.start();
    for (const id of named('asks', LIMIT))
      await until(async () => (await store.load(id))?.calls[0]?.state === 'awaiting_approval');
    await lost.close();
    const next = startProcess();
    await next.recovery.start();
    await until(() => next.loop.local.size === LIMIT);
    await add(next, named('own', LIMIT));
    await next.queue.start();
    await until(() => next.running.size === LIMIT);
    await finish(next, named('own', LIMIT));
  });
});
