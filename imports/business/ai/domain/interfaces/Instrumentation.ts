/**
 * Observes runs and model calls from outside, for traces and metrics. It is asked when each of them begins, because
 * whoever collects may come at any time: what nobody collects goes on as if there were no instrumentation.
 */
import type { ToolCall } from '../entities/Tool';
import type { AgentEvent, AgentEventType } from '../types/AgentEvents';
import type { TraceContext } from '../types/TraceContext';
import type { ILLMProvider, ModelRoute } from './ILLMProvider';
import type { StoredRun } from './RunStore';

export interface RunInstrumentation {
  /** What must be awaited before a run or a call that is to be observed begins. Undefined: nothing. */
  ready(): Promise<void> | undefined;
  /**
   * A run begins in this process: a new one, in its caller's async context, or a stored one.
   * @param routeOf as for `traceProvider`
   * @returns undefined if nobody collects anything
   */
  beginRun(run: NewRun | StoredRun, routeOf: RouteOf): RunObserver | undefined;
  /** The context to store with a run that a worker of the queue will begin. */
  currentTrace(): TraceContext | undefined;
}

export interface Instrumentation extends RunInstrumentation {
  /**
   * Decorates what model calls go through.
   * @param routeOf the provider and model that a requested model leads to, before any fallback
   */
  traceProvider(provider: ILLMProvider, routeOf: RouteOf): ILLMProvider;
}

export type RouteOf = (model: string | undefined) => ModelRoute | undefined;

export interface NewRun {
  readonly executionId: string;
  readonly model?: string | undefined;
  readonly providerId?: string | undefined;
  readonly conversationId?: string | undefined;
  /** What it belongs to. Default: its caller's async context. */
  readonly trace?: TraceContext | undefined;
}

export interface RunObserver {
  /** What is stored with the run, so that whoever continues it continues its trace. */
  readonly trace: TraceContext | undefined;
  /** Whether it takes events of this type. */
  hears(type: AgentEventType): boolean;
  receive(event: AgentEvent): void;
  /** Does work of the run that is not part of one of its calls. */
  within<T>(work: () => T): T;
  /** The tool of a call starts, or another service does. @returns what is stored with the call */
  beginTool(call: ToolCall): TraceContext | undefined;
  /** Runs the tool of a call. */
  runTool<T>(call: ToolCall, execute: () => T): T;
  /** Makes a write of the journal. */
  write<T>(attempt: () => Promise<T>): Promise<T>;
  /** The run could not be created. */
  refused(error: unknown): void;
  /** Another process continues the run, or nobody does: it emits no more events here. */
  left(): void;
}

let current: (() => Instrumentation) | undefined;

/** That of loops and managers which are given none. */
export function currentInstrumentation(): Instrumentation | undefined {
  return current?.();
}

/** @param instrumentation called when the first loop or manager is created */
export function setInstrumentation(instrumentation: (() => Instrumentation) | undefined): void {
  current = instrumentation;
}
