/**
 * The spans of runs: `invoke_agent` from a run's first event to its last, and `execute_tool` for each tool call, made
 * of the events that the agentic loop emits. A run that another process continues continues its trace.
 */
import { context, SpanKind, SpanStatusCode, trace } from '@opentelemetry/api';
import type { Attributes, Context, Link, Span, SpanContext, Tracer } from '@opentelemetry/api';
import type { AgentEvent, AgentEventOf, AgentEventType, LocalAgentEvent } from '../../domain/types/AgentEvents';
import type { ToolCall } from '../../domain/entities/Tool';
import type { ToolCallContext } from '../../domain/interfaces/IToolExecutor';
import type { RunRequest } from '../../domain/types/RunRecords';
import type { RunSums } from '../../domain/types/RunTotals';
import type { TraceContext } from '../../domain/types/TraceContext';
import type { ContentRecorder } from './ContentRecorder';
import type { AttributeWriter } from './semanticConventions';
import { hasTraceSdk } from './installedSdk';
import { fromTraceContext, toTraceContext } from './traceContexts';
import { usageAttributes } from './usageAttributes';

export interface RunSpansPorts {
  readonly tracer: Tracer;
  readonly write: AttributeWriter;
  /** Absent: content is not recorded. */
  readonly content: ContentRecorder | undefined;
  /** The conventions' name of the provider that a model is requested from, and the model's own name. */
  readonly targetOf: (
    model: string | undefined,
    providerId: string | undefined,
  ) => { readonly providerName: string; readonly model: string | undefined };
}

/** An agentic loop. */
export interface RunEvents {
  on(type: never, listener: never): unknown;
}

type Local<T extends AgentEventType> = LocalAgentEvent<AgentEventOf<T>>;

export interface TracedRun {
  readonly span: Span;
  /** With the run's span as the active one. */
  readonly context: Context;
  readonly conversationId: string | undefined;
  /** The spans of calls in progress. */
  readonly calls: Map<string, { readonly span: Span; readonly context: Context }>;
  /** Of acknowledged calls that have settled and whose results are not delivered yet. */
  readonly settled: Map<string, SpanContext>;
  /** What the next model call delivers. */
  links: Link[];
}

type RunFacts = { readonly [F in 'model' | 'providerId' | 'conversationId']: string | undefined };

type CallEvent = Extract<AgentEvent, { readonly callId: string }>;

export class RunSpans {
  private readonly ports: RunSpansPorts;
  private readonly runs = new Map<string, TracedRun>();
  /** The contexts of runs that were claimed and have not started. */
  private readonly claimed = new Map<string, Context>();

  constructor(ports: RunSpansPorts) {
    this.ports = ports;
  }

  /** How many spans of runs are open. */
  get size(): number {
    return this.runs.size;
  }

  find(executionId: string | undefined): TracedRun | undefined {
    return executionId === undefined ? undefined : this.runs.get(executionId);
  }

  watch(loop: RunEvents): void {
    const note = (event: CallEvent): void => this.note(`bolide.${event.type.replace(':', '.')}`, event);
    const fails = (event: Local<'tool:failed' | 'tool:timeout' | 'tool:cancelled'>): void =>
      this.settled(event, event.error.failure);
    const listeners: { readonly [T in AgentEventType]?: (event: Local<T>) => void } = {
      'run:started': (event) => this.started(event),
      'tool:approval_required': note,
      'tool:needs_review': note,
      'tool:executing': (event) => this.executing(event, event.name, event.toolCall),
      'tool:completed': (event) => this.settled(event, undefined, this.ports.content?.toolResult(event.result)),
      'tool:failed': fails,
      'tool:timeout': fails,
      'tool:cancelled': fails,
      'tool:late': note,
      'nonblocking:result': ({ executionId, callIds }) => this.delivering(executionId, callIds),
      'run:completed': (event) => this.ended(event, undefined, { 'bolide.run.iterations': event.iterations }),
      'run:failed': (event) => this.ended(event, event.error.code),
      'run:cancelled': (event) => this.ended(event, 'aborted'),
    };
    // Boundary: the table relates each type to its listener.
    for (const [type, listener] of Object.entries(listeners)) loop.on(type as never, listener as never);
  }

  /** The context in which a tool runs. A call that an earlier process began is not announced again. */
  contextOf(name: string, call: Pick<ToolCallContext, 'executionId' | 'callId'>): Context | undefined {
    this.executing(call, name, undefined);
    return this.runs.get(call.executionId)?.calls.get(call.callId)?.context;
  }

  /**
   * The context to store with a run that is created. One that runs at once begins its span here; a queued one belongs
   * to whoever queues it.
   */
  created(request: RunRequest, state: 'queued' | 'running'): TraceContext | undefined {
    if (state === 'queued') return toTraceContext(context.active());
    const { executionId, model, providerId, conversationId } = request;
    this.begin(executionId, context.active(), { model, providerId, conversationId });
    const run = this.runs.get(executionId);
    return run === undefined ? undefined : toTraceContext(run.context);
  }

  /** The run could not be created. */
  refused(executionId: string, errorType: string): void {
    const run = this.runs.get(executionId);
    if (run === undefined) return;
    this.runs.delete(executionId);
    fail(run.span, errorType);
    run.span.end();
  }

  claim(executionId: string, stored: TraceContext | undefined): void {
    if (stored !== undefined) this.claimed.set(executionId, fromTraceContext(stored));
  }

