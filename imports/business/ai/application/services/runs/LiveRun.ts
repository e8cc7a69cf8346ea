/**
 * One run's facts and the only place that changes them: transcript, tool calls, inbox, usage. A fact is recorded
 * before anything acts upon it, and every change is told as an event.
 */
import { applyToolEvent, createToolCall, isSettled } from '../../../domain/entities/Tool';
import type { ToolCall, ToolEvent, ToolExecutionContext, ToolResult } from '../../../domain/entities/Tool';
import { moveRun } from '../../../domain/entities/Run';
import type { RunReport, RunState, ToolStatistics } from '../../../domain/entities/Run';
import { addUsage, NO_USAGE } from '../../../domain/entities/Response';
import { wellFormedItem } from '../../../domain/entities/Message';
import type { AgentEvent, AgentEventBody } from '../../../domain/types/AgentEvents';
import type { FunctionCallOutputItem, Item, LLMResponse, Usage } from '../../../domain/types/ResponsesAPITypes';
import { adoptItem } from '../ContentNormalizer';
import { FollowUps } from './FollowUps';
import { acknowledgement, deferredOutput, toolOutput } from '../MessageBuilder';
import { toAgentEvent } from './toAgentEvent';
import { toToolResult } from '../toolResults';

/** A call as the model made it, under the id that it has in this run. */
export interface TurnCall {
  readonly id: string;
  readonly call_id: string;
  readonly name: string;
  readonly arguments: string;
}

export interface LiveRunInit {
  readonly id: string;
  readonly userId: string;
  readonly input: readonly Item[];
  readonly emit: (event: AgentEvent) => void;
  /** What another process did of it. */
  readonly past?: RestoredState;
}

export interface RestoredState {
  /** Adopted items, input first. */
  readonly transcript: readonly Item[];
  readonly turnStart: number;
  readonly response: LLMResponse | undefined;
  readonly calls: readonly ToolCall[];
  /** Calls that were answered with an acknowledgement. */
  readonly acknowledged: readonly string[];
  /** Those of them that have settled and of which the model was not told, in the order in which they did. */
  readonly inbox: readonly string[];
  readonly usage: Usage;
  readonly iterations: number;
  /** Every event so far had a lower one. */
  readonly seq: number;
}

/** Told of what has to be written down. */
export interface LiveRunJournal {
  runChanged(): void;
  callChanged(id: string): void;
  callProgressed(id: string): void;
}

export class LiveRun implements ToolExecutionContext {
  readonly executionId: string;
  readonly userId: string;
  readonly followUps = new FollowUps();
  readonly transcript: Item[];
  readonly calls = new Map<string, ToolCall>();
  private readonly open = new Map<string, ToolCall>();
  state: RunState = 'queued';
  usage: Usage = NO_USAGE;
  iterations = 0;
  /** Where in the transcript the last response begins. */
  turnStart: number;
  lastResponse: LLMResponse | undefined;
  journal: LiveRunJournal | undefined;
  /** Of the last event. */
  seq = 0;
  private readonly usedIds: Set<string>;
  /** Acknowledged calls that settled, in arrival order. */
  private inbox: string[] = [];
  private readonly acknowledged = new Set<string>();
  private wake: (() => void) | undefined;
  private send: (event: AgentEvent) => void;

  constructor(facts: LiveRunInit) {
    this.executionId = facts.id;
    this.userId = facts.userId;
    this.transcript = [...facts.input];
    this.usedIds = new Set(facts.input.flatMap((item) => (item.type === 'function_call' ? [item.call_id] : [])));
    this.send = facts.emit;
    this.turnStart = this.transcript.length;
    if (facts.past !== undefined) this.restore(facts.past);
  }

  private restore(past: RestoredState): void {
    this.transcript.splice(0, Infinity, ...past.transcript);
    for (const item of past.transcript) if (item.type === 'function_call') this.usedIds.add(item.call_id);
    for (const call of past.calls) this.keep(call);
    for (const id of past.acknowledged) this.acknowledged.add(id);
    this.inbox = [...past.inbox];
    this.turnStart = past.turnStart;
    this.lastResponse = past.response;
    this.usage = past.usage;
    this.iterations = past.iterations;
    this.seq = past.seq;
  }

  get toolCalls(): ReadonlyMap<string, ToolCall> {
    return this.calls;
  }

  get pendingNonBlocking(): ReadonlySet<string> {
    return new Set(this.openCalls.filter(({ blocking }) => !blocking).map(({ id }) => id));
  }

  get completedResults(): ReadonlyMap<string, ToolResult> {
    return new Map([...this.calls.values()].filter(isSettled).map((call) => [call.id, toToolResult(call)]));
  }

  transition(to: RunState): void {
    if (this.state !== to) this.state = moveRun(this.state, to);
    this.journal?.runChanged();
  }

  /** The run goes on in another process, which tells the rest. */
  mute(): void {
    this.send = () => undefined;
  }

  emit(event: AgentEventBody): void {
    this.seq += 1;
    this.send({ executionId: this.executionId, at: Date.now(), seq: this.seq, ...event });
  }

