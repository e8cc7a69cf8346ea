/**
 * The span of a run in this process, `invoke_agent`, from its beginning to its end, and `execute_tool` for each of its
 * tool calls, made of the run's events. A run that another process continues continues its trace.
 */
import type { Attributes, Context, Link, SpanContext } from '@opentelemetry/api';
import type { ToolCall } from '../../domain/entities/Tool';
import type { NewRun, RouteOf } from '../../domain/interfaces/Instrumentation';
import type { ModelRoute } from '../../domain/interfaces/ILLMProvider';
import type { StoredRun } from '../../domain/interfaces/RunStore';
import { omitUndefined } from '../../domain/util/omitUndefined';
import type { AgentEventType, LocalAgentEvent } from '../../domain/types/AgentEvents';
import type { RunSums } from '../../domain/types/RunTotals';
import type { TraceContext } from '../../domain/types/TraceContext';
import type { ContentRecorder } from './ContentRecorder';
import type { TracedSpan, Tracing } from './Tracing';
import type { AttributeWriter } from './semanticConventions';
import { fromTraceContext, toSpanContext, toTraceContext } from './traceContexts';
import { usageAttributes } from './usageAttributes';

export interface SpanPorts {
  readonly write: AttributeWriter;
  /** Absent: content is not recorded. */
  readonly content: ContentRecorder | undefined;
  /** The conventions' name of the provider that a model is requested from, and the model's own name. */
  readonly targetOf: (
    requested: { readonly model?: string | undefined; readonly providerId?: string | undefined },
    route: ModelRoute | undefined,
  ) => { readonly providerName: string; readonly model: string | undefined };
}

export const TRACED_EVENTS: ReadonlySet<AgentEventType> = new Set([
  'tool:approval_required',
  'tool:needs_review',
  'tool:completed',
  'tool:failed',
  'tool:timeout',
  'tool:cancelled',
  'tool:late',
  'nonblocking:result',
  'run:completed',
  'run:failed',
  'run:cancelled',
]);

type CallEvent = Extract<LocalAgentEvent, { readonly toolCall: unknown }>;

/** By their execution ids: the model calls of a run find its span here, whoever makes them. */
const open = new Map<string, RunSpan>();

export function openRunSpan(executionId: string | undefined): RunSpan | undefined {
  return executionId === undefined ? undefined : open.get(executionId);
}

export class RunSpan {
  /** With the run's span as the active one. */
  readonly context: Context;
  readonly conversationId: string | undefined;
  private readonly executionId: string;
  private readonly span: TracedSpan;
  private readonly traces: Tracing;
  private readonly ports: SpanPorts;
  /** The spans of calls in progress. */
  private readonly calls = new Map<string, { readonly span: TracedSpan; readonly context: Context }>();
  /** Spans of acknowledged calls with pending results, some from earlier processes. */
  private readonly acknowledged = new Map<string, SpanContext>();
  private links: Link[] = [];

  constructor(traces: Tracing, ports: SpanPorts, begun: NewRun | StoredRun, routeOf: RouteOf) {
    const isStored = 'run' in begun;
    const requested = isStored ? begun.run : begun;
    const { executionId, conversationId } = requested;
    const { api } = traces;
    this.traces = traces;
    this.ports = ports;
    this.executionId = executionId;
    this.conversationId = conversationId;
    const { trace } = requested;
    const parent = trace === undefined ? traces.active : fromTraceContext(api, trace);
    this.span = traces.startSpan('invoke_agent', { kind: api.SpanKind.INTERNAL }, parent);
    this.context = this.span.in(parent);
    open.set(executionId, this);
    if (isStored)
      for (const { id, blocking, trace } of begun.calls) {
        const span = blocking || trace === undefined ? undefined : toSpanContext(api, trace);
        if (span !== undefined) this.acknowledged.set(id, span);
      }
    if (!this.span.isRecording) return;
    const target = ports.targetOf(requested, routeOf(requested.model ?? requested.providerId));
    this.span.setAttributes(
      ports.write({
        'gen_ai.operation.name': 'invoke_agent',
        'gen_ai.provider.name': target.providerName,
        ...omitUndefined({ 'gen_ai.request.model': target.model, 'gen_ai.conversation.id': conversationId }),
        'bolide.run.id': executionId,
      }),
    );
  }

  get trace(): TraceContext | undefined {
    return toTraceContext(this.traces.api, this.span.context);
  }

  /** What the next model call delivers. */
  takeLinks(): Link[] {
    const { links } = this;
    this.links = [];
    return links;
  }

