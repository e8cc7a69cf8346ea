/** What runs cost that wait for a time, a signal, a person or another service, by a clock that the test controls. */
import { expect } from 'chai';
import { useFakeTimers } from 'sinon';
import type { SinonFakeTimers } from 'sinon';
import { AgenticLoop } from '../../../../../../imports/business/ai/application/services/AgenticLoop';
import { MemoryRunStore } from '../../../../../../imports/business/ai/infrastructure/persistence/runs/MemoryRunStore';
import { sleepTool } from '../../../../../../imports/business/ai/infrastructure/tools/sleepTool';
import { ToolRegistry } from '../../../../../../imports/business/ai/infrastructure/tools/ToolRegistry';
import { waitForSignalTool } from '../../../../../../imports/business/ai/infrastructure/tools/waitForSignalTool';
import { answer, calling } from '../../../../../../imports/testing/responses';
import { ScriptedProvider } from '../../../../../../imports/testing/ScriptedProvider';
import { countTimers } from '../../../../../support/countTimers';

const HOUR = 3_600_000;
const CALLS = [
  calling({ name: 'sleep', arguments: JSON.stringify({ seconds: 3_600 }) }),
  calling({ name: 'wait_for_signal', arguments: JSON.stringify({ signal: 'paid', timeoutSeconds: 7_200 }) }),
  calling({ name: 'submit', arguments: '{}' }),
  calling({ name: 'ask', arguments: '{}' }),
];

describe('runs that wait', () => {
  let clock: SinonFakeTimers;
  let store: MemoryRunStore;
  let loop: AgenticLoop | undefined;
  beforeEach(() => {
    clock = useFakeTimers({ now: 1_000_000, toFake: ['setTimeout', 'clearTimeout', 'Date', 'performance'] });
    store = new MemoryRunStore();
  });
  afterEach(async () => {
    await loop?.close();
    clock.restore();
  });
  /** One heartbeat for all of it, since what happens at one is no matter of timers alone. */
  const pass = async (milliseconds: number): Promise<void> => {
    clock.tick(milliseconds);
    await settled();
  };
  const settled = async (): Promise<void> => {
    for (let turn = 0; turn < 50; turn += 1) await new Promise((resolve) => setImmediate(resolve));
  };
  const start = async (count: number): Promise<AgenticLoop> => {
    const toolExecutor = new ToolRegistry()
      .register(sleepTool())
      .register(waitForSignalTool())
      .register({ name: 'submit', kind: 'external', timeout: 3 * HOUR })
      .register({ name: 'ask', needsApproval: true, execute: () => 'done' });
    const script = Array.from({ length: count }, () => CALLS).flat();
    const provider = new ScriptedProvider([...script, ...script.map(() => answer('Awake.'))]);
    loop = new AgenticLoop({ provider, toolExecutor, runStore: store });
    const tools = ['sleep', 'wait_for_signal', 'submit', 'ask'];
    for (let index = 0; index < script.length; index += 1)
      (await loop.start('ann', { executionId: `run ${index}`, model: 'm', input: 'Wait.', tools })).done.catch(
        () => undefined,
      );
    await settled();
    return loop;
  };
  const stateOf = async (index: number) => (await store.load(`run ${index}`))?.run.state;

  it('hold no timer of their own, and wake at their times', async () => {
    await start(1);
    const few = countTimers(clock);
    await loop?.close();
    store = new MemoryRunStore();
    await start(10);
    expect(countTimers(clock)).to.equal(few);
    const took: unknown[] = [];
    const { signals } = store;
    const take: typeof signals.take = signals.take.bind(signals);
    signals.take = (...given) => {
      took.push(given);
      return take(...given);
    };
    await pass(HOUR - 1_000);
    // None of them searched for itself.
    expect(took).to.deep.equal([]);
    expect([await stateOf(0), await stateOf(1)]).to.deep.equal(['running', 'running']);
    await pass(2_000);
    expect([await stateOf(0), await stateOf(1)]).to.deep.equal(['completed', 'running']);
    await pass(HOUR);
    expect([await stateOf(1), await stateOf(2)]).to.deep.equal(['completed', 'running']);
    await pass(HOUR);
    expect([await stateOf(2), await stateOf(3)]).to.deep.equal(['completed', 'running']);
    await pass(21 * HOUR);
    expect(await stateOf(3)).to.equal('completed');
  });

  it('find a signal that nobody told them of', async () => {
    await start(1);
    // The process that received it died before it could tell.
    await store.signals.add({ executionId: 'run 1', name: 'paid', signalId: 's' });
    await pass(31_000);
    expect([await stateOf(1), await stateOf(2)]).to.deep.equal(['completed', 'running']);
  });
});