  /** Appends the model's output; calls that repeat an id that this run has seen get one of their own. */
  appendResponse(response: LLMResponse): readonly TurnCall[] {
    this.usage = addUsage(this.usage, response.usage);
    this.turnStart = this.transcript.length;
    this.lastResponse = response;
    this.journal?.runChanged();
    const calls: TurnCall[] = [];
    for (const item of response.output) {
      if (item.type !== 'function_call') {
        this.append(wellFormedItem(item));
        continue;
      }
      const id = this.ownId(item.call_id);
      this.append(wellFormedItem(id === item.call_id ? item : { ...item, call_id: id }));
      calls.push({ id, call_id: item.call_id, name: item.name, arguments: item.arguments });
    }
    return calls;
  }

  /** Records a call of this turn as pending. */
  openCall(facts: TurnCall, blocking: boolean): ToolCall {
    const call = createToolCall({ blocking, createdAt: Date.now(), ...facts });
    this.keep(call);
    this.journal?.callChanged(call.id);
    this.emit({
      type: 'tool:pending',
      callId: call.id,
      call_id: call.call_id,
      name: call.name,
      arguments: call.arguments,
      blocking,
    });
    return call;
  }

  /** One move of one call, told as an event; an acknowledged call that settles goes to the inbox. */
  applyToolEvent(id: string, event: ToolEvent): void {
    const before = this.call(id);
    const call = applyToolEvent(before, event);
    this.keep(call);
    if (event.type === 'tool:progress') this.journal?.callProgressed(id);
    else this.journal?.callChanged(id);
    const body = toAgentEvent(call, event);
    if (body !== undefined && call !== before) this.emit(body);
    if (isSettled(before) || !isSettled(call)) return;
    if (!this.acknowledged.has(id) || call.state === 'cancelled') return;
    this.inbox.push(id);
    this.emit({ type: 'result:arrived', callId: id, name: call.name, state: call.state });
    this.wake?.();
  }

  /** Gives every call of a turn its one answer, in call order: its result, or the acknowledgement that it follows. */
  answerTurn(calls: readonly TurnCall[]): readonly string[] {
    const answered: string[] = [];
    for (const { id } of calls) {
      const call = this.call(id);
      if (isSettled(call)) {
        this.append(toolOutput(toToolResult(call), call.name));
        answered.push(id);
      } else {
        this.acknowledged.add(id);
        this.append(acknowledgement(id, call.name));
      }
    }
    this.journal?.runChanged();
    return answered;
  }

  /** Settled results that the model has not been told and that would make it speak. */
  undelivered(wakes: (call: ToolCall) => boolean): number {
    return this.inbox.filter((id) => wakes(this.call(id))).length;
  }

  /** Moves results from the inbox to the transcript, in arrival order. */
  takeLateResults(goesNow: (call: ToolCall) => boolean): readonly string[] {
    const taken = this.inbox.filter((id) => goesNow(this.call(id)));
    this.inbox = this.inbox.filter((id) => !taken.includes(id));
    for (const id of taken) this.append(this.lateOutput(id));
    if (taken.length > 0) this.journal?.runChanged();
    return taken;
  }

  /** The results reached the model with this response. */
  markDelivered(ids: readonly string[], responseId: string): void {
    for (const id of ids) this.applyToolEvent(id, { type: 'tool:delivered', at: Date.now(), responseId });
  }

  /** Resolves at the next arrival; there is no timer in it. */
  nextArrival(): Promise<void> {
    return new Promise((resolve) => {
      this.wake = () => {
        this.wake = undefined;
        resolve();
      };
    });
  }

  get openCalls(): readonly ToolCall[] {
    return [...this.open.values()];
  }

  report(): RunReport {
    const toolCalls = [...this.calls.values()];
    return {
      executionId: this.executionId,
      usage: this.usage,
      iterations: this.iterations,
      transcript: [...this.transcript],
      toolCalls,
      pending: this.openCalls,
      undelivered: toolCalls.filter(
        (call) => isSettled(call) && call.state !== 'cancelled' && call.deliveredIn === undefined,
      ),
      followUps: this.followUps,
    };
  }

  statistics(): ToolStatistics {
    const counts = {
      pending: 0,
      awaiting_approval: 0,
      executing: 0,
      needs_review: 0,
      completed: 0,
      failed: 0,
      timeout: 0,
      cancelled: 0,
    };
    let blocking = 0;
    for (const call of this.calls.values()) {
      counts[call.state] += 1;
      if (call.blocking) blocking += 1;
    }
    return { ...counts, total: this.calls.size, blocking, nonBlocking: this.calls.size - blocking };
  }

  call(id: string): ToolCall {
    const call = this.calls.get(id);
    if (call === undefined) throw new RangeError(`run ${this.executionId} has no tool call '${id}'`);
    return call;
  }

  private keep(call: ToolCall): void {
    this.calls.set(call.id, call);
    if (isSettled(call)) this.open.delete(call.id);
    else this.open.set(call.id, call);
  }

  /** From here on the item is frozen, and every later request finds it known. */
  private append(item: Item): void {
    this.transcript.push(adoptItem(item));
  }

  private lateOutput(id: string): FunctionCallOutputItem {
    const call = this.call(id);
    return deferredOutput(toToolResult(call), call.name);
  }

  private ownId(wanted: string): string {
    let id = wanted;
    for (let count = 2; this.usedIds.has(id); count += 1) id = `${wanted}_${count}`;
    this.usedIds.add(id);
    return id;
  }
}
