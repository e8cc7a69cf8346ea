/**
 * Asks a model, runs the tools that it calls, tells it the results, until it answers. One loop serves any number of concurrent runs;
 * nothing of a run lives here but its entry in the table of runs.
 */
import { randomUUID } from 'node:crypto';
import { isFinished } from '../../domain/entities/Run';
import type { RunResult, RunState, ToolStatistics } from '../../domain/entities/Run';
import { isSettled } from '../../domain/entities/Tool';
import type { ToolCall, ToolExecutionContext } from '../../domain/entities/Tool';
import { ConflictError, LLMAbortedError, LLMInvalidRequestError } from '../../domain/errors/LLMErrors';
import type { ILLMProvider } from '../../domain/interfaces/ILLMProvider';
import type { IToolExecutor } from '../../domain/interfaces/IToolExecutor';
import type { AgentEvent, AgentEventOf, AgentEventType } from '../../domain/types/AgentEvents';
import type { GenerateOptions, LooseTool } from '../../domain/types/LLMTypes';
import type { Budget, RunLimits } from '../../domain/types/RunRecords';
import { argumentsHash } from './argumentsHash';
import { normalizeOptions } from './ContentNormalizer';
import { Execution } from './Execution';
import { IsolatedEmitter } from './IsolatedEmitter';
import { ResilientProvider } from './ResilientProvider';
import { RunDriver } from './RunDriver';
import { ToolProcessor } from './ToolProcessor';
import type { Approval, ExternalResult } from './ToolProcessor';
import { resolveTools } from './ToolSet';

export interface AgenticLoopOptions extends Partial<RunLimits> {
  /** A bare provider is given the one retry policy. */
  readonly provider: ILLMProvider;
  readonly toolExecutor: IToolExecutor;
  /** Milliseconds; default 30,000. */
  readonly defaultToolTimeout?: number;
  /** UTF-8 bytes of a tool's result that the model is told; default 256 KiB. */
  readonly maxResultBytes?: number;
  /** How many finished runs can still be read; default 200. */
  readonly keepFinished?: number;
  /** Told what a listener threw; default: standard error. */
  readonly onListenerError?: (error: unknown) => void;
}

export interface ExecuteOptions extends Omit<GenerateOptions, 'tools'>, Partial<RunLimits> {
  /** Names of the executor's tools, or definitions. */
  readonly tools?: readonly (string | LooseTool)[];
  /** `wait` (default) resolves when nothing is pending; `return` at the first answer, the rest follows in `followUps`. */
  readonly onPending?: 'wait' | 'return';
  /** Asks the provider for a stream; deltas are told as `llm:delta`. */
  readonly stream?: boolean;
  readonly budget?: Budget;
  readonly executionId?: string;
}

/** Each event under its own name, and every one under `event`. */
export type AgenticLoopEvents = { [T in AgentEventType]: (event: AgentEventOf<T>) => void } & { event: (event: AgentEvent) => void };

interface RunEntry {
  readonly execution: Execution;
  readonly driver: RunDriver;
}

const DEFAULT_LIMITS: RunLimits = { maxIterations: 10, maxToolErrors: 3, maxParallelTools: 8, runTimeout: 600_000 };

export class AgenticLoop extends IsolatedEmitter<AgenticLoopEvents> {
  private readonly provider: ILLMProvider;
  private readonly toolExecutor: IToolExecutor;
  private readonly processor: ToolProcessor;
  private readonly limits: RunLimits;
  private readonly keepFinished: number;
  private readonly live = new Map<string, RunEntry>();
  private readonly finished = new Map<string, Execution>();

  constructor(options: AgenticLoopOptions) {
    super(options.onListenerError ?? ((error) => console.error('a listener of the agentic loop failed:', error)));
    const { provider, toolExecutor, defaultToolTimeout, maxResultBytes } = options;
    this.provider = provider instanceof ResilientProvider ? provider : new ResilientProvider({ provider });
    this.toolExecutor = toolExecutor;
    this.processor = new ToolProcessor({
      toolExecutor,
      ...(defaultToolTimeout === undefined ? {} : { defaultTimeout: defaultToolTimeout }),
      ...(maxResultBytes === undefined ? {} : { maxResultBytes }),
    });
    this.limits = limitsOf(options, DEFAULT_LIMITS);
    this.keepFinished = options.keepFinished ?? 200;
  }

  /**
   * Runs until the model answers and nothing is pending, or to the first answer with `onPending: 'return'`.
   * @throws LLMInvalidRequestError before anything is sent; any other LLMError ends the run and carries it in `.run`
   */
  async execute(userId: string, options: ExecuteOptions): Promise<RunResult> {
    const { tools: wanted = [], onPending, stream, executionId = randomUUID(), ...rest } = options;
    if (this.live.has(executionId)) throw new ConflictError(`the run '${executionId}' is under way`);
    const limits = limitsOf(options, this.limits);
    const tools = resolveTools(wanted, this.toolExecutor);
    const normalized = normalizeOptions({ ...generateFields(rest), ...(tools.tools.length === 0 ? {} : { tools: tools.tools }) });
    const emit = (event: AgentEvent): void => this.tell(event);
    const execution = new Execution({ id: executionId, userId, input: normalized.input, emit });
    const driver = new RunDriver({
      execution,
      provider: this.provider,
      processor: this.processor,
      tools,
      options: normalized,
      limits,
      stream: stream ?? false,
      returnsEarly: onPending === 'return',
    });
    this.live.set(executionId, { execution, driver });
    return driver.run();
  }

