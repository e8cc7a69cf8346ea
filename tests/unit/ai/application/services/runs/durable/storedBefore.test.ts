/** What the store has by the time that somebody acts on it. */
import { expect } from 'chai';
import { AgenticLoop } from '../../../../../../../imports/business/ai/application/services/AgenticLoop';
import type { RunStore } from '../../../../../../../imports/business/ai/domain/interfaces/RunStore';
import { MemoryRunStore } from '../../../../../../../imports/business/ai/infrastructure/persistence/runs/MemoryRunStore';
import { ToolRegistry } from '../../../../../../../imports/business/ai/infrastructure/tools/ToolRegistry';
import { answer, calling } from '../../../../../../../imports/testing/responses';
import { ScriptedProvider } from '../../../../../../../imports/testing/ScriptedProvider';
import { deferred } from '../../../../../../support/deferred';
import { recordEvents } from '../../../../../../support/recordEvents';
import { until } from '../../../../../../support/until';

describe('A call that needs approval', () => {
  it('is stored before anybody is asked about it, so that no crash can undo it', async () => {
    const store = new MemoryRunStore();
    const written = deferred<undefined>();
    let isWriting = false;
    const runStore = new Proxy<RunStore>(store, {
      get(target, name, receiver) {
        const value: unknown = Reflect.get(target, name, receiver);
        if (typeof value !== 'function') return value;
        const call = value.bind(target) as (...args: readonly unknown[]) => unknown;
        if (name !== 'saveRun') return call;
        return async (...args: readonly unknown[]): Promise<unknown> => {
          const { transcript } = args[1] as { readonly transcript?: readonly unknown[] };
          isWriting = transcript !== undefined;
          if (isWriting) await written.promise;
          return call(...args);
        };
      },
    });
    const loop = new AgenticLoop({
      provider: new ScriptedProvider([calling({ name: 'pay', call_id: 'c' })]),
      toolExecutor: new ToolRegistry().register({ name: 'pay', needsApproval: true, execute: () => '' }),
      runStore,
    });
    const record = recordEvents(loop);
    const { done } = await loop.start('ann', { executionId: 'r', model: 'm', input: 'Go.', tools: ['pay'] });
    await until(() => isWriting);
    expect(record.events.map(({ type }) => type)).to.not.include('tool:approval_required');
    written.resolve(undefined);
    await record.seen('tool:approval_required');
    expect((await store.load('r'))?.calls.map(({ id }) => id)).to.deep.equal(['c']);
    await loop.cancel('r');
    await done.catch(() => undefined);
  });
});

describe('A response of the model', () => {
  it('is stored although its calls have not begun, so that a crash pays for no second one', async () => {
    const store = new MemoryRunStore();
    const decided = deferred<boolean>();
    const loop = new AgenticLoop({
      provider: new ScriptedProvider([calling({ name: 'pay', call_id: 'c' }), answer('Paid.')]),
      toolExecutor: new ToolRegistry().register({
        name: 'pay',
        needsApproval: () => decided.promise,
        execute: () => '',
      }),
      runStore: store,
      // No heartbeat stores it.
      leaseTimes: { lease: 600_000, heartbeat: 600_000 },
    });
    const { done } = await loop.start('ann', { executionId: 'r', model: 'm', input: 'Go.', tools: ['pay'] });
    await until(async () => (await store.load('r'))?.run.response !== undefined);
    decided.resolve(false);
    expect((await done).output_text).to.equal('Paid.');
  });
});
