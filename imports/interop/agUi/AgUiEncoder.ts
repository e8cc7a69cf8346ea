/**
 * Encodes the events of one of Bolide's runs as AG-UI 1.0 events. An AG-UI run ends when the client is needed: with an
 * interrupt for approvals, or with the pending calls of the front end's tools. Bolide's run waits, and the next AG-UI
 * run of the thread continues it. https://docs.ag-ui.com/concepts/interrupts
 */
import { omitUndefined } from '../../business/ai/domain/util/omitUndefined';
import { unreachable } from '../../business/ai/domain/util/unreachable';
import { textOfContent } from '../../business/ai/domain/entities/Content';
import { isSettled } from '../../business/ai/domain/entities/Tool';
import type { AgentEvent, FamilyEvent } from '../../business/ai/domain/types/AgentEvents';
import type { LLMResponse } from '../../business/ai/domain/types/ResponsesAPITypes';
import { AgUiCalls } from './AgUiCalls';
import type { AgUiAnswers, AgUiCall } from './AgUiCalls';
import type { AgUiEvent, AgUiOutcome } from './AgUiEvents';
import type { AgUiMessage } from './AgUiMessages';
import { AgUiSubagents } from './AgUiSubagents';
import { AgUiThread } from './AgUiThread';
import { AgUiToolState } from './AgUiToolState';
import { AgUiUsage } from './AgUiUsage';
import { toWireCallId, turnMessageId } from './agUiIds';

export interface AgUiEncoderOptions {
  readonly executionId: string;
  readonly threadId: string;
  /** The id of the AG-UI run, not of Bolide's. */
  readonly runId: string;
  readonly parentRunId?: string | undefined;
  /** The messages of the thread before this AG-UI run. */
  readonly messages: readonly AgUiMessage[];
  /** The thread's shared state before this AG-UI run. */
  readonly state?: unknown;
  /** The names of the tools that the front end executes. */
  readonly frontEndTools?: Iterable<string>;
  /** Whether someone else submits the results of the server's tool, for a run or one below it; default: no. */
  readonly isExternal?: (toolName: string, isBelow: boolean) => boolean;
  /** The calls that the client has answered with this AG-UI run. */
  readonly answered?: AgUiAnswers;
}

export class AgUiEncoder {
  private readonly options: AgUiEncoderOptions;
  private readonly thread: AgUiThread;
  private readonly calls: AgUiCalls;
  private readonly toolState: AgUiToolState;
  private readonly subagents: AgUiSubagents;
  private usage = new AgUiUsage();
  private iteration = 0;
  private openStep: string | undefined;
  private hasEnded = false;

  constructor(options: AgUiEncoderOptions) {
    this.options = options;
    const { executionId, runId, messages, state, frontEndTools = [], isExternal = () => false } = options;
    this.thread = new AgUiThread(messages, (id) => id.startsWith(`${executionId}:`));
    this.toolState = new AgUiToolState(state, { executionId, runId });
    this.subagents = new AgUiSubagents(executionId, (name) => isExternal(name, true));
    const names = new Set(frontEndTools);
    this.calls = new AgUiCalls({
      executionId,
      frontEndTools: names,
      isExternal: (name) => names.has(name) || isExternal(name, false),
    });
  }

  /** The AG-UI run is over; later events are ignored. */
  get isDone(): boolean {
    return this.hasEnded;
  }

  /** The first events of the stream. @param past what Bolide's run did before, if an earlier AG-UI run started it */
  start(past: readonly AgentEvent[] = []): readonly AgUiEvent[] {
    const { threadId, runId, parentRunId, answered = new Map() } = this.options;
    for (const event of past) this.encodeOne(event);
    this.calls.setAnswered(answered);
    this.subagents.setAnswered(answered);
    this.thread.addKnown();
    this.usage = new AgUiUsage();
    return [
      omitUndefined({ type: 'RUN_STARTED', threadId, runId, protocolVersion: '1.0', parentRunId }),
      ...this.toolState.snapshot,
      ...(past.length === 0 ? [] : [this.thread.snapshot]),
      ...(this.openStep === undefined ? [] : [{ type: 'STEP_STARTED', stepName: this.openStep } satisfies AgUiEvent]),
    ];
  }

