/** Results that are submitted while the store is slow, or after another process has the run. */
import { expect } from 'chai';
import { AgenticLoop } from '../../../../../../imports/business/ai/application/services/AgenticLoop';
import type { RunStore } from '../../../../../../imports/business/ai/domain/interfaces/RunStore';
import { MemoryRunStore } from '../../../../../../imports/business/ai/infrastructure/persistence/runs/MemoryRunStore';
import { ToolRegistry } from '../../../../../../imports/business/ai/infrastructure/tools/ToolRegistry';
import { answer, calling } from '../../../../../../imports/testing/responses';
import { ScriptedProvider } from '../../../../../../imports/testing/ScriptedProvider';
import type { ScriptedStep } from '../../../../../../imports/testing/ScriptedProvider';
import { deferred } from '../../../../../support/deferred';
import { recordEvents } from '../../../../../support/recordEvents';
import { until } from '../../../../../support/until';
import { inFlowingTime } from '../../../../../support/VirtualTime';

/** A process whose calls of one method reach the store when the test says. */
function slowTo(method: keyof RunStore, store: RunStore) {
  const arrived = deferred<undefined>();
  const isSending = { current: false };
  const slow = new Proxy(store, {
    get(target, name, receiver) {
      const value: unknown = Reflect.get(target, name, receiver);
      if (typeof value !== 'function') return value;
      if (name !== method) return value.bind(target) as unknown;
      return async (...args: readonly unknown[]): Promise<unknown> => {
        isSending.current = true;
        await arrived.promise;
        return (value as (...all: readonly unknown[]) => unknown).apply(target, [...args]);
      };
    },
  });
  return { slow, arrived, isSending };
}

/** The owner of a run, which waits for a result, and another process, whose commands are stored when the test says. */
async function setUp() {
  const store = new MemoryRunStore();
  const toolExecutor = new ToolRegistry().register({ name: 'ask', kind: 'external' });
  const provider = new ScriptedProvider([calling({ name: 'ask', call_id: 'c' }), answer('Thanks.')]);
  const owner = new AgenticLoop({ provider, toolExecutor, runStore: store });
  const { slow, arrived, isSending } = slowTo('addCommand', store);
  const other = new AgenticLoop({ provider, toolExecutor, runStore: slow });
  const { done } = await owner.start('ann', { model: 'm', input: 'go', tools: ['ask'], executionId: 'r' });
  await until(async () => (await store.load('r'))?.calls[0]?.state === 'executing');
  return { store, owner, other, done, arrived, isSending };
}

describe('A result that is submitted in another process', () => {
  it('was not accepted if it is stored after another one has settled the call', async () => {
    const { store, owner, other, done, arrived, isSending } = await setUp();
    const late = other.submitToolResult('r', 'c', { output: 'second' });
    await until(() => isSending.current);
    expect(await owner.submitToolResult('r', 'c', { output: 'first' })).to.equal('accepted');
    await done;
    await until(async () => (await store.commands(1)).length === 0);
    arrived.resolve(undefined);
    expect(await late).to.equal('already-settled');
    expect((await store.load('r'))?.calls[0]).to.include({ result: 'first' });
  });

  it('was accepted, although it has been applied before that is known', async () => {
    const { owner, other, arrived } = await setUp();
    arrived.resolve(undefined);
    expect(await other.submitToolResult('r', 'c', { output: { paid: true } })).to.equal('accepted');
    await owner.close();
  });
});

describe(
  'A result that is submitted before the store has its call',
  inFlowingTime((time) => {
    it('is that of the call in the process which has taken the run over', async () => {
      const store = new MemoryRunStore();
      const { slow, arrived } = slowTo('saveRun', store);
      const asking = calling({ name: 'ask', call_id: 'c' });
      const loopWith = (script: readonly ScriptedStep[], runStore: RunStore): AgenticLoop => {
        const toolExecutor = new ToolRegistry().register({ name: 'ask', kind: 'external' });
        return new AgenticLoop({ provider: new ScriptedProvider(script), toolExecutor, runStore });
      };
      const old = loopWith([asking], slow);
      const events = recordEvents(old);
      await old.start('ann', { model: 'm', input: 'go', tools: ['ask'], executionId: 'r', durability: 'turn' });
      await events.seen('tool:executing');
      const first = old.submitToolResult('r', 'c', { output: 'first' });
      // The model is asked again, and its call begins at another time.
      time.suspend(10);
      const next = loopWith([asking, answer('Thanks.')], store);
      const done = next.resume('r');
      await until(async () => (await store.load('r'))?.calls[0]?.state === 'executing');
      arrived.resolve(undefined);
      expect(await first).to.equal('accepted');
      expect(await next.submitToolResult('r', 'c', { output: 'second' })).to.equal('already-settled');
      await done;
      expect((await store.load('r'))?.calls[0]).to.include({ result: 'first' });
    });
  }),
);
