/** Runs that wait are taken over with as few writes as possible, since there may be many of them. */
import { expect } from 'chai';
import { AgenticLoop } from '../../imports/business/ai/application/services/AgenticLoop';
import { RunRecovery } from '../../imports/business/ai/application/services/RunRecovery';
import type { RunStore } from '../../imports/business/ai/domain/interfaces/RunStore';
import { ToolRegistry } from '../../imports/business/ai/infrastructure/tools/ToolRegistry';
import { answer, calling } from '../../imports/testing/responses';
import { ScriptedProvider } from '../../imports/testing/ScriptedProvider';
import { RUN_STORES } from '../support/runStores';
import { until } from '../support/until';

/** Names the writes of runs and calls. */
function recordingWrites(store: RunStore, writes: string[]): RunStore {
  return new Proxy(store, {
    get(target, name) {
      const value: unknown = Reflect.get(target, name);
      if (typeof value !== 'function') return value;
      const method = value as (...args: readonly unknown[]) => unknown;
      return (...args: readonly unknown[]) => {
        if (name === 'saveRun' || name === 'saveCalls') writes.push(name);
        return method.apply(target, args as unknown[]);
      };
    },
  });
}

describe('a run that waits, taken over', () => {
  it('writes what it waits for no second time, and completes', async () => {
    const opened = await RUN_STORES['embedded (SQLite)']!();
    const create = (script: ConstructorParameters<typeof ScriptedProvider>[0], store: RunStore): AgenticLoop => {
      const toolExecutor = new ToolRegistry().register({ name: 'wait', kind: 'external', blocking: false });
      return new AgenticLoop({ provider: new ScriptedProvider(script), toolExecutor, runStore: store });
    };
    const first = create([calling({ name: 'wait', call_id: 'c' }), answer('I wait.')], opened.store);
    const options = { executionId: 'r', model: 'm', input: 'Go.', tools: ['wait'], onPending: 'return' } as const;
    await first.execute('ann', options);
    await until(async () => (await opened.store.load('r'))?.run.state === 'waiting');
    await first.close();
    const writes: string[] = [];
    const other = create([answer('Done.')], recordingWrites(opened.store, writes));
    const recovery = new RunRecovery({ loop: other, store: opened.store });
    await recovery.start();
    await until(async () => {
      const { owner, takeovers } = (await opened.store.load('r'))!.run;
      return owner === other.claims.ownerId && takeovers === 0;
    });
    expect(writes).to.deep.equal([]);
    await other.submitToolResult('r', 'c', { output: 'Now.' });
    expect((await other.waitForResult('r')).response.output_text).to.equal('Done.');
    const { calls, recorded } = (await opened.store.load('r'))!;
    expect(calls[0]).to.include({ state: 'completed', result: 'Now.' });
    expect(recorded).to.deep.equal({ withRun: [], onlyWithRun: [] });
    recovery.stop();
    await other.close();
    await opened.close();
  });
});