  encode(event: FamilyEvent): readonly AgUiEvent[] {
    if (this.hasEnded) return [];
    const { path } = event;
    const isOwn = event.executionId === this.options.executionId;
    if (!isOwn && path === undefined) return [];
    const events = isOwn ? this.encodeOne(event) : this.subagents.encode(event, path ?? []);
    const encoded = this.withSubagents(events, isOwn).map((each) => ({ timestamp: event.at, ...each }));
    if (!isOwn) return encoded;
    // Set by the event's encoding.
    if ((this.hasEnded as boolean) || !this.calls.isStuck) return encoded;
    return [...encoded, ...this.end()];
  }

  /** Ends the stream of a run that goes on: it waits for the client. */
  end(): readonly AgUiEvent[] {
    if (this.hasEnded) return [];
    const outcome = this.outcome;
    if (outcome === undefined) return this.fail({ code: 'not-found', message: 'The run no longer exists.' });
    // A client resumes from the messages and the state that it has, so it gets all of them before it is asked.
    return this.withSubagents([...this.toolState.snapshot, this.thread.snapshot, ...this.finish(outcome)]);
  }

  /**
   * Leaves a run that has ended without messages that it was sent, for another one that answers them.
   * @param messageIds the messages, which end the thread from then on
   */
  leave(messageIds: Iterable<string>): readonly AgUiEvent[] {
    return this.withSubagents([...this.close(), ...[...messageIds].flatMap((id) => this.thread.moveToEnd(id))]);
  }

  /** The messages of the thread as they are now, without those of subagents. */
  get messages(): readonly AgUiMessage[] {
    return this.thread.copies;
  }

  /** Ends the stream with an error that is not the run's. */
  fail(error: { readonly code: string; readonly message: string }): readonly AgUiEvent[] {
    if (this.hasEnded) return [];
    this.hasEnded = true;
    return [...this.thread.cutTurn(), { type: 'RUN_ERROR', message: error.message, code: error.code }];
  }

  private get outcome(): AgUiOutcome | undefined {
    const { outcome } = this.calls;
    const { interrupts } = this.subagents;
    if (interrupts.length === 0) return outcome;
    return {
      type: 'interrupt',
      interrupts: [...(outcome?.type === 'interrupt' ? outcome.interrupts : []), ...interrupts],
    };
  }

  /**
   * A client drops the messages that a snapshot leaves out.
   * @param isOwn whether snapshots have the messages of the thread. Default: true
   */
  private withSubagents(events: readonly AgUiEvent[], isOwn = true): readonly AgUiEvent[] {
    return events.map((event) =>
      event.type === 'MESSAGES_SNAPSHOT'
        ? { ...event, messages: [...(isOwn ? event.messages : this.thread.copies), ...this.subagents.messages] }
        : event,
    );
  }

  private encodeOne(event: AgentEvent): readonly AgUiEvent[] {
    switch (event.type) {
      case 'run:started':
        // Emitted again by a process that takes the run over; it repeats the model call that was cut off.
        return this.thread.discardTurn();
      case 'iteration:start':
        return this.startTurn(event.iteration);
      case 'llm:delta':
        return event.kind === 'reasoning' ? this.thread.addReasoning(event.delta) : this.thread.addText(event.delta);
      case 'llm:retry': {
        const { type: _type, executionId: _executionId, at: _at, seq: _seq, ...value } = event;
        return [...this.thread.openTurn(this.turnId), custom('bolide:retry', value)];
      }
      case 'llm:interrupted':
        return [
          ...this.thread.closeTurn(event.item === undefined ? [] : [event.item]),
          custom('bolide:interrupted', { iteration: event.iteration }),
        ];
      case 'message:delivered':
        return this.thread.addUserMessage(event.messageId, textOfContent(event.item.content));
      case 'llm:response':
        return this.endTurn(event.iteration, event.response);
      case 'tool:pending': {
        if (this.calls.get(event.callId) !== undefined) return [];
        const { callId, name, blocking } = event;
        const call: AgUiCall = { callId, name, blocking, arguments: event.arguments, state: 'pending' };
        this.calls.add(call);
        return [
          ...this.thread.addCall(this.turnId, {
            id: this.wireId(callId),
            type: 'function',
            function: { name, arguments: event.arguments },
          }),
          ...this.toolState.set(this.wireId(callId), stateOf(call)),
        ];
      }
      case 'tool:approval_required': {
        const { callId, name, argumentsHash } = event;
        const value = { toolCallId: this.wireId(callId), callId, name, arguments: event.arguments, argumentsHash };
        return [...this.applyToCall(event), custom('bolide:approval_required', value)];
      }
      case 'tool:input_required': {
        const { callId, name, input, expiresAt } = event;
        const value = { toolCallId: this.wireId(callId), callId, name, input, expiresAt };
        return [...this.applyToCall(event), custom('bolide:input_required', value)];
      }
      case 'tool:input_received':
      case 'tool:executing':
      case 'tool:needs_review':
      case 'tool:progress':
        return this.applyToCall(event);
      case 'tool:completed':
        return [...this.applyToCall(event), ...this.addResult(event.callId, event.result)];
      case 'tool:failed':
      case 'tool:timeout':
      case 'tool:cancelled':
        return [...this.applyToCall(event), ...this.addResult(event.callId, `Error: ${event.error.message}`)];
      case 'tool:late':
        return [custom('bolide:late_return', { toolCallId: this.wireId(event.callId), result: event.result })];
      case 'history:compacted':
        return [
          custom('bolide:history_compacted', {
            reason: event.reason,
            tokensBefore: event.tokensBefore,
            tokensAfter: event.tokensAfter,
          }),
        ];
      case 'result:arrived':
        this.calls.addLateResult();
        return [];
      case 'nonblocking:result':
        this.calls.deliverLateResults();
        return [custom('bolide:late_results', { toolCallIds: event.callIds.map((callId) => this.wireId(callId)) })];
      // `tool:pending` has all arguments, `llm:response` the same response, and the run's own end the error.
      case 'tool:arguments_delta':
      case 'nonblocking:llm_response':
      case 'nonblocking:error':
        return [];
      case 'run:parked':
        return [custom('bolide:parked', { reason: event.reason, message: event.message })];
      case 'run:awaiting_tools':
        return [custom('bolide:awaiting_tools', { names: event.names })];
      case 'run:completed':
        return this.finish({ type: 'success' }, event.response.output_text);
      case 'run:cancelled':
        return this.finish({ type: 'cancelled' });
      case 'run:failed': {
        const { message, code } = event.error;
        this.hasEnded = true;
        return [...this.thread.cutTurn(), { type: 'RUN_ERROR', message, code, ...this.usage.fields }];
      }
      default:
        return unreachable(event);
    }
  }

