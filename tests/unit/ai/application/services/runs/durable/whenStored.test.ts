/** What somebody reads of a run whose events they follow. */
import { expect } from 'chai';
import { AgenticLoop } from '../../../../../../../imports/business/ai/application/services/AgenticLoop';
import { StoreUnavailableError } from '../../../../../../../imports/business/ai/domain/errors/LLMErrors';
import type { RunStore } from '../../../../../../../imports/business/ai/domain/interfaces/RunStore';
import { MemoryRunStore } from '../../../../../../../imports/business/ai/infrastructure/persistence/runs/MemoryRunStore';
import { ToolRegistry } from '../../../../../../../imports/business/ai/infrastructure/tools/ToolRegistry';
import { calling } from '../../../../../../../imports/testing/responses';
import { ScriptedProvider } from '../../../../../../../imports/testing/ScriptedProvider';
import { deferred } from '../../../../../../support/deferred';
import { until } from '../../../../../../support/until';
import { VirtualTime } from '../../../../../../support/VirtualTime';

/** A run with a call that waits for its result, whose writes from the model's answer on do what the test says. */
async function setUp(write: () => Promise<void>) {
  const store = new MemoryRunStore();
  let hasAnswered = false;
  const written = new Proxy<RunStore>(store, {
    get(target, name, receiver) {
      const value: unknown = Reflect.get(target, name, receiver);
      if (typeof value !== 'function') return value;
      const call = value.bind(target) as (...args: readonly unknown[]) => unknown;
      if (name !== 'saveRun' && name !== 'saveCalls') return call;
      return async (...args: readonly unknown[]): Promise<unknown> => {
        if (hasAnswered) await write();
        return call(...args);
      };
    },
  });
  const loop = new AgenticLoop({
    provider: new ScriptedProvider([calling({ name: 'ask', call_id: 'c' })]),
    toolExecutor: new ToolRegistry().register({ name: 'ask', kind: 'external' }),
    runStore: written,
  });
  const asked = deferred<undefined>();
  loop.on('llm:response', () => (hasAnswered = true));
  loop.on('tool:executing', () => asked.resolve(undefined));
  void (await loop.start('ann', { model: 'm', input: 'go', tools: ['ask'], executionId: 'r' })).done.catch(
    () => undefined,
  );
  await asked.promise;
  return { store, loop };
}

describe('A run that is read after an event', () => {
  let time: VirtualTime;
  beforeEach(() => (time = VirtualTime.start()));
  afterEach(() => time.stop());

  it('has what the event told, however slow the store is', async () => {
    const released = deferred<undefined>();
    const { store, loop } = await setUp(() => released.promise);
    const read = loop.local.whenStored('r').then(() => store.load('r'));
    released.resolve(undefined);
    expect((await read)?.calls[0]?.state).to.equal('executing');
    void loop.cancel('r');
  });

  it('is read at once in an outage of the store', async () => {
    let attempts = 0;
    const { loop } = await setUp(async () => {
      attempts += 1;
      throw new StoreUnavailableError('The store cannot be reached.');
    });
    await until(() => attempts > 0);
    // No time passes.
    await loop.local.whenStored('r');
    void loop.cancel('r');
  });
});
