/** A run's tool calls as its events report them, and which of them keep the run from continuing. */
import { argumentsHash } from '../../business/ai/application/services/shared/argumentsHash';
import {
  acceptsDecision,
  isSettled,
  needsApproval,
  needsReview,
  STATE_AFTER_EVENT,
} from '../../business/ai/domain/entities/Tool';
import type { InputRequest, ToolCallState } from '../../business/ai/domain/entities/Tool';
import type { AgentEvent } from '../../business/ai/domain/types/AgentEvents';
import type { LLMResponse } from '../../business/ai/domain/types/ResponsesAPITypes';
import { omitUndefined } from '../../business/ai/domain/util/omitUndefined';
import type { AgUiInterrupt, AgUiOutcome } from './AgUiEvents';
import { toInterruptId, toWireCallId } from './agUiIds';

export interface AgUiCall {
  readonly callId: string;
  readonly name: string;
  readonly blocking: boolean;
  readonly arguments: string;
  readonly state: ToolCallState;
  /** For a call under review: when the attempt began, in milliseconds since the epoch. */
  readonly startTime?: number;
  /** What its tool asks, by the id that answers name. */
  readonly input?: InputRequest | undefined;
  readonly progress?: number;
  readonly note?: string;
  readonly error?: string;
}

/** What the client has sent for a call. */
export type AgUiAnswer = 'decision' | 'result';
/** By call id. */
export type AgUiAnswers = ReadonlyMap<string, AgUiAnswer>;

export interface AgUiCallsOptions {
  readonly executionId: string;
  /** The names of the tools that the front end executes. */
  readonly frontEndTools: ReadonlySet<string>;
  /** Whether someone else submits the results of the server's tool. */
  readonly isExternal: (toolName: string) => boolean;
}

export class AgUiCalls {
  private readonly options: AgUiCallsOptions;
  private readonly calls = new Map<string, AgUiCall>();
  /** What the run does now: call the model, run the calls of its response, or wait for late results. */
  private phase: 'model' | 'tools' | 'late-results' = 'model';
  /** Calls that the client has answered, which their events do not show yet. */
  private answered: AgUiAnswers = new Map();
  /** Late results that the next model call delivers. */
  private arrived = 0;

  constructor(options: AgUiCallsOptions) {
    this.options = options;
  }

  add(call: AgUiCall): void {
    this.calls.set(call.callId, call);
  }

  get(callId: string): AgUiCall | undefined {
    return this.calls.get(callId);
  }

  setAnswered(answered: AgUiAnswers): void {
    this.answered = answered;
  }

  startModelCall(): void {
    this.phase = 'model';
  }

  endModelCall(response: LLMResponse): void {
    const callsTools = response.output.some(({ type }) => type === 'function_call');
    // Anthropic's paused turns are continued at once.
    if (response.vendor.finish_reason !== 'pause_turn') this.phase = callsTools ? 'tools' : 'late-results';
  }

  addLateResult(): void {
    this.arrived += 1;
  }

  /** The next model call follows at once. */
  deliverLateResults(): void {
    this.arrived = 0;
    this.phase = 'model';
  }

  /** @returns the call after the event, or undefined if it is not known */
  apply(event: Extract<AgentEvent, { readonly callId: string }>): AgUiCall | undefined {
    const call = this.calls.get(event.callId);
    if (call === undefined || isSettled(call)) return call;
    const next: AgUiCall = {
      ...call,
      ...(event.type in STATE_AFTER_EVENT
        ? { state: STATE_AFTER_EVENT[event.type as keyof typeof STATE_AFTER_EVENT] }
        : {}),
      ...(event.type === 'tool:progress' ? { progress: event.fraction } : {}),
      ...(event.type === 'tool:progress' && event.note !== undefined ? { note: event.note } : {}),
      ...(event.type === 'tool:input_required' ? { input: event.input } : {}),
      ...(event.type === 'tool:input_received' ? { input: undefined } : {}),
      ...(event.type === 'tool:needs_review' ? { startTime: event.startTime } : {}),
      ...('error' in event ? { error: event.error.message } : {}),
    };
    this.calls.set(event.callId, next);
    return next;
  }

