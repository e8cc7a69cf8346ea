/** Random programs of tools, in virtual time. */
import { expect } from 'chai';
import fc from 'fast-check';
import sinon from 'sinon';
import { AgenticLoop } from '../../imports/business/ai/application/services/AgenticLoop';
import { runOf } from '../../imports/business/ai/domain/entities/Run';
import type { RunReport } from '../../imports/business/ai/domain/entities/Run';
import { isSettled } from '../../imports/business/ai/domain/entities/Tool';
import { isLLMError, LLMServerError } from '../../imports/business/ai/domain/errors/LLMErrors';
import type { ILLMProvider } from '../../imports/business/ai/domain/interfaces/ILLMProvider';
import type { AgentEvent } from '../../imports/business/ai/domain/types/AgentEvents';
import type { GenerateOptions } from '../../imports/business/ai/domain/types/LLMTypes';
import type { Item, LLMResponse } from '../../imports/business/ai/domain/types/ResponsesAPITypes';
import { ToolRegistry } from '../../imports/business/ai/infrastructure/tools/ToolRegistry';
import { checkGrowth, checkTranscript } from '../support/checkTranscript';
import { answer, callItem, response } from '../../imports/testing/responses';
import { CAPABILITIES } from '../../imports/testing/capabilities';
import { delayed } from '../support/delayed';
import { IS_SOAK } from '../support/soak';

const PROGRAMS = IS_SOAK ? 5_000 : 100;
const SEED = Number(process.env['BOLIDE_SEED'] ?? Date.now() % 2_147_483_647);
const RUN_TIMEOUT = 3_000;
const TOOL_TIMEOUT = 40;

interface ToolPlan {
  readonly blocking: boolean;
  readonly outcome: 'resolves' | 'rejects' | 'throws' | 'never';
  /** Virtual milliseconds. */
  readonly delay: number;
  readonly delivery: 'immediate' | 'when_idle' | 'silent';
  readonly onDuplicate: 'allow' | 'reject' | 'join';
  readonly sequential: boolean;
}

interface TurnPlan {
  /** Tools called in this turn by number, and whether with an id that was used before; none is a text answer. */
  readonly calls: readonly { readonly tool: number; readonly repeatsId: boolean }[];
  readonly delay: number;
  readonly fails: boolean;
}

interface Program {
  readonly tools: readonly ToolPlan[];
  readonly turns: readonly TurnPlan[];
  readonly cancelAt: number | undefined;
  readonly returnsEarly: boolean;
  readonly maxParallelTools: number;
}

const delay = fc.integer({ min: 0, max: 60 });
const toolPlan: fc.Arbitrary<ToolPlan> = fc.record({
  blocking: fc.boolean(),
  outcome: fc.constantFrom(
    'resolves' as const,
    'resolves' as const,
    'rejects' as const,
    'throws' as const,
    'never' as const,
  ),
  delay,
  delivery: fc.constantFrom('immediate' as const, 'immediate' as const, 'when_idle' as const, 'silent' as const),
  onDuplicate: fc.constantFrom('allow' as const, 'reject' as const, 'join' as const),
  sequential: fc.boolean(),
});
const turnPlan: fc.Arbitrary<TurnPlan> = fc.record({
  calls: fc.array(fc.record({ tool: fc.integer({ min: 0, max: 4 }), repeatsId: fc.boolean() }), { maxLength: 5 }),
  delay,
  fails: fc.integer({ min: 0, max: 30 }).map((n) => n === 0),
});
const program: fc.Arbitrary<Program> = fc.record({
  tools: fc.array(toolPlan, { minLength: 5, maxLength: 5 }),
  turns: fc.array(turnPlan, { minLength: 1, maxLength: 6 }),
  cancelAt: fc.option(fc.integer({ min: 0, max: 200 }), { nil: undefined, freq: 4 }),
  returnsEarly: fc.boolean(),
  maxParallelTools: fc.integer({ min: 1, max: 4 }),
});

describe('random programs of tools', () => {
  it(`end in exactly one way by their deadline and deliver each result once, in ${PROGRAMS} programs (seed ${SEED})`, () =>
    fc.assert(fc.asyncProperty(program, runProgram), { numRuns: PROGRAMS, seed: SEED, includeErrorInReport: true }));
});

/** A model that follows the program, rejects overlapping calls, and records every request. */
class ProgrammedModel implements ILLMProvider {
  readonly requests: (readonly Item[])[] = [];
  private running = 0;
  private readonly turns: readonly TurnPlan[];
  private calls = 0;

  constructor(turns: readonly TurnPlan[]) {
    this.turns = turns;
  }

  async generate(_userId: string, options: GenerateOptions): Promise<LLMResponse> {
    this.running += 1;
    if (this.running > 1) throw new Error('two model calls of one run overlap');
    const turn = this.turns[this.requests.length];
    this.requests.push(options.input as readonly Item[]);
    await delayed(turn?.delay ?? 5);
    this.running -= 1;
    if (turn?.fails === true) throw new LLMServerError('planned', { retryable: false });
    if (turn === undefined || turn.calls.length === 0) return answer(`answer ${this.requests.length}`);
    return response({
      output: turn.calls.map(({ tool, repeatsId }) => {
        if (!repeatsId) this.calls += 1;
        return callItem({ name: `tool${tool}`, call_id: `call_${this.calls}` });
      }),
    });
  }

