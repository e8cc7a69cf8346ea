/** Decisions of which one is stored only after another has settled the call, and its command was deleted. */
import { expect } from 'chai';
import { AgenticLoop } from '../../../../../../imports/business/ai/application/services/AgenticLoop';
import type { RunStore } from '../../../../../../imports/business/ai/domain/interfaces/RunStore';
import type { RunCommand } from '../../../../../../imports/business/ai/domain/types/RunRecords';
import { MemoryRunStore } from '../../../../../../imports/business/ai/infrastructure/persistence/runs/MemoryRunStore';
import { ToolRegistry } from '../../../../../../imports/business/ai/infrastructure/tools/ToolRegistry';
import { answer, calling } from '../../../../../../imports/testing/responses';
import { ScriptedProvider } from '../../../../../../imports/testing/ScriptedProvider';
import { deferred } from '../../../../../support/deferred';
import { until } from '../../../../../support/until';

/** The owner of a run, which waits for a result, and another process, whose commands are stored when the test says. */
async function setUp() {
  const store = new MemoryRunStore();
  const toolExecutor = new ToolRegistry().register({ name: 'ask', kind: 'external' });
  const provider = new ScriptedProvider([calling({ name: 'ask', call_id: 'c' }), answer('Thanks.')]);
  const owner = new AgenticLoop({ provider, toolExecutor, runStore: store });
  const arrived = deferred<undefined>();
  const isSending = { current: false };
  const slow = new Proxy<RunStore>(store, {
    get(target, name, receiver) {
      const value: unknown = Reflect.get(target, name, receiver);
      if (typeof value !== 'function') return value;
      if (name !== 'addCommand') return value.bind(target) as unknown;
      return async (command: RunCommand) => {
        isSending.current = true;
        await arrived.promise;
        return target.addCommand(command);
      };
    },
  });
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
