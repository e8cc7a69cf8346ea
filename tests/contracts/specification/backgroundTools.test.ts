import { expect } from 'chai';
import { AgenticLoop } from '../../../imports/business/ai/application/services/AgenticLoop';
import type { RunResult } from '../../../imports/business/ai/domain/entities/Run';
import type { AgentEvent } from '../../../imports/business/ai/domain/types/AgentEvents';
import type { RunStore } from '../../../imports/business/ai/domain/interfaces/RunStore';
import { createProvider } from '../../../imports/business/ai/infrastructure/factories/createProvider';
import { MemoryRunStore } from '../../../imports/business/ai/infrastructure/persistence/runs/MemoryRunStore';
import { ToolRegistry } from '../../../imports/business/ai/infrastructure/tools/ToolRegistry';
import type { Simulator } from '../../../imports/simulator/Simulator';
import { startSimulator } from '../../../imports/simulator/startSimulator';
import { failure } from '../../support/failure';

const RUN = 'run';
/** The next event of this type. */
const once = (loop: AgenticLoop, type: AgentEvent['type']): Promise<unknown> =>
  new Promise((resolve) => loop.once(type, resolve));
const idsOf = (count: number): string[] => Array.from({ length: count }, (_, n) => `call_${n + 1}`);

describe('Background tools', () => {
  let simulator: Simulator;
  beforeEach(async () => {
    simulator = await startSimulator();
  });
  afterEach(() => simulator.close());

  /** A process; its store fails to respond from the moment at which it is dead. */
  function startProcess(runStore?: RunStore): { readonly loop: AgenticLoop; readonly kill: () => void } {
    let isDead = false;
    const store =
      runStore === undefined
        ? undefined
        : new Proxy(runStore, {
            get(target, name, receiver) {
              const value: unknown = Reflect.get(target, name, receiver);
              if (typeof value !== 'function') return value;
              return (...args: unknown[]): unknown =>
                isDead ? new Promise(() => undefined) : (value.apply(target, args) as unknown);
            },
          });
    const loop = new AgenticLoop({
      provider: createProvider({
        vendor: 'openai',
        apiKey: 'a-key',
        baseURL: simulator.baseURL('openai'),
        allowPrivateHosts: true,
      }),
      // Results come from elsewhere, at their own time.
      toolExecutor: new ToolRegistry().register({ name: 'research', blocking: false, kind: 'external' }),
      ...(store === undefined ? {} : { runStore: store }),
      leaseTimes: { lease: 200, heartbeat: 5 },
    });
    return {
      loop,
      kill: () => {
        isDead = true;
      },
    };
  }

  function start(loop: AgenticLoop, calls: number, maxIterations: number): Promise<RunResult> {
    simulator.enqueue(
      { calls: idsOf(calls).map((id) => ({ id, name: 'research', arguments: {} })) },
      { text: 'They are under way.' },
      ...idsOf(calls).map((id) => ({ text: `Received ${id}.` })),
    );
    return loop.execute('ann', {
      model: 'gpt-5-mini',
      input: 'Research it.',
      tools: ['research'],
      maxIterations,
      executionId: RUN,
    });
  }

  /** Submits the results one by one, each after the model has answered to the one before. */
  async function submit(loop: AgenticLoop, ids: readonly string[]): Promise<void> {
    for (const id of ids) {
      const answered = once(loop, 'nonblocking:llm_response');
      expect(await loop.submitToolResult(RUN, id, { output: `result of ${id}` })).to.equal('accepted');
      await answered;
    }
  }

  const waiting = async (loop: AgenticLoop): Promise<void> => {
    for (let responses = 0; responses < 2; responses += 1) await once(loop, 'llm:response');
  };

  it('all deliver, however many finish one by one, and use up no iterations', async () => {
    const { loop } = startProcess();
    const isWaiting = waiting(loop);
    const run = start(loop, 12, 2);
    await isWaiting;
    await Promise.race([submit(loop, idsOf(12)), run]);
    const { response, iterations, undelivered, toolCalls } = await run;
    expect(response.output_text).to.equal('Received call_12.');
    expect(undelivered).to.deep.equal([]);
    expect(toolCalls.map(({ state }) => state)).to.deep.equal(idsOf(12).map(() => 'completed'));
    expect(iterations, 'all model calls are reported').to.equal(14);
  });

  it('are bounded by a limit of their own, ten times the iterations', async () => {
    const { loop } = startProcess();
    const isWaiting = waiting(loop);
    const run = start(loop, 25, 2);
    const ended = failure(run);
    await isWaiting;
    await submit(loop, idsOf(20));
    await loop.submitToolResult(RUN, 'call_21', { output: 'one too many' });
    const error = await ended;
    expect(error).to.have.property('code', 'max-iterations');
    expect(error).to.have.property('message').that.includes('20 model calls that only deliver late results');
    expect(error).to.have.nested.property('run.iterations', 22);
  });

  it('still count the turns in which the model calls tools', async () => {
    const { loop } = startProcess();
    simulator.enqueue(...[1, 2, 3].map((n) => ({ calls: [{ id: `call_${n}`, name: 'research', arguments: {} }] })), {
      text: 'Never reached.',
    });
    const error = await failure(
      loop.execute('ann', { model: 'gpt-5-mini', input: 'Go.', tools: ['research'], maxIterations: 3 }),
    );
    expect(error).to.have.property('code', 'max-iterations');
    expect(error).to.have.nested.property('run.iterations', 3);
  });

  it('use up no iterations across a crash either', async () => {
    const store = new MemoryRunStore();
    const first = startProcess(store);
    const isWaiting = waiting(first.loop);
    start(first.loop, 12, 2).catch(() => undefined);
    await isWaiting;
    await submit(first.loop, idsOf(6));
    first.kill();
    const second = startProcess(store);
    const resumed = second.loop.resume(RUN);
    const ended = failure(resumed).catch(() => undefined);
    await once(second.loop, 'run:started');
    await Promise.race([submit(second.loop, idsOf(12).slice(6)), ended]);
    const { toolCalls, undelivered } = await resumed;
    expect(toolCalls.map(({ state }) => state)).to.deep.equal(idsOf(12).map(() => 'completed'));
    expect(undelivered).to.deep.equal([]);
    const { run } = (await store.load(RUN))!;
    expect(run).to.include({ state: 'completed', deliveries: 12 });
  });
});