  receive(event: LocalAgentEvent): void {
    switch (event.type) {
      case 'tool:approval_required':
      case 'tool:needs_review':
      case 'tool:late':
        this.note(`bolide.${event.type.replace(':', '.')}`, event);
        break;
      case 'tool:completed':
        this.settled(event, undefined, this.ports.content?.toolResult(event.result));
        break;
      case 'tool:failed':
      case 'tool:timeout':
      case 'tool:cancelled':
        this.settled(event, event.error.failure);
        break;
      case 'nonblocking:result':
        this.delivering(event.callIds);
        break;
      case 'run:completed':
        this.ended(event, undefined, { 'bolide.run.iterations': event.iterations });
        break;
      case 'run:failed':
        this.ended(event, event.error.code);
        break;
      case 'run:cancelled':
        this.ended(event, 'aborted');
        break;
      default:
    }
  }

  /** @returns the call's span, to be stored with it */
  beginTool(call: ToolCall): TraceContext | undefined {
    return toTraceContext(this.traces.api, this.executing(call).span.context);
  }

  /** In the span of its call. One that an earlier process began was not announced here. */
  runTool<T>(call: ToolCall, execute: () => T): T {
    return this.traces.within(this.executing(call).context, execute);
  }

  within<T>(work: () => T): T {
    return this.traces.within(this.context, work);
  }

  refused(errorType: string): void {
    this.span.fail(errorType);
    this.close();
  }

  /** Another process owns the run now, or will: its events end here without a last one. */
  left(): void {
    if (open.get(this.executionId) !== this && !this.span.isRecording) return;
    this.span.setAttributes({ 'bolide.run.handed_over': true });
    this.close();
  }

  private executing(call: ToolCall): { readonly span: TracedSpan; readonly context: Context } {
    const known = this.calls.get(call.id);
    if (known !== undefined) return known;
    const { write, content } = this.ports;
    // The attempt of an earlier process, which its death has cut off.
    const earlier = call.trace === undefined ? undefined : toSpanContext(this.traces.api, call.trace);
    const span = this.traces.startSpan(
      `execute_tool ${call.name}`,
      {
        kind: this.traces.api.SpanKind.INTERNAL,
        links: earlier === undefined ? [] : [{ context: earlier, attributes: { 'gen_ai.tool.call.id': call.id } }],
      },
      this.context,
    );
    if (span.isRecording)
      span.setAttributes(
        write({
          'gen_ai.operation.name': 'execute_tool',
          'gen_ai.tool.name': call.name,
          'gen_ai.tool.call.id': call.id,
          'gen_ai.tool.type': 'function',
          'bolide.tool.blocking': call.blocking,
          ...content?.toolArguments(call.arguments),
        }),
      );
    const begun = { span, context: span.in(this.context) };
    this.calls.set(call.id, begun);
    return begun;
  }

  private settled(event: CallEvent, errorType: string | undefined, attributes: Attributes = {}): void {
    const call = this.calls.get(event.callId);
    if (call === undefined) {
      // It failed before its tool began, for example because of its arguments.
      if (errorType !== undefined) this.note('bolide.tool.refused', event, { 'error.type': errorType });
      return;
    }
    this.calls.delete(event.callId);
    if (!event.toolCall.blocking) this.acknowledged.set(event.callId, call.span.context);
    call.span.setAttributes(this.ports.write(attributes));
    if (errorType !== undefined) call.span.fail(errorType);
    call.span.end();
  }

  private delivering(callIds: readonly string[]): void {
    for (const id of callIds) {
      const span = this.acknowledged.get(id);
      this.acknowledged.delete(id);
      if (span !== undefined) this.links.push({ context: span, attributes: { 'gen_ai.tool.call.id': id } });
    }
  }

  private note(name: string, { callId, name: tool }: CallEvent, attributes: Attributes = {}): void {
    this.span.addEvent(name, { 'gen_ai.tool.name': tool, 'gen_ai.tool.call.id': callId, ...attributes });
  }

  private ended({ usage, cost }: RunSums, errorType: string | undefined, attributes: Attributes = {}): void {
    if (this.span.isRecording) {
      this.span.setAttributes(this.ports.write({ ...usageAttributes(usage, 'invoke_agent'), ...attributes }));
      if (cost !== undefined) this.span.setAttributes({ 'bolide.cost.usd': cost });
    }
    if (errorType !== undefined) this.span.fail(errorType);
    this.close();
  }

  private close(): void {
    if (open.get(this.executionId) === this) open.delete(this.executionId);
    for (const { span } of this.calls.values()) {
      span.fail('cancelled');
      span.end();
    }
    this.calls.clear();
    this.span.end();
  }
}
