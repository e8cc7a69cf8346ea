/** How soon a message reaches the model: in the process that has the run, and from another one. In real time. */
import { expect } from 'chai';
import { AgenticLoop } from '../../imports/business/ai/application/services/AgenticLoop';
import type { RunStore } from '../../imports/business/ai/domain/interfaces/RunStore';
import { ToolRegistry } from '../../imports/business/ai/infrastructure/tools/ToolRegistry';
import { answer, calling } from '../../imports/testing/responses';
import { ScriptedProvider, untilAborted } from '../../imports/testing/ScriptedProvider';
import { RUN_STORES } from '../support/runStores';
import { until } from '../support/until';

const MESSAGES = 20;
const OPTIONS = { executionId: 'r', model: 'm', input: 'Begin.', tools: ['job'], maxIterations: 100 };

for (const [name, open] of Object.entries(RUN_STORES)) {
  describe(`A message reaches the model (${name})`, function () {
    this.timeout(120_000);

    /** Milliseconds from each `send` to the model call that has the message. */
    async function latencies(isInterrupting: boolean, isFromAfar: boolean): Promise<readonly number[]> {
      const opened = await open();
      const { store } = opened;
      const calledAt: number[] = [];
      const provider = new ScriptedProvider(
        Array.from({ length: MESSAGES + 3 }, (_, index) => (options) => {
          calledAt.push(performance.now());
          if (index === 0) return calling({ name: 'job', call_id: 'c' });
          return isInterrupting && index > 0 && index <= MESSAGES ? untilAborted(options) : answer(`Answer ${index}.`);
        }),
      );
      const loop = createLoop(provider, store);
      const other = createLoop(new ScriptedProvider(), store);
      const { done } = await loop.start('ann', OPTIONS);
      done.catch(() => undefined);
      await until(() => calledAt.length === 2);
      const found: number[] = [];
      for (let index = 0; index < MESSAGES; index += 1) {
        const before = calledAt.length;
        const sentAt = performance.now();
        const when = isInterrupting ? 'interrupt' : 'next';
        await (isFromAfar ? other : loop).send('r', `Message ${index}.`, { when });
        await until(() => calledAt.length > before);
        found.push(calledAt[before]! - sentAt);
      }
      await loop.cancel('r');
      await other.close();
      await loop.close();
      await opened.close();
      return found;
    }

    for (const isInterrupting of [false, true]) {
      const what = isInterrupting ? 'that it interrupts' : 'of a run that waits';
      it(`${what} within 100 ms in the process that has the run`, async () => {
        const found = await latencies(isInterrupting, false);
        console.log(`      ${Math.round(Math.max(...found))} ms at most`);
        expect(Math.max(...found)).to.be.lessThan(100);
      });

      it(`${what} within 2 s from another process`, async () => {
        const found = await latencies(isInterrupting, true);
        console.log(`      ${Math.round(Math.max(...found))} ms at most`);
        expect(Math.max(...found)).to.be.lessThan(2_000);
      });
    }
  });
}

function createLoop(provider: ScriptedProvider, store: RunStore): AgenticLoop {
  return new AgenticLoop({
    provider,
    // What the embedded database would not need, so that commands are read there, too.
    runStore: Object.assign(Object.create(store) as RunStore, { isExclusive: false }),
    toolExecutor: new ToolRegistry().register({ name: 'job', kind: 'external', blocking: false }),
  });
}
