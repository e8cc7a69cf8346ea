/** Runs below a run, followed from a process that has none of them, while another process takes them over. */
import { expect } from 'chai';
import { followFamily, MAX_FOLLOWED } from '../../imports/api/chat/followFamily';
import { StoredRuns } from '../../imports/api/chat/StoredRuns';
import type { StoredRunsPorts } from '../../imports/api/chat/StoredRuns';
import { replayFamily } from '../../imports/api/chat/replayFamily';
import { AgenticLoop } from '../../imports/business/ai/application/services/AgenticLoop';
import { RunRecovery } from '../../imports/business/ai/application/services/RunRecovery';
import { childId } from '../../imports/business/ai/application/services/shared/childId';
import { callOfRunId } from '../../imports/business/ai/domain/entities/callOfRun';
import type { ToolCallContext } from '../../imports/business/ai/domain/interfaces/IToolExecutor';
import type { CallOfRun, FamilyEvent } from '../../imports/business/ai/domain/types/AgentEvents';
import { LiveRunEvents } from '../../imports/business/ai/infrastructure/events/LiveRunEvents';
import { MemoryRunStore } from '../../imports/business/ai/infrastructure/persistence/runs/MemoryRunStore';
import { runAsTool } from '../../imports/business/ai/infrastructure/tools/runAsTool';
import { ToolRegistry } from '../../imports/business/ai/infrastructure/tools/ToolRegistry';
import { delegatingProvider } from '../support/delegatingProvider';
import { until } from '../support/until';
import { inFlowingTime } from '../support/VirtualTime';

const CHILD = childId('root', 'call 0');
const GRANDCHILD = childId(CHILD, 'call 0');

