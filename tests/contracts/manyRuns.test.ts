import { expect } from 'chai';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { AgenticLoop } from '../../imports/business/ai/application/services/AgenticLoop';
import type { ILLMProvider } from '../../imports/business/ai/domain/interfaces/ILLMProvider';
import type { Item } from '../../imports/business/ai/domain/types/ResponsesAPITypes';
import { MemoryRunStore } from '../../imports/business/ai/infrastructure/persistence/runs/MemoryRunStore';
import { ToolRegistry } from '../../imports/business/ai/infrastructure/tools/ToolRegistry';
import { answer, callItem, response } from '../../imports/testing/responses';
import { CAPABILITIES } from '../../imports/testing/capabilities';
import { IS_SOAK, itInSoak } from '../support/soak';

const RUNS = IS_SOAK ? 1_000 : 60;
const ROUNDS = IS_SOAK ? 10 : 2;
const TOOLS_PER_RUN = 10;

/** Calls ten jobs, waits, and answers with the number and sum of the results it received. */
const model: ILLMProvider = {
  getProviderName: () => 'adder',
  getCapabilities: () => CAPABILITIES,
  validateAccess: () => Promise.resolve({ valid: true }),
  stream: () => {
    throw new Error('not asked for');
  },
  async generate(_userId, options) {
    const items = options.input as readonly Item[];
    const calls = items.filter(({ type }) => type === 'function_call');
    if (calls.length === 0) {
      const [question] = items;
      const n =
        question?.type === 'message' && question.content[0]?.type === 'input_text' ? question.content[0].text : '?';
      return response({
        output: Array.from({ length: TOOLS_PER_RUN }, (_job, index) =>
          callItem({ name: 'job', call_id: `c${index}`, arguments: { n: Number(n), index } }),
        ),
      });
    }
    const results = items.flatMap((item) =>
      item.type === 'function_call_output' && item.status !== 'in_progress' ? [Number(item.output)] : [],
    );
    return answer(`${results.length} ${results.reduce((sum, value) => sum + value, 0)}`);
  },
};

async function round(loop: AgenticLoop): Promise<readonly string[]> {
  const results = await Promise.all(
    Array.from({ length: RUNS }, (_run, n) =>
      loop.execute(`user ${n}`, { model: 'm', input: String(n), tools: ['job'], maxIterations: 20 }),
    ),
  );
  return results.map(({ response: last }) => last.output_text);
}

function settledHeap(): number {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  collect();
  collect();
  return process.memoryUsage().heapUsed;
}

describe(`${RUNS} runs at once with ${TOOLS_PER_RUN} non-blocking tools each, on one loop`, () => {
  it('do not get mixed up, and leave no memory, listeners or timers behind', async () => {
    let tick = 0;
    const tools = new ToolRegistry().register({
      name: 'job',
      blocking: false,
      // Jobs of all runs settle interleaved: some at once, some after other runs have moved on.
      execute: async ({ n, index }: { n: number; index: number }) => {
        for (let wait = (n * 7 + index * 3) % 5; wait > 0; wait -= 1)
          await new Promise((resolve) => setImmediate(resolve));
        tick += 1;
        return n * 100 + index;
      },
    });
    const loop = new AgenticLoop({ provider: model, toolExecutor: tools, keepFinished: 10 });
    const expected = Array.from({ length: RUNS }, (_run, n) => `${TOOLS_PER_RUN} ${n * 100 * TOOLS_PER_RUN + 45}`);

    expect(await round(loop)).to.deep.equal(expected);
    expect(tick).to.equal(RUNS * TOOLS_PER_RUN);
    const before = {
      heap: settledHeap(),
      timers: process.getActiveResourcesInfo().filter((kind) => kind === 'Timeout').length,
    };
    for (let again = 1; again < ROUNDS; again += 1) expect(await round(loop)).to.deep.equal(expected);
    const grown = settledHeap() - before.heap;

    // A leaked run would retain its transcript and ten calls: well over 20 KB.
    if (IS_SOAK) expect(grown / (RUNS * (ROUNDS - 1))).to.be.below(5_000);
    // Timers of earlier tests may have ended.
    expect(process.getActiveResourcesInfo().filter((kind) => kind === 'Timeout').length).to.be.at.most(before.timers);
    expect(loop.eventNames()).to.deep.equal([]);
  });

  itInSoak('cost little memory while they wait', async () => {
    const tools = new ToolRegistry().register({
      name: 'job',
      blocking: false,
      execute: () => new Promise(() => undefined),
    });
    const caller: ILLMProvider = {
      ...model,
      async generate(_userId, options) {
        const items = options.input as readonly Item[];
        return items.some(({ type }) => type === 'function_call')
          ? answer('I wait')
          : response({ output: [callItem({ name: 'job', call_id: 'c', arguments: {} })] });
      },
    };
    const loop = new AgenticLoop({ provider: caller, toolExecutor: tools, runStore: new MemoryRunStore() });
    const start = (count: number): Promise<unknown> =>
      Promise.all(
        Array.from({ length: count }, () =>
          loop.execute('ann', { model: 'm', input: 'go', tools: ['job'], onPending: 'return' }),
        ),
      );
    await start(100);
    const before = settledHeap();
    await start(2_000);
    const each = (settledHeap() - before) / 2_000;
    expect(loop.local.size).to.equal(2_100);
    // Frames and closures for each would double it; `npm run bench -- W8` measures it in a process of its own.
    expect(each).to.be.within(1_000, 16_000);
    await loop.close();
  });
});
