/** Background work does not inherit the async context of the call that starts it. */
import { AsyncLocalStorage } from 'node:async_hooks';
import { expect } from 'chai';
import { AgenticLoop } from '../../../../../../imports/business/ai/application/services/AgenticLoop';
import { openBudget } from '../../../../../../imports/business/ai/domain/entities/BudgetAccount';
import { AccountLedger } from '../../../../../../imports/business/limits/application/AccountLedger';
import { runDetached } from '../../../../../../imports/business/ai/application/services/shared/runDetached';
import { RunQueue } from '../../../../../../imports/business/ai/application/services/RunQueue';
import { RunRecovery } from '../../../../../../imports/business/ai/application/services/RunRecovery';
import { RunEventBus } from '../../../../../../imports/business/ai/application/services/runs/RunEventBus';
import type { RunStore } from '../../../../../../imports/business/ai/domain/interfaces/RunStore';
import { LocalJobQueue } from '../../../../../../imports/business/ai/infrastructure/jobs/LocalJobQueue';
import { MemoryBudgetStore } from '../../../../../../imports/business/limits/infrastructure/MemoryBudgetStore';
import { MemoryRunStore } from '../../../../../../imports/business/ai/infrastructure/persistence/runs/MemoryRunStore';
import { ToolRegistry } from '../../../../../../imports/business/ai/infrastructure/tools/ToolRegistry';
import { UsageRecorder } from '../../../../../../imports/host/UsageRecorder';
import { callingProvider } from '../../../../../support/callingProvider';
import { recordEvents } from '../../../../../support/recordEvents';
import { until } from '../../../../../support/until';

const context = new AsyncLocalStorage<string>();

/** Records the context of every call of a method of the port. */
function traced<T extends object>(port: T, calls: (readonly [method: string, context: string | undefined])[]): T {
  return new Proxy(port, {
    get(target, name) {
      const value: unknown = Reflect.get(target, name, target);
      if (typeof value !== 'function') return value;
      return (...args: unknown[]): unknown => {
        calls.push([String(name), context.getStore()]);
        return Reflect.apply(value, target, args);
      };
    },
  });
}

describe('runDetached', () => {
  it('runs work outside of the caller’s context, and returns what it returns', async () => {
    await context.run('caller', async () => {
      expect(runDetached(() => context.getStore())).to.equal(undefined);
      const later = runDetached(async () => {
        await Promise.resolve();
        return context.getStore() ?? 'none';
      });
      expect(await later).to.equal('none');
      expect(context.getStore()).to.equal('caller');
      expect(() =>
        runDetached(() => {
          throw new RangeError('no');
        }),
      ).to.throw(RangeError);
    });
  });
});

