/** A run sleeps until a signal, in every store, whichever process receives the signal and whichever has the run. */
import { expect } from 'chai';
import sinon from 'sinon';
import { AgenticLoop } from '../../imports/business/ai/application/services/AgenticLoop';
import { MemoryRunSignals } from '../../imports/business/ai/domain/entities/MemoryRunSignals';
import { ConflictError, LLMInvalidRequestError } from '../../imports/business/ai/domain/errors/LLMErrors';
import { MAX_SIGNALS } from '../../imports/business/ai/domain/interfaces/RunSignalStore';
import type { RunStore } from '../../imports/business/ai/domain/interfaces/RunStore';
import {
  DocumentRunSignals,
  RUN_SIGNALS,
} from '../../imports/business/ai/infrastructure/persistence/runs/DocumentRunSignals';
import { ToolRegistry } from '../../imports/business/ai/infrastructure/tools/ToolRegistry';
import { waitForSignalTool } from '../../imports/business/ai/infrastructure/tools/waitForSignalTool';
import { answer, calling } from '../../imports/testing/responses';
import { ScriptedProvider } from '../../imports/testing/ScriptedProvider';
import { DATABASES } from '../support/documentDatabases';
import { failure } from '../support/failure';
import { RUN_STORES } from '../support/runStores';
import type { TestRunStore } from '../support/runStores';
import { until } from '../support/until';
import { inFlowingTime } from '../support/VirtualTime';

type Script = ConstructorParameters<typeof ScriptedProvider>[0];

const waiting = (call_id: string, args: object = {}) =>
  calling({ name: 'wait_for_signal', call_id, arguments: JSON.stringify({ signal: 'paid', ...args }) });
const OPTIONS = { executionId: 'r', model: 'm', input: 'Wait.', tools: ['wait_for_signal'] };

function createLoop(script: Script, runStore?: RunStore): AgenticLoop {
  return new AgenticLoop({
    provider: new ScriptedProvider(script),
    toolExecutor: new ToolRegistry().register(waitForSignalTool()),
    leaseTimes: { lease: 5_000, heartbeat: 20 },
    ...(runStore === undefined ? {} : { runStore }),
  });
}

for (const [name, open] of Object.entries(RUN_STORES)) {
  describe(
    `a signal to a run (${name})`,
    inFlowingTime(() => {
      let opened: TestRunStore;
      const loops: AgenticLoop[] = [];
      beforeEach(async () => {
        opened = await open();
      });
      afterEach(async () => {
        for (const loop of loops.splice(0)) await loop.close();
        await opened.close();
      });
      const create = (script: Script, store = opened.store): AgenticLoop => {
        const loop = createLoop(script, store);
        loops.push(loop);
        return loop;
      };
      const callOf = async (index = 0) => (await opened.store.load('r'))?.calls[index];
      const isExecuting = async (index = 0) => (await callOf(index))?.state === 'executing';

      it('wakes the call that waits for it, once, with what it carries', async () => {
        const loop = create([waiting('a'), waiting('b', { timeoutSeconds: 0 }), answer('Paid.')]);
        const { done } = await loop.start('ann', OPTIONS);
        await until(() => isExecuting());
        expect(await loop.signal('r', 'other', 'No.')).to.equal('accepted');
        expect(await loop.signal('r', 'paid', { amount: 3 }, 'one')).to.equal('accepted');
        expect((await done).response.output_text).to.equal('Paid.');
        expect(await callOf()).to.include({ state: 'completed', result: '{"amount":3}' });
        expect(await callOf(1)).to.include({ state: 'timeout' });
      });

      it('is kept until a call waits for it, in the order of arrival', async () => {
        const loop = create([waiting('a'), waiting('b'), waiting('c'), answer('Done.')]);
        const { done } = await loop.start('ann', OPTIONS);
        for (const [id, value] of [
          ['one', 1],
          ['two', 2],
          ['one', 1],
          ['three', 3],
        ] as const)
          await loop.signal('r', 'paid', value, id);
        const { toolCalls } = await done;
        expect(toolCalls.map((call) => ('result' in call ? call.result : call.state))).to.deep.equal(['1', '2', '3']);
      });

      it('reaches the run through another process', async () => {
        const { done } = await create([waiting('a'), waiting('b'), answer('Paid.')]).start('ann', OPTIONS);
        await until(() => isExecuting());
        const other = create([]);
        await other.signal('r', 'paid', 'first');
        await until(() => isExecuting(1));
        await other.signal('r', 'paid', 'second');
        await done;
        expect(await callOf()).to.include({ result: 'first' });
        expect(await callOf(1)).to.include({ result: 'second' });
        expect(await opened.store.commands(10)).to.deep.equal([]);
      });

      it('is not lost when it arrives while no process has the run, nor used twice after its process died', async () => {
        // The first process dies when it has taken the signal and is about to record what it led to.
        const { signals } = opened.store;
        const take: typeof signals.take = signals.take.bind(signals);
        let hasTaken = (): void => undefined;
        const taken = new Promise<void>((resolve) => (hasTaken = resolve));
        const dying = new Proxy(opened.store, {
          get(target, key) {
            if (key === 'signals')
              return Object.assign(Object.create(signals) as typeof signals, {
                take: async (...args: Parameters<typeof take>) => {
                  const signal = await take(...args);
                  if (signal === undefined) return undefined;
                  hasTaken();
                  return new Promise<never>(() => undefined);
                },
              });
            const value: unknown = Reflect.get(target, key);
            return typeof value === 'function' ? (value.bind(target) as unknown) : value;
          },
        });
        const first = create([waiting('a')], dying);
        void (await first.start('ann', OPTIONS)).done.catch(() => undefined);
        await until(() => isExecuting());
        await create([]).signal('r', 'paid', 'first');
        await taken;
        await create([]).signal('r', 'paid', 'second');
        const { toolCalls } = await create([waiting('b'), answer('Done.')]).resume('r');
        expect(toolCalls.map((call) => ('result' in call ? call.result : call.state))).to.deep.equal([
          'first',
          'second',
        ]);
      });

      it('times out when none arrives, also after a takeover', async () => {
        const first = create([waiting('a', { timeoutSeconds: 0.3 })]);
        void (await first.start('ann', OPTIONS)).done.catch(() => undefined);
        await until(() => isExecuting());
        await first.close();
        const { response } = await create([answer('Nobody.')]).resume('r');
        expect(response.output_text).to.equal('Nobody.');
        expect(await callOf()).to.include({ state: 'timeout' });
      });

      it('is left to the next call when a result is submitted for the one that waits', async () => {
        const loop = create([waiting('a'), waiting('b'), answer('Done.')]);
        const { done } = await loop.start('ann', OPTIONS);
        await until(() => isExecuting());
        await loop.submitToolResult('r', 'a', { output: 'by hand' });
        await until(() => isExecuting(1));
        await loop.signal('r', 'paid', 'signal');
        await done;
        expect(await callOf()).to.include({ result: 'by hand' });
        expect(await callOf(1)).to.include({ result: 'signal' });
      });

      it('is refused for a run that has ended, that is unknown, or that was sent too many', async () => {
        const loop = create([waiting('a'), answer('Done.')]);
        const { done } = await loop.start('ann', OPTIONS);
        const add = sinon.stub(opened.store.signals, 'add').resolves('full');
        expect(await failure(loop.signal('r', 'paid'))).to.be.instanceOf(ConflictError);
        add.restore();
        await until(() => isExecuting());
        await loop.submitToolResult('r', 'a', { output: '' });
        await done;
        expect(await failure(loop.signal('r', 'paid'))).to.be.instanceOf(ConflictError);
        expect(await failure(loop.signal('unknown', 'paid'))).to.be.instanceOf(LLMInvalidRequestError);
      });
    }),
  );
}

