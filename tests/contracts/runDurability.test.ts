/** How often the progress of a run is stored is chosen per run: what that saves, and what a crash then costs. */
import { expect } from 'chai';
import { AgenticLoop } from '../../imports/business/ai/application/services/AgenticLoop';
import { LLMInvalidRequestError } from '../../imports/business/ai/domain/errors/LLMErrors';
import type { RunDurability } from '../../imports/business/ai/domain/types/RunRecords';
import { MemoryRunStore } from '../../imports/business/ai/infrastructure/persistence/runs/MemoryRunStore';
import { ToolRegistry } from '../../imports/business/ai/infrastructure/tools/ToolRegistry';
import { answer, calling } from '../../imports/testing/responses';
import { ScriptedProvider } from '../../imports/testing/ScriptedProvider';
import { haltingStore } from '../support/durable/HaltingStore';
import { failure } from '../support/failure';

const TURNS = 5;

describe('the durability of a run', () => {
  const turns = (name: string): ConstructorParameters<typeof ScriptedProvider>[0] => [
    ...Array.from({ length: TURNS }, (_value, index) => calling({ name, call_id: `c${index}` })),
    answer('done'),
  ];
  const options = (durability: RunDurability, tool: string) =>
    ({ executionId: 'r', model: 'm', input: 'Go.', tools: [tool], durability }) as const;
  /** @param onEffect called before each result, with the number of turns so far */
  function create(
    tool: string,
    store: MemoryRunStore,
    at = Infinity,
    onEffect: () => Promise<void> = async () => undefined,
  ) {
    const halting = haltingStore(store, at, 'before');
    const toolExecutor = new ToolRegistry()
      .register({ name: 'look', readOnly: true, execute: onEffect })
      .register({ name: 'act', execute: onEffect });
    const provider = new ScriptedProvider(turns(tool));
    const leaseTimes = { lease: 7_200_000, heartbeat: 3_600_000 };
    const loop = new AgenticLoop({ provider, toolExecutor, runStore: halting.store, leaseTimes });
    return { ...halting, loop, provider };
  }
  const writesOf = async (durability: RunDurability, tool: string): Promise<number> => {
    const { loop, writes } = create(tool, new MemoryRunStore());
    await loop.execute('ann', options(durability, tool));
    return writes();
  };

  it('costs less, the less it promises', async () => {
    const step = await writesOf('step', 'look');
    const turn = await writesOf('turn', 'look');
    expect(step).to.be.at.least(4 * TURNS);
    expect(turn).to.be.at.most(2 * TURNS + 3);
    // The start, the calls and the end.
    expect(await writesOf('end', 'look')).to.be.at.most(4);
    // What acts is stored before, whatever was chosen.
    expect(await writesOf('end', 'act')).to.be.at.most(turn);
  });

  it('has every call stored before it acts', async () => {
    for (const durability of ['step', 'turn', 'end'] as const) {
      const store = new MemoryRunStore();
      const states: unknown[] = [];
      const { loop } = create('act', store, Infinity, async () => {
        const { calls = [] } = (await store.load('r')) ?? {};
        states.push(calls.find(({ id }) => id === `c${states.length}`)?.state);
      });
      await loop.execute('ann', options(durability, 'act'));
      expect(states, durability).to.deep.equal(Array.from({ length: TURNS }, () => 'executing'));
    }
  });

  it('lets a run that has only read begin again after a crash', async () => {
    const store = new MemoryRunStore();
    // The end of the run is the second thing that is stored.
    const first = create('look', store, 2);
    void first.loop.execute('ann', options('end', 'look')).catch(() => undefined);
    await first.halted;
    expect(first.provider.calls).to.have.length(TURNS + 1);
    const { run, calls } = (await store.load('r'))!;
    expect(run.transcript).to.have.length(1);
    expect(calls).to.deep.equal([]);
    const { loop, provider } = create('look', store);
    expect((await loop.resume('r')).response.output_text).to.equal('done');
    expect(provider.calls).to.have.length(TURNS + 1);
  });

  it('must be one that exists', async () => {
    const { loop } = create('look', new MemoryRunStore());
    const wrong = { ...options('step', 'look'), durability: 'never' as RunDurability };
    expect(await failure(loop.execute('ann', wrong))).to.be.instanceOf(LLMInvalidRequestError);
  });
});