  /** Whose run it is, while it is live or lately finished. */
  ownerOf(executionId: string): string | undefined {
    return (this.live.get(executionId)?.execution ?? this.finished.get(executionId))?.userId;
  }

  /** A run's calls, live or lately finished. */
  getExecutionContext(executionId: string): ToolExecutionContext | undefined {
    return this.live.get(executionId)?.execution ?? this.finished.get(executionId);
  }

  getToolStatistics(executionId: string): ToolStatistics | undefined {
    return (this.live.get(executionId)?.execution ?? this.finished.get(executionId))?.statistics();
  }

  /** Ends a run; one that is over stays as it is. @throws LLMInvalidRequestError for an unknown run */
  cancel(executionId: string): RunState {
    this.live.get(executionId)?.driver.abort(new LLMAbortedError('The run was cancelled.'));
    return this.execution(executionId).state;
  }

  /** @throws LLMInvalidRequestError when no such approval is waited for, ConflictError when other arguments were shown */
  approve(executionId: string, callId: string, shownHash?: string): ToolCall['state'] {
    return this.decideCall(executionId, callId, { approved: true }, shownHash);
  }

  /** @throws as `approve` does */
  reject(executionId: string, callId: string, reason = 'no reason was given', shownHash?: string): ToolCall['state'] {
    return this.decideCall(executionId, callId, { approved: false, reason }, shownHash);
  }

  /** Gives an external tool's call its result. @throws LLMInvalidRequestError when the call takes none */
  submitToolResult(executionId: string, callId: string, result: ExternalResult): 'accepted' | 'already-settled' {
    const call = this.callOf(executionId, callId);
    if (isSettled(call)) return 'already-settled';
    if (this.live.get(executionId)?.driver.decisions.submit(callId, result) === true) return 'accepted';
    throw new LLMInvalidRequestError(`the call '${callId}' does not wait for a submitted result`, { path: 'callId' });
  }

  private decideCall(executionId: string, callId: string, approval: Approval, shownHash: string | undefined): ToolCall['state'] {
    const call = this.callOf(executionId, callId);
    if (shownHash !== undefined && shownHash !== argumentsHash(call.arguments)) {
      throw new ConflictError(`the decision on '${callId}' was made for other arguments`);
    }
    if (this.live.get(executionId)?.driver.decisions.approve(callId, approval) !== true) {
      throw new LLMInvalidRequestError(`the call '${callId}' does not wait for approval`, { path: 'callId' });
    }
    return call.state;
  }

  private callOf(executionId: string, callId: string): ToolCall {
    const call = this.execution(executionId).toolCalls.get(callId);
    if (call === undefined) throw new LLMInvalidRequestError(`the run has no call '${callId}'`, { path: 'callId' });
    return call;
  }

  private execution(executionId: string): Execution {
    const execution = this.live.get(executionId)?.execution ?? this.finished.get(executionId);
    if (execution === undefined) throw new LLMInvalidRequestError(`there is no run '${executionId}'`, { path: 'executionId' });
    return execution;
  }

  private tell(event: AgentEvent): void {
    const entry = this.live.get(event.executionId);
    if (entry !== undefined && isFinished(entry.execution.state)) this.retire(entry.execution);
    // The union and the map of listeners are built from the same type, event by event.
    (this.emit as (type: string, event: AgentEvent) => boolean)(event.type, event);
    (this.emit as (type: string, event: AgentEvent) => boolean)('event', event);
  }

  private retire(execution: Execution): void {
    this.live.delete(execution.executionId);
    this.finished.set(execution.executionId, execution);
    for (const oldest of this.finished.keys()) {
      if (this.finished.size <= this.keepFinished) break;
      this.finished.delete(oldest);
    }
  }
}

function limitsOf(wanted: Partial<RunLimits>, fallback: RunLimits): RunLimits {
  const budget = wanted.budget ?? fallback.budget;
  const limits = {
    maxIterations: wanted.maxIterations ?? fallback.maxIterations,
    maxToolErrors: wanted.maxToolErrors ?? fallback.maxToolErrors,
    maxParallelTools: wanted.maxParallelTools ?? fallback.maxParallelTools,
    runTimeout: wanted.runTimeout ?? fallback.runTimeout,
  };
  for (const [name, value] of Object.entries(limits)) {
    if (!Number.isSafeInteger(value) || value < 1) throw new LLMInvalidRequestError(`${name} must be a positive whole number`, { path: name });
  }
  return { ...limits, ...(budget === undefined ? {} : { budget }) };
}

function generateFields(options: Omit<ExecuteOptions, 'tools'>): Record<string, unknown> {
  const { maxIterations, maxToolErrors, maxParallelTools, runTimeout, budget, ...fields } = options;
  return fields;
}