  /** The run can continue only after the client has answered. */
  get isStuck(): boolean {
    if (this.phase === 'model' || !this.open.some((call) => this.waitsForClient(call))) return false;
    const blocking = this.open.filter((call) => call.blocking);
    if (blocking.length > 0) return blocking.every((call) => this.waitsForClient(call));
    return this.phase === 'late-results' && this.arrived === 0;
  }

  /** How the AG-UI run ends while Bolide's goes on; undefined if no call waits for the client. */
  get outcome(): AgUiOutcome | undefined {
    const waiting = this.open.filter((call) => this.waitsForClient(call));
    if (waiting.length === 0) return undefined;
    const interrupts = waiting.filter((call) => !this.isFrontEnd(call)).map((call) => this.interruptOf(call));
    return interrupts.length > 0
      ? { type: 'interrupt', interrupts }
      : { type: 'success', pendingToolCallIds: waiting.map((call) => this.wireId(call)) };
  }

  private get open(): readonly AgUiCall[] {
    return [...this.calls.values()].filter((call) => !isSettled(call));
  }

  private waitsForClient(call: AgUiCall): boolean {
    const answer = this.answered.get(call.input?.id ?? call.callId);
    if (acceptsDecision(call)) return answer === undefined;
    return (
      call.state === 'executing' && answer !== 'result' && (this.isFrontEnd(call) || this.options.isExternal(call.name))
    );
  }

  private isFrontEnd(call: AgUiCall): boolean {
    return call.state === 'executing' && this.options.frontEndTools.has(call.name);
  }

  private interruptOf(call: AgUiCall): AgUiInterrupt {
    const { executionId } = this.options;
    const { callId, name, input } = call;
    const startTime = needsReview(call) ? call.startTime : undefined;
    const shownHash = argumentsHash(call.arguments);
    return {
      id: toInterruptId({
        executionId,
        callId: input?.id ?? callId,
        argumentsHash: shownHash,
        startTime,
      }),
      toolCallId: this.wireId(call),
      ...(needsApproval(call)
        ? { reason: 'tool_call', message: `The tool "${name}" needs approval.`, responseSchema: APPROVAL }
        : needsReview(call)
          ? {
              reason: 'bolide:review',
              message: `The tool "${name}" was interrupted, and may have taken effect. Approve to run it again, or supply its result.`,
              responseSchema: REVIEW,
            }
          : input !== undefined
            ? { reason: 'bolide:input', message: input.message, responseSchema: answerSchema(input) }
            : {
                reason: 'bolide:result',
                message: `The tool "${name}" is waiting for a result.`,
                responseSchema: RESULT,
              }),
      metadata: {
        bolide: omitUndefined({
          executionId,
          callId,
          name,
          arguments: call.arguments,
          argumentsHash: shownHash,
          url: input?.url,
        }),
      },
    };
  }

  private wireId({ callId }: AgUiCall): string {
    return toWireCallId({ executionId: this.options.executionId, callId });
  }
}

/** @returns of the answer to what a tool asks */
function answerSchema({ schema }: InputRequest): Readonly<Record<string, unknown>> {
  return schema === undefined ? APPROVAL : { type: 'object', properties: { output: schema, error: ERROR } };
}

const APPROVED = { type: 'boolean' };
const REASON = { type: 'string', description: 'Why the call is rejected; sent to the model.' };
const OUTPUT = { description: 'The result of the call: a string, or any JSON.' };
const ERROR = { type: 'string', description: 'Why there is no result; sent to the model.' };

const APPROVAL = { type: 'object', properties: { approved: APPROVED, reason: REASON }, required: ['approved'] };
const RESULT = { type: 'object', properties: { output: OUTPUT, error: ERROR } };
const REVIEW = { type: 'object', properties: { approved: APPROVED, reason: REASON, output: OUTPUT, error: ERROR } };
