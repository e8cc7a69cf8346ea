/** A turn with thousands of tool calls: how many begin before the event loop serves anyone else. */
import { expect } from 'chai';
import { AgenticLoop } from '../../../../../../imports/business/ai/application/services/AgenticLoop';
import { SLICE } from '../../../../../../imports/business/ai/application/services/tools/Pacer';
import { ToolProcessor } from '../../../../../../imports/business/ai/application/services/ToolProcessor';
import { LLMAbortedError } from '../../../../../../imports/business/ai/domain/errors/LLMErrors';
import type { IToolExecutor } from '../../../../../../imports/business/ai/domain/interfaces/IToolExecutor';
import { MemoryRunStore } from '../../../../../../imports/business/ai/infrastructure/persistence/runs/MemoryRunStore';
import { ToolRegistry } from '../../../../../../imports/business/ai/infrastructure/tools/ToolRegistry';
import { answer, calling } from '../../../../../../imports/testing/responses';
import { ScriptedProvider } from '../../../../../../imports/testing/ScriptedProvider';
import { failure } from '../../../../../support/failure';
import { IS_SOAK } from '../../../../../support/soak';

const CALLS = IS_SOAK ? 3_000 : 600;
const NAMES = Array.from({ length: CALLS }, (_value, index) => ({ name: 'count', arguments: { index } }));

/** Counts in tasks of the event loop. */
class TaskCounter {
  most = 0;
  tasks = 0;
  private inTask = 0;
  private isWatching = true;

  constructor() {
    this.watch();
  }

  add(): void {
    this.inTask += 1;
    this.most = Math.max(this.most, this.inTask);
  }

  stop(): void {
    this.isWatching = false;
  }

  private watch(): void {
    setImmediate(() => {
      this.inTask = 0;
      this.tasks += 1;
      if (this.isWatching) this.watch();
    });
  }
}

describe(`a turn with ${CALLS} tool calls`, () => {
  let checks: TaskCounter;
  let executions: TaskCounter;
  beforeEach(() => {
    checks = new TaskCounter();
    executions = new TaskCounter();
  });
  afterEach(() => {
    checks.stop();
    executions.stop();
  });

  const registry = (execute: (index: unknown) => unknown, seen: unknown[]): IToolExecutor =>
    new ToolRegistry().register({
      name: 'count',
      parameters: { type: 'object', properties: { index: { type: 'integer' } } },
      // Asked once the arguments have been checked.
      needsApproval: () => {
        checks.add();
        return false;
      },
      execute: ({ index }: { readonly index?: unknown }) => {
        executions.add();
        seen.push(index);
        return execute(index);
      },
    });

  const TOOLS: Readonly<Record<string, (index: unknown) => unknown>> = {
    'that return at once': () => 'done',
    'that are asynchronous, and never wait': () => Promise.resolve('done'),
    'of which some wait': (index) => (Number(index) < 8 ? new Promise(setImmediate) : 'done'),
  };
  for (const [which, execute] of Object.entries(TOOLS))
    for (const isStored of [false, true])
      it(`begins them in slices, and in their order, with tools ${which}${isStored ? ', in a stored run' : ''}`, async () => {
        const seen: unknown[] = [];
        const loop = new AgenticLoop({
          provider: new ScriptedProvider([calling(...NAMES), answer('done')]),
          toolExecutor: registry(execute, seen),
          ...(isStored ? { runStore: new MemoryRunStore() } : {}),
        });
        await loop.execute('ann', { model: 'scripted', input: 'x', tools: ['count'] });
        expect(seen).to.deep.equal(NAMES.map(({ arguments: { index } }) => index));
        expect(checks.most).to.be.within(1, SLICE);
        expect(executions.most).to.be.within(1, SLICE);
        expect(executions.tasks).to.be.at.least(Math.floor(CALLS / SLICE));
      });

  it('begins calls outside of a run in slices as well', async () => {
    const seen: unknown[] = [];
    const processor = new ToolProcessor({ toolExecutor: registry(() => 'done', seen) });
    const calls = NAMES.map(({ name, arguments: given }, index) => ({
      call_id: `call_${index}`,
      name,
      arguments: JSON.stringify(given),
    }));
    const results = await processor.processToolCalls(calls, { userId: 'ann', tools: ['count'] });
    expect(results.map(({ call_id }) => call_id)).to.deep.equal(calls.map(({ call_id }) => call_id));
    expect(executions.most).to.be.within(1, SLICE);
  });

  for (const [which, options] of [
    ['a signal', { signal: new AbortController().signal }],
    ['no signal', {}],
  ] as const)
    it(`warns of no leak outside of a run with ${which}`, async () => {
      const warnings: Error[] = [];
      const listener = (warning: Error): unknown => warnings.push(warning);
      process.on('warning', listener);
      const processor = new ToolProcessor({ toolExecutor: registry(() => 'done', []) });
      const calls = NAMES.slice(0, 20).map(({ name }, index) => ({ call_id: `call_${index}`, name, arguments: '{}' }));
      await processor.processToolCalls(calls, { userId: 'ann', tools: ['count'], ...options });
      // Warnings are emitted on the next tick.
      await new Promise(setImmediate);
      process.off('warning', listener);
      expect(warnings).to.deep.equal([]);
    });

  it('begins none after its run was cancelled', async () => {
    const seen: unknown[] = [];
    const loop = new AgenticLoop({
      provider: new ScriptedProvider([calling(...NAMES), answer('done')]),
      toolExecutor: registry((index) => {
        if (index === 100) void loop.cancel(executionId);
        return 'done';
      }, seen),
    });
    const executionId = 'run-1';
    const ended = loop.execute('ann', { executionId, model: 'scripted', input: 'x', tools: ['count'] });
    expect(await failure(ended)).to.be.instanceOf(LLMAbortedError);
    await new Promise(setImmediate);
    await new Promise(setImmediate);
    expect(seen.length).to.be.within(101, 101 + 8);
  });
});