  private startTurn(iteration: number): readonly AgUiEvent[] {
    this.iteration = iteration;
    this.calls.startModelCall();
    const discarded = this.thread.openTurn(this.turnId);
    const stepName = `turn ${iteration}`;
    const events: AgUiEvent[] = [...discarded, ...this.endStep(), { type: 'STEP_STARTED', stepName }];
    this.openStep = stepName;
    return events;
  }

  private endTurn(iteration: number, response: LLMResponse): readonly AgUiEvent[] {
    // The stream may have been opened while the model was called.
    const opened = this.iteration === iteration && this.thread.hasOpenTurn ? [] : this.startTurn(iteration);
    this.calls.endModelCall(response);
    this.usage.add(response);
    return [...opened, ...this.thread.closeTurn(response.output)];
  }

  private applyToCall(event: Extract<AgentEvent, { readonly callId: string }>): readonly AgUiEvent[] {
    const call = this.calls.apply(event);
    if (call === undefined) return [];
    const ended = isSettled(call) ? this.subagents.settle(event) : [];
    return [...ended, ...this.toolState.set(this.wireId(call.callId), stateOf(call))];
  }

  private addResult(callId: string, content: string): readonly AgUiEvent[] {
    return this.thread.addResult(this.wireId(callId), content);
  }

  private finish(outcome: AgUiOutcome, text?: string): readonly AgUiEvent[] {
    const { executionId, threadId, runId } = this.options;
    this.hasEnded = true;
    return [
      ...this.close(),
      {
        type: 'RUN_FINISHED',
        threadId,
        runId,
        result: omitUndefined({ executionId, text }),
        outcome,
        ...this.usage.fields,
      },
    ];
  }

  private close(): readonly AgUiEvent[] {
    return [...this.subagents.suspend(), ...this.thread.cutTurn(), ...this.endStep()];
  }

  private endStep(): readonly AgUiEvent[] {
    const stepName = this.openStep;
    this.openStep = undefined;
    return stepName === undefined ? [] : [{ type: 'STEP_FINISHED', stepName }];
  }

  private get turnId(): string {
    return turnMessageId(this.options.executionId, this.iteration);
  }

  private wireId(callId: string): string {
    return toWireCallId({ executionId: this.options.executionId, callId });
  }
}

function stateOf({ name, blocking, state, progress, note, error }: AgUiCall) {
  return omitUndefined({ name, blocking, state, progress, note, error });
}

function custom(name: string, value: object): AgUiEvent {
  return { type: 'CUSTOM', name, value };
}