describe('A run that is started, decided on or cancelled in a context', () => {
  const calls: (readonly [string, string | undefined])[] = [];
  const seen: (string | undefined)[] = [];
  const note = (): string => {
    seen.push(context.getStore());
    return 'noted';
  };
  const tools = new ToolRegistry()
    .register({ name: 'note', execute: note })
    .register({ name: 'ask', needsApproval: true, execute: note })
    .register({ name: 'outside', kind: 'external' });
  // The store looks shared with other processes, so that owners send heartbeats.
  const store = traced<RunStore>(Object.assign(new MemoryRunStore(), { isExclusive: false }), calls);
  const open = (tool: string): AgenticLoop => {
    const loop = new AgenticLoop({
      provider: callingProvider(tool),
      toolExecutor: tools,
      runStore: store,
      leaseTimes: { lease: 2_000, heartbeat: 5 },
    });
    loops.push(loop);
    return loop;
  };
  const loops: AgenticLoop[] = [];
  /** The calls to the store that were made in the caller's context. */
  const inherited = (): readonly string[] => calls.filter(([, from]) => from !== undefined).map(([method]) => method);
  beforeEach(() => {
    calls.length = 0;
    seen.length = 0;
  });
  afterEach(async () => {
    for (const loop of loops.splice(0)) await loop.close();
  });

  it('writes only its own insert there, however long it takes', async () => {
    const loop = open('note');
    const { done } = await context.run('caller', () =>
      loop.start('ann', { model: 'm', input: 'Go.', tools: ['note'] }),
    );
    await done;
    expect(calls.map(([method]) => method)).to.include.members(['heartbeat', 'saveCalls', 'saveRun']);
    expect(inherited()).to.deep.equal(['create']);
    expect(seen).to.deep.equal([undefined]);
  });

  it('continues outside of it after a decision, and deletes the command there', async () => {
    for (const [tool, decide] of [
      ['ask', (loop: AgenticLoop, id: string, callId: string) => loop.approve(id, callId)],
      ['ask', (loop: AgenticLoop, id: string, callId: string) => loop.reject(id, callId)],
      ['outside', (loop: AgenticLoop, id: string, callId: string) => loop.submitToolResult(id, callId, { output: 1 })],
    ] as const) {
      const loop = open(tool);
      const events = recordEvents(loop);
      const { executionId, done } = await loop.start('ann', { model: 'm', input: 'Go.', tools: [tool] });
      const { callId } = await events.seen(tool === 'ask' ? 'tool:approval_required' : 'tool:executing');
      calls.length = 0;
      await context.run('caller', () => decide(loop, executionId, callId));
      await done;
      await until(() => calls.some(([method]) => method === 'removeCommand'));
      expect(inherited(), tool).to.deep.equal(['addCommand']);
    }
    expect(seen).to.deep.equal([undefined]);
  });

  it('records its cancellation outside of it', async () => {
    const loop = open('ask');
    const events = recordEvents(loop);
    const { executionId, done } = await loop.start('ann', { model: 'm', input: 'Go.', tools: ['ask'] });
    done.catch(() => undefined);
    await events.seen('tool:approval_required');
    calls.length = 0;
    await context.run('caller', () => loop.cancel(executionId));
    await events.seen('run:cancelled');
    expect(calls.map(([method]) => method)).to.include('saveRun');
    expect(inherited()).to.deep.equal([]);
  });

  it('is executed outside of it when it was queued or recovered there', async () => {
    const loop = open('note');
    const jobs = new LocalJobQueue();
    const queue = new RunQueue({ loop, store, jobs, tools });
    await queue.start();
    const executionId = await context.run('caller', () =>
      queue.add('ann', { model: 'm', input: 'Go.', tools: ['note'] }),
    );
    await until(async () => (await store.load(executionId))?.run.state === 'completed');
    await queue.stop();
    expect(inherited()).to.deep.equal(['create']);
    expect(seen).to.deep.equal([undefined]);

    const dead = open('ask');
    const asked = recordEvents(dead);
    const orphan = await dead.start('ann', { model: 'm', input: 'Go.', tools: ['ask'] });
    orphan.done.catch(() => undefined);
    const { callId } = await asked.seen('tool:approval_required');
    await dead.close();
    calls.length = 0;
    const heir = open('ask');
    const recovery = new RunRecovery({ loop: heir, store });
    await context.run('caller', () => recovery.scan());
    await until(() => heir.getExecutionContext(orphan.executionId) !== undefined);
    await heir.approve(orphan.executionId, callId);
    await heir.waitForResult(orphan.executionId);
    recovery.stop();
    expect(inherited().toSorted()).to.deep.equal(['claimOrphans', 'commands', 'heartbeats', 'leased']);
    expect(seen).to.deep.equal([undefined, undefined]);
  });
});

describe('What is recorded in the background', () => {
  it('is written outside of the context that caused it', async () => {
    const calls: (readonly [string, string | undefined])[] = [];
    const store = traced(new MemoryBudgetStore(), calls);
    const ledger = new AccountLedger({ store, open: (id) => openBudget(id, 0), kind: 'the budget of' });
    await context.run('caller', () =>
      ledger.change('ann', (account) => ({ account: { ...account }, result: undefined })),
    );
    const usage = new UsageRecorder(() => {
      calls.push(['recordUsage', context.getStore()]);
      return Promise.resolve();
    });
    context.run('caller', () => usage.record({ providerId: 'p', userId: 'ann', usage: { total_tokens: 1 } as never }));
    await usage.settled();
    const bus = new RunEventBus({ sinks: [() => calls.push(['sink', context.getStore()])] });
    context.run('caller', () => {
      bus.publish({ type: 'llm:delta', executionId: 'r', seq: 1, at: 0, kind: 'text', delta: 'x' });
      bus.flush('r');
    });
    expect(calls).to.deep.equal([
      ['find', undefined],
      ['replace', undefined],
      ['recordUsage', undefined],
      ['sink', undefined],
    ]);
  });
});