  /** Another process owns the run now, or will: its events end here without a last one. */
  left(executionId: string): void {
    this.claimed.delete(executionId);
    const run = this.runs.get(executionId);
    if (run === undefined) return;
    run.span.setAttribute('bolide.run.handed_over', true);
    this.close(executionId, run);
  }

  leaveAll(): void {
    this.claimed.clear();
    for (const executionId of [...this.runs.keys()]) this.left(executionId);
  }

  private started({ executionId, model, providerId, conversationId }: AgentEventOf<'run:started'>): void {
    if (this.runs.has(executionId)) return;
    const parent = this.claimed.get(executionId) ?? context.active();
    this.claimed.delete(executionId);
    this.begin(executionId, parent, { model, providerId, conversationId });
  }

  /** Without an SDK, spans are not valid and nothing is kept. One that is not sampled still passes its context on. */
  private begin(executionId: string, parent: Context, { model, providerId, conversationId }: RunFacts): void {
    if (!hasTraceSdk()) return;
    const span = this.ports.tracer.startSpan('invoke_agent', { kind: SpanKind.INTERNAL }, parent);
    if (!trace.isSpanContextValid(span.spanContext())) return;
    if (span.isRecording()) {
      const target = this.ports.targetOf(model, providerId);
      span.setAttributes(
        this.ports.write({
          'gen_ai.operation.name': 'invoke_agent',
          'gen_ai.provider.name': target.providerName,
          ...(target.model === undefined ? {} : { 'gen_ai.request.model': target.model }),
          ...(conversationId === undefined ? {} : { 'gen_ai.conversation.id': conversationId }),
          'bolide.run.id': executionId,
        }),
      );
    }
    this.runs.set(executionId, {
      span,
      context: trace.setSpan(parent, span),
      conversationId,
      calls: new Map(),
      settled: new Map(),
      links: [],
    });
  }

  /** @param call undefined for one whose start was not announced */
  private executing(
    { executionId, callId }: Pick<ToolCallContext, 'executionId' | 'callId'>,
    name: string,
    call: ToolCall | undefined,
  ): void {
    const run = this.runs.get(executionId);
    if (run === undefined || run.calls.has(callId)) return;
    const { write, content, tracer } = this.ports;
    const span = tracer.startSpan(`execute_tool ${name}`, { kind: SpanKind.INTERNAL }, run.context);
    if (span.isRecording())
      span.setAttributes(
        write({
          'gen_ai.operation.name': 'execute_tool',
          'gen_ai.tool.name': name,
          'gen_ai.tool.call.id': callId,
          'gen_ai.tool.type': 'function',
          ...(call === undefined ? {} : { 'bolide.tool.blocking': call.blocking }),
          ...(call === undefined ? {} : content?.toolArguments(call.arguments)),
        }),
      );
    run.calls.set(callId, { span, context: trace.setSpan(run.context, span) });
  }

  private settled(event: LocalAgentEvent<CallEvent>, errorType: string | undefined, attributes: Attributes = {}): void {
    const run = this.runs.get(event.executionId);
    if (run === undefined) return;
    const call = run.calls.get(event.callId);
    if (call === undefined) {
      // It failed before its tool began, for example because of its arguments.
      if (errorType !== undefined) this.note('bolide.tool.refused', event, { 'error.type': errorType });
      return;
    }
    run.calls.delete(event.callId);
    if (!event.toolCall.blocking) run.settled.set(event.callId, call.span.spanContext());
    call.span.setAttributes(this.ports.write(attributes));
    if (errorType !== undefined) fail(call.span, errorType);
    call.span.end();
  }

  private delivering(executionId: string, callIds: readonly string[]): void {
    const run = this.runs.get(executionId);
    if (run === undefined) return;
    for (const id of callIds) {
      const settled = run.settled.get(id);
      run.settled.delete(id);
      if (settled !== undefined) run.links.push({ context: settled, attributes: { 'gen_ai.tool.call.id': id } });
    }
  }

  private note(name: string, { executionId, callId, name: tool }: CallEvent, attributes: Attributes = {}): void {
    this.runs
      .get(executionId)
      ?.span.addEvent(name, { 'gen_ai.tool.name': tool, 'gen_ai.tool.call.id': callId, ...attributes });
  }

  private ended(
    event: { readonly executionId: string } & RunSums,
    errorType: string | undefined,
    attributes: Attributes = {},
  ): void {
    const run = this.runs.get(event.executionId);
    if (run === undefined) return;
    if (run.span.isRecording()) {
      run.span.setAttributes(this.ports.write({ ...usageAttributes(event.usage, 'invoke_agent'), ...attributes }));
      if (event.cost !== undefined) run.span.setAttribute('bolide.cost.usd', event.cost);
    }
    if (errorType !== undefined) fail(run.span, errorType);
    this.close(event.executionId, run);
  }

  private close(executionId: string, { span, calls }: TracedRun): void {
    this.runs.delete(executionId);
    for (const call of calls.values()) {
      fail(call.span, 'cancelled');
      call.span.end();
    }
    span.end();
  }
}

/** The message may quote what was said, so a span has only the type. */
export function fail(span: Span, errorType: string): void {
  span.setAttribute('error.type', errorType);
  span.setStatus({ code: SpanStatusCode.ERROR });
}