describe(
  'a signal to a run that is not stored',
  inFlowingTime(() => {
    it('wakes it, and is forgotten with it', async () => {
      const loop = createLoop([waiting('a'), waiting('b'), answer('Done.')]);
      const { done } = await loop.start('ann', OPTIONS);
      await loop.signal('r', 'paid', 1);
      await loop.signal('r', 'paid');
      expect((await done).toolCalls.map((call) => ('result' in call ? call.result : call.state))).to.deep.equal([
        '1',
        'null',
      ]);
      await loop.close();
    });

    it('has a name, an id and a payload within bounds', async () => {
      const loop = createLoop([]);
      for (const args of [
        [''],
        ['x'.repeat(129)],
        ['paid', 'x'.repeat(70_000)],
        ['paid', () => 1],
        ['paid', 1, ''],
      ] as [string, unknown?, string?][])
        expect(await failure(loop.signal('r', ...args))).to.be.instanceOf(LLMInvalidRequestError);
      await loop.close();
    });

    it('is one of a bounded number', async () => {
      const database = await DATABASES['embedded (SQLite)']();
      const signals = new DocumentRunSignals(database.database.collection(RUN_SIGNALS));
      for (const store of [signals, new MemoryRunSignals()]) {
        const sent = { executionId: 'r', name: 'paid' };
        await Promise.all(Array.from({ length: MAX_SIGNALS }, (_, at) => store.add({ ...sent, signalId: `${at}` })));
        expect(await store.add({ ...sent, signalId: 'more' })).to.equal('full');
        expect(await store.add({ ...sent, signalId: '1' })).to.equal('repeated');
      }
      await database.close();
    });

    it('is given to one call', async () => {
      const signals = new MemoryRunSignals();
      await signals.add({ executionId: 'r', signalId: 's', name: 'paid' });
      expect(await signals.take('r', 'paid', 'a')).to.include({ signalId: 's' });
      expect(await signals.take('r', 'paid', 'b')).to.equal(undefined);
      expect(await signals.take('r', 'paid', 'a')).to.include({ signalId: 's' });
      await signals.giveBack('r', 'a');
      expect(await signals.take('r', 'paid', 'b')).to.include({ signalId: 's' });
    });
  }),
);