describe(
  'runs below a run of another process',
  inFlowingTime(() => {
    it('are followed in the store, once and in order, also when a third process takes them over', async () => {
      const store = new MemoryRunStore();
      const working: (() => void)[] = [];
      const tools = new ToolRegistry()
        .register({
          name: 'work',
          idempotent: true,
          execute: () => new Promise<string>((resolve) => working.push(() => resolve('worked'))),
        })
        .register(runAsTool({ name: 'inner', run: () => ({ input: 'Work.', tools: ['work'] }) }))
        .register(runAsTool({ name: 'outer', run: () => ({ input: 'Delegate.', tools: ['inner'] }) }));
      const provider = delegatingProvider({ outer: 1, inner: 1, work: 1 });
      const leaseTimes = { lease: 5_000, heartbeat: 20 };
      const createLoop = (): AgenticLoop =>
        new AgenticLoop({ provider, toolExecutor: tools, runStore: store, leaseTimes });
      const first = createLoop();
      const options = { executionId: 'root', model: 'm', input: 'Go.', tools: ['outer'] };
      (await first.start('ann', options)).done.catch(() => undefined);
      const events: FamilyEvent[] = [];
      const ports = { stored: storedRuns(store), live: new LiveRunEvents(), tools };
      const following = (async () => {
        for await (const event of followFamily(ports, 'root', { signal: new AbortController().signal }))
          events.push(event);
      })();
      await until(() =>
        events.some(({ type, executionId }) => type === 'tool:executing' && executionId === GRANDCHILD),
      );
      await first.close();
      const second = createLoop();
      const recovery = new RunRecovery({ loop: second, store, lease: 5_000, scanIntervalMs: 20 });
      await recovery.start();
      await until(() => working.length === 2);
      working[1]?.();
      await following;
      // A model call that is in progress when the store is read is announced again.
      const lasting = events.filter(({ type }) => type !== 'iteration:start');
      const seen = lasting.map(({ executionId, type }) => `${NAMES[executionId]} ${type}`);
      const of = (name: string, types: readonly string[]): readonly string[] => types.map((type) => `${name} ${type}`);
      expect(seen).to.deep.equal([
        ...of('root', ['run:started', 'llm:response', 'tool:pending', 'tool:executing']),
        ...of('child', ['run:started', 'llm:response', 'tool:pending', 'tool:executing']),
        ...of('grandchild', [
          'run:started',
          'llm:response',
          'tool:pending',
          'tool:executing',
          'tool:completed',
          'llm:response',
        ]),
        'grandchild run:completed',
        ...of('child', ['tool:completed', 'llm:response', 'run:completed']),
        ...of('root', ['tool:completed', 'llm:response', 'run:completed']),
      ]);
      const [last] = events.filter(({ executionId }) => executionId === GRANDCHILD);
      expect(last?.path?.map(({ executionId, name }) => [executionId, name])).to.deep.equal([
        ['root', 'outer'],
        [CHILD, 'inner'],
      ]);
      recovery.stop();
      await second.close();
    });
    it('end the following while people are asked about their calls, and not once those are decided', async () => {
      const store = new MemoryRunStore();
      const tools = new ToolRegistry()
        .register({ name: 'work', needsApproval: true, execute: () => 'worked' })
        .register(runAsTool({ name: 'inner', run: () => ({ input: 'Work.', tools: ['work'] }) }))
        .register(runAsTool({ name: 'outer', run: () => ({ input: 'Delegate.', tools: ['inner'] }) }));
      const provider = delegatingProvider({ outer: 1, inner: 1, work: 1 });
      const loop = new AgenticLoop({ provider, toolExecutor: tools, runStore: store });
      (await loop.start('ann', { executionId: 'root', model: 'm', input: 'Go.', tools: ['outer'] })).done.catch(
        () => undefined,
      );
      const ports = { stored: storedRuns(store), live: new LiveRunEvents(), tools };
      const follow = async (decided?: ReadonlySet<string>): Promise<readonly string[]> => {
        const seen: string[] = [];
        for await (const { executionId, type } of followFamily(ports, 'root', { signal: ENDLESS, decided })) {
          seen.push(`${NAMES[executionId]} ${type}`);
          // Decided before, and applied after what it was like before has been read.
          if (decided !== undefined && type === 'tool:approval_required') await loop.approve(GRANDCHILD, 'call 0');
        }
        return seen;
      };
      expect((await follow()).at(-1)).to.equal('grandchild tool:approval_required');
      const decided = new Set([callOfRunId({ executionId: GRANDCHILD, callId: 'call 0' })]);
      expect((await follow(decided)).at(-1)).to.equal('root run:completed');
      expect((await all(followFamily(ports, 'root', { signal: ENDLESS, over: ENDLESS }))).at(-1)).to.include({
        executionId: 'root',
        type: 'run:completed',
      });
      await loop.close();
    });

    for (const [what, last, tool] of [
      ['a result from outside', 'child tool:executing', { kind: 'external' }],
      ['a time', 'root run:completed', { kind: 'timer' }],
      ['what their tools ask', 'child tool:input_required', { execute: ask }],
    ] as const)
      it(`that wait for ${what} are followed until ${last}`, async () => {
        const store = new MemoryRunStore();
        const tools = new ToolRegistry()
          .register({ name: 'work', parameters: {}, ...tool })
          .register(runAsTool({ name: 'outer', parameters: {}, run: () => ({ input: 'Work.', tools: ['work'] }) }));
        const provider = delegatingProvider({ outer: 1, work: 1 }, { seconds: 0.05 });
        const loop = new AgenticLoop({ provider, toolExecutor: tools, runStore: store });
        (await loop.start('ann', { executionId: 'root', model: 'm', input: 'Go.', tools: ['outer'] })).done.catch(
          () => undefined,
        );
        const ports = { stored: storedRuns(store), live: new LiveRunEvents(), tools };
        const { executionId, type } = (await all(followFamily(ports, 'root', { signal: ENDLESS }))).at(-1) ?? {};
        expect(`${NAMES[executionId ?? '']} ${type}`).to.equal(last);
        await loop.close();
      });

    for (const [what, limits, count, atOnce] of [
      [
        'more runs than are caught up with at a time',
        { maxParallelTools: MAX_FOLLOWED + 2 },
        MAX_FOLLOWED + 2,
        MAX_FOLLOWED + 2,
      ],
      ['as many runs as may work at once', {}, 10, 8],
      ['the one run that spends of a budget', { budget: { calls: 10 } }, 2, 1],
    ] as const)
      it(`end the following while people are asked about the calls of ${what}`, async () => {
        const store = new MemoryRunStore();
        const tools = new ToolRegistry()
          .register({ name: 'work', needsApproval: true, execute: () => 'worked' })
          .register(runAsTool({ name: 'outer', run: () => ({ input: 'Work.', tools: ['work'] }) }));
        const provider = delegatingProvider({ outer: count, work: 1 });
        const loop = new AgenticLoop({ provider, toolExecutor: tools, runStore: store });
        const options = { executionId: 'root', model: 'm', input: 'Go.', tools: ['outer'], ...limits };
        (await loop.start('ann', options)).done.catch(() => undefined);
        const ports = { stored: storedRuns(store), live: new LiveRunEvents(), tools };
        const decided = new Set<string>();
        for (let left: number = count; left > 0; left -= atOnce) {
          const events = await all(followFamily(ports, 'root', { signal: ENDLESS, decided }));
          const asked = events.filter(({ type }) => type === 'tool:approval_required');
          const open = asked.filter((event) => !decided.has(callOfRunId(event as CallOfRun & FamilyEvent)));
          expect(open).to.have.length(Math.min(left, atOnce));
          for (const { executionId } of open) {
            await loop.approve(executionId, 'call 0');
            decided.add(callOfRunId({ executionId, callId: 'call 0' }));
          }
        }
        const events = await all(followFamily(ports, 'root', { signal: ENDLESS, decided }));
        const ends = (list: readonly FamilyEvent[]) => list.filter(({ type }) => type === 'run:completed');
        expect(ends(events)).to.have.length(count + 1);
        expect(ends(await replayed(store, tools))).to.have.length(count + 1);
        await loop.close();
      });

    it('are asked for with one query while they are idle, and read only once they have changed', async () => {
      const count = 20;
      const store = new MemoryRunStore();
      const tools = new ToolRegistry()
        .register({ name: 'work', needsApproval: true, execute: () => 'worked' })
        .register(runAsTool({ name: 'outer', run: () => ({ input: 'Work.', tools: ['work'] }) }));
      const provider = delegatingProvider({ outer: count, work: 1 });
      const loop = new AgenticLoop({ provider, toolExecutor: tools, runStore: store });
      const options = { executionId: 'root', model: 'm', input: 'Go.', tools: ['outer'], maxParallelTools: count };
      (await loop.start('ann', options)).done.catch(() => undefined);
      const loads: string[] = [];
      const queries: number[] = [];
      const stored = storedRuns({
        load: (id) => {
          loads.push(id);
          return store.load(id);
        },
        versions: (ids) => {
          queries.push(ids.length);
          return store.versions(ids);
        },
      });
      const ports = { stored, live: new LiveRunEvents(), tools };
      const asked: string[] = [];
      const left = new AbortController();
      const following = (async () => {
        for await (const event of followFamily(ports, 'root', { signal: left.signal, over: ENDLESS }))
          if (event.type === 'tool:approval_required') asked.push(event.executionId);
          else if (event.path !== undefined && event.type === 'run:completed') left.abort();
      })().catch(() => undefined);
      await until(() => asked.length === count && queries.at(-1) === count + 1);
      [loads.length, queries.length] = [0, 0];
      await until(() => queries.length > 4);
      expect(new Set(queries)).to.deep.equal(new Set([count + 1]));
      expect(loads).to.deep.equal([]);
      await loop.approve(asked[7] ?? '', 'call 0');
      await following;
      expect(loads).to.include(asked[7]).and.not.include(asked[8]);
      await loop.cancel('root');
      await loop.close();
    });

    it('end the following when the run is deleted while it waits', async () => {
      const store = new MemoryRunStore();
      const tools = new ToolRegistry().register({ name: 'work', needsApproval: true, execute: () => 'worked' });
      const loop = new AgenticLoop({ provider: delegatingProvider({ work: 1 }), toolExecutor: tools, runStore: store });
      (await loop.start('ann', { executionId: 'root', model: 'm', input: 'Go.', tools: ['work'] })).done.catch(
        () => undefined,
      );
      let isDeleted = false;
      const left = (): MemoryRunStore => (isDeleted ? new MemoryRunStore() : store);
      const runs = { load: (id: string) => left().load(id), versions: (ids: string[]) => left().versions(ids) };
      const ports = { stored: storedRuns(runs), live: new LiveRunEvents(), tools };
      for await (const { type } of followFamily(ports, 'root', { signal: ENDLESS, over: ENDLESS }))
        if (type === 'tool:approval_required') isDeleted = true;
      expect(isDeleted).to.equal(true);
      await loop.close();
    });
  }),
);

/** What a process without runs of its own reads. */
function storedRuns(runs: StoredRunsPorts['runs']): StoredRuns {
  return new StoredRuns({ runs, loop: { local: { has: () => false } }, pollInterval: 10 });
}

async function replayed(store: MemoryRunStore, tools: ToolRegistry): Promise<readonly FamilyEvent[]> {
  const stored = await store.load('root');
  return stored === undefined ? [] : replayFamily(stored, { load: (id) => store.load(id), tools });
}

async function ask(_args: unknown, { requestInput }: ToolCallContext): Promise<unknown> {
  return requestInput?.({ message: 'Really?' });
}

async function all<T>(values: AsyncIterable<T>): Promise<readonly T[]> {
  const list: T[] = [];
  for await (const value of values) list.push(value);
  return list;
}

const ENDLESS = new AbortController().signal;
const NAMES: Readonly<Record<string, string>> = { root: 'root', [CHILD]: 'child', [GRANDCHILD]: 'grandchild' };