  stream(): never {
    throw new Error('not asked for');
  }
  getProviderName = (): string => 'programmed';
  getCapabilities = () => CAPABILITIES;
  validateAccess = () => Promise.resolve({ valid: true });
}

function registryOf(tools: readonly ToolPlan[]): ToolRegistry {
  const registry = new ToolRegistry();
  tools.forEach(({ outcome, delay: wait, ...definition }, index) => {
    let count = 0;
    registry.register({
      name: `tool${index}`,
      ...definition,
      execute: () => {
        count += 1;
        const result = `result ${count} of tool${index}`;
        if (outcome === 'throws') throw new Error(result);
        if (outcome === 'never') return new Promise(() => undefined);
        return delayed(wait).then(() => {
          if (outcome === 'resolves') return result;
          throw new Error(result);
        });
      },
    });
  });
  return registry;
}

async function runProgram({ tools, turns, cancelAt, returnsEarly, maxParallelTools }: Program): Promise<void> {
  // A separate sandbox: the shared one retains every fake it ever created, and warns about thousands of them.
  const sandbox = sinon.createSandbox();
  const clock = sandbox.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'Date'] });
  const printed = sandbox.stub(console, 'error');
  try {
    const model = new ProgrammedModel(turns);
    const loop = new AgenticLoop({
      provider: model,
      toolExecutor: registryOf(tools),
      defaultToolTimeout: TOOL_TIMEOUT,
    });
    const events: AgentEvent[] = [];
    loop.on('event', (event) => events.push(event));
    let outcome: RunReport | undefined;
    let followUpsEnded = false;
    const run = loop
      .execute('ann', {
        model: 'm',
        input: 'go',
        executionId: 'r',
        tools: tools.map((_tool, index) => `tool${index}`),
        runTimeout: RUN_TIMEOUT,
        maxParallelTools,
        onPending: returnsEarly ? 'return' : 'wait',
      })
      .then(
        (result) => (outcome = result),
        (error: unknown) => (outcome = isLLMError(error) ? runOf(error) : undefined),
      );
    if (cancelAt !== undefined) void delayed(cancelAt).then(() => loop.cancel('r'));
    await clock.runAllAsync();
    await run;
    const report = outcome;
    if (report === undefined) throw new Error('the run ended without a report');
    await (async () => {
      for await (const _answer of report.followUps);
    })().catch((error: unknown) => expect(isLLMError(error)).to.equal(true));
    followUpsEnded = true;

    expect(printed.args.map((call) => call.map(String).join(' ')).join('\n')).to.equal('');
    // Exactly one end, by the deadline, and only late results after it.
    const ends = events.filter(
      ({ type }) => type === 'run:completed' || type === 'run:failed' || type === 'run:cancelled',
    );
    expect(ends).to.have.length(1);
    expect(ends[0]!.at).to.be.at.most(RUN_TIMEOUT);
    expect(events.slice(events.indexOf(ends[0]!) + 1).filter(({ type }) => type !== 'tool:late')).to.deep.equal([]);
    expect(events.map(({ seq }) => seq)).to.deep.equal(events.map((_event, index) => index + 1));
    expect(followUpsEnded).to.equal(true);
    expect(clock.countTimers()).to.equal(0);

    // Every call has one final state, reported once.
    const calls = [...loop.getExecutionContext('r')!.toolCalls.values()];
    for (const call of calls) {
      expect(isSettled(call), `${call.id} is ${call.state}`).to.equal(true);
      const terminal = events.filter(
        (event) =>
          'callId' in event &&
          event.callId === call.id &&
          ['tool:completed', 'tool:failed', 'tool:timeout', 'tool:cancelled'].includes(event.type),
      );
      expect(terminal).to.have.length(1);
    }

    // Vendors accept every request, and the history only grows.
    model.requests.forEach((items, index) => {
      checkTranscript(items);
      const next = model.requests[index + 1];
      if (next !== undefined) checkGrowth(items, next);
    });

    // A completed run has delivered every result once, except silent ones.
    if (ends[0]!.type === 'run:completed') {
      const delivered = model.requests
        .at(-1)!
        .flatMap((item) =>
          item.type === 'function_call_output' && item.status !== 'in_progress' ? [item.call_id] : [],
        );
      for (const call of calls) {
        const isSilent = tools[Number(call.name.slice(4))]!.delivery === 'silent';
        const times = delivered.filter((id) => id === call.id).length;
        expect(times, `${call.id} was delivered ${times} times`).to.be.oneOf(isSilent ? [0, 1] : [1]);
        expect(call.deliveredIn !== undefined).to.equal(times === 1);
      }
    }
  } finally {
    sandbox.restore();
  }
}
