/**
 * The state of one run, and the only place that changes it: transcript, tool calls, late results, usage. Every change
 * is recorded in the journal before anything acts upon it, and emitted as an event.
 */
import {
  applyToolEvent,
  createToolCall,
  isDeliverable,
  isSettled,
  isUndelivered,
  TOOL_CALL_TRANSITIONS,
} from '../../../domain/entities/Tool';
import type {
  ToolCall,
  ToolCallState,
  ToolEvent,
  ToolExecutionContext,
  ToolResult,
} from '../../../domain/entities/Tool';
import { transitionRun } from '../../../domain/entities/Run';
import type { RunReport, RunState, ToolStatistics } from '../../../domain/entities/Run';
import { wellFormedItem } from '../../../domain/entities/Message';
import { omitUndefined } from '../../../domain/util/omitUndefined';
import type { RunCompaction } from '../../../domain/types/Compaction';
import type { AgentEventBody } from '../../../domain/types/AgentEvents';
import type { FunctionCallOutputItem, Item, LLMResponse, Usage } from '../../../domain/types/ResponsesAPITypes';
import type { RunTotals } from '../../../domain/types/RunTotals';
import { adoptItem } from '../ContentNormalizer';
import { FollowUps } from './FollowUps';
import { acknowledgement, deferredOutput, toolOutput } from '../MessageBuilder';
import { RunBill } from './RunBill';
import type { RunPublisher } from './RunPublisher';
import { toAgentEvent } from './toAgentEvent';
import { toToolResult } from '../tools/toolResult';

/** A call of the model's response. `id` is its id within the run; see `ToolCall.id`. */
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
  readonly publisher: RunPublisher;
  /** The run whose tool call it is. */
  readonly parentExecutionId?: string | undefined;
  /** The progress that another process made. */
  readonly restored?: RestoredState | undefined;
}

export interface RestoredState {
  /** Adopted items, input first. */
  readonly transcript: readonly Item[];
  readonly turnStart: number;
  readonly response: LLMResponse | undefined;
  readonly calls: readonly ToolCall[];
  /** Ids of calls that were answered with an acknowledgement. */
  readonly acknowledged: readonly string[];
  /** Ids of acknowledged calls that have settled without a result in the transcript, in the order of settling. */
  readonly lateResults: readonly string[];
  readonly totals: RunTotals;
  readonly iterations: number;
  readonly deliveries: number;
  readonly compaction?: RunCompaction | undefined;
  /** Not lower than the sequence number of any earlier event. */
  readonly seq: number;
}

/** Drives the run. */
export interface LiveRunDriver {
  /** Whether the model does. */
  seesImages(): boolean;
  /** A late result has arrived, and the run waits for one. */
  onArrival(): void;
}

/** Receives every change that must be persisted. */
export interface LiveRunJournal {
  runChanged(): void;
  callChanged(id: string): void;
  callProgressed(id: string): void;
}

const MAX_LISTED_TOOLS = 64;

export class LiveRun implements ToolExecutionContext {
  readonly executionId: string;
  readonly userId: string;
  readonly parentExecutionId: string | undefined;
  readonly followUps = new FollowUps();
  readonly bill: RunBill;
  private items: Item[] | undefined;
  /** Calls whose results only the store has. */
  private unloadedCalls: readonly string[] = [];
  /** By their ids within the run. */
  readonly calls = new Map<string, ToolCall>();
  /** Names of the first `MAX_LISTED_TOOLS` tools that were called, in the order of their first calls. */
  toolNames: readonly string[] = [];
  state: RunState = 'queued';
  /** Model calls that were started. */
  iterations = 0;
  /** A model call is in progress. */
  isCalling = false;
  /** Model calls that only delivered late results, and have returned. */
  deliveries = 0;
  /** The index in the transcript at which the last response begins. */
  turnStart: number;
  lastResponse: LLMResponse | undefined;
  /** What the model is sent in place of the beginning of the transcript. */
  compaction: RunCompaction | undefined;
  journal: LiveRunJournal | undefined;
  driver: LiveRunDriver | undefined;
  /** The sequence number of the last event. */
  seq = 0;
  /** Ids of the calls that have not settled, and whether they were answered with an acknowledgement. */
  private readonly open = new Map<string, boolean>();
  /** Ids of the calls in the transcript. Read from it when they are needed. */
  private usedIds: Set<string> | undefined;
  /** Ids of acknowledged calls that have settled and wait for delivery, in the order of arrival. */
  private lateResults: string[] = [];
  private isAwaitingArrivals = false;
  private publisher: RunPublisher | undefined;

  constructor({ id, userId, input, publisher, parentExecutionId, restored }: LiveRunInit) {
    this.executionId = id;
    this.userId = userId;
    this.parentExecutionId = parentExecutionId;
    this.items = [...input];
    this.publisher = publisher;
    this.bill = new RunBill(restored?.totals);
    this.turnStart = this.transcript.length;
    if (restored !== undefined) this.restore(restored);
  }

  private restore(restored: RestoredState): void {
    this.items = [...restored.transcript];
    for (const call of restored.calls) this.setCall(call);
    for (const id of restored.acknowledged) if (this.open.has(id)) this.open.set(id, true);
    this.lateResults = [...restored.lateResults];
    this.turnStart = restored.turnStart;
    this.lastResponse = restored.response;
    this.iterations = restored.iterations;
    this.deliveries = restored.deliveries;
    this.compaction = restored.compaction;
    this.seq = restored.seq;
  }

  get usage(): Usage {
    return this.bill.totals.usage;
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
    if (this.state !== to) this.state = transitionRun(this.state, to);
    this.journal?.runChanged();
  }

  /** Stops emitting events: another process continues the run and emits the rest. */
  mute(): void {
    this.publisher = undefined;
  }

  emit(event: AgentEventBody): void {
    this.seq += 1;
    if (this.publisher?.hears(event.type) !== true) return;
    const sent = { executionId: this.executionId, at: Date.now(), seq: this.seq, ...event };
    // Not enumerable, so that it is neither stored nor sent: the event's own fields describe the change.
    if ('callId' in event) Object.defineProperty(sent, 'toolCall', { value: this.calls.get(event.callId) });
    this.publisher.publish(sent);
  }

  /**
   * Appends the model's output to the transcript.
   * @returns its tool calls. A call id that the run has used before is replaced by a unique one
   */
  appendResponse(response: LLMResponse): readonly TurnCall[] {
    this.bill.addResponse(response);
    this.turnStart = this.transcript.length;
    this.lastResponse = response;
    this.journal?.runChanged();
    const calls: TurnCall[] = [];
    for (const item of response.output) {
      if (item.type !== 'function_call') {
        this.append(wellFormedItem(item));
        continue;
      }
      const id = this.uniqueId(item.call_id);
      this.append(wellFormedItem(id === item.call_id ? item : { ...item, call_id: id }));
      calls.push({ id, call_id: item.call_id, name: item.name, arguments: item.arguments });
    }
    return calls;
  }

  setCompaction(compaction: RunCompaction): void {
    this.compaction = compaction;
    this.journal?.runChanged();
  }

  /** Records a call of this turn as pending. */
  recordCall(turnCall: TurnCall, blocking: boolean): ToolCall {
    const call = createToolCall({ blocking, createdAt: Date.now(), ...turnCall });
    this.setCall(call);
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

  /** Applies an event to a call. If an acknowledged call settles, its result becomes a late result. */
  applyToolEvent(id: string, event: ToolEvent): void {
    const before = this.getCall(id);
    const isAcknowledged = this.open.get(id) === true;
    const call = applyToolEvent(before, event);
    this.setCall(call);
    if (event.type === 'tool:progress') this.journal?.callProgressed(id);
    else this.journal?.callChanged(id);
    const body = toAgentEvent(call, event);
    if (body !== undefined && call !== before) this.emit(body);
    if (isSettled(before) || !isSettled(call)) return;
    if (!isAcknowledged || !isDeliverable(call)) return;
    this.lateResults.push(id);
    this.emit({ type: 'result:arrived', callId: id, name: call.name, state: call.state });
    if (this.isAwaitingArrivals) this.driver?.onArrival();
  }

  /**
   * Adds one output per call of a turn to the transcript, in call order: its result if it has settled, otherwise the
   * acknowledgement that the result will follow.
   * @returns the ids of the calls whose results were added
   */
  answerTurn(calls: readonly TurnCall[]): readonly string[] {
    const answered: string[] = [];
    for (const { id } of calls) {
      const call = this.getCall(id);
      if (isSettled(call)) {
        this.append(toolOutput(toToolResult(call), call.name, () => this.seesImages()));
        answered.push(id);
      } else {
        this.open.set(id, true);
        this.append(acknowledgement(id, call.name));
      }
    }
    this.journal?.runChanged();
    return answered;
  }

  /** The number of late results that wait for delivery and match the predicate. */
  countUndelivered(predicate: (call: ToolCall) => boolean): number {
    return this.lateResults.filter((id) => predicate(this.getCall(id))).length;
  }

  /**
   * Moves the late results that match the predicate to the transcript, in the order of arrival.
   * @returns their call ids
   */
  takeLateResults(predicate: (call: ToolCall) => boolean): readonly string[] {
    const taken = this.lateResults.filter((id) => predicate(this.getCall(id)));
    this.lateResults = this.lateResults.filter((id) => !taken.includes(id));
    for (const id of taken) this.append(this.lateOutput(id));
    if (taken.length > 0) this.journal?.runChanged();
    return taken;
  }

  /** @param responseId the response to the request that carried the results */
  markDelivered(ids: readonly string[], responseId: string): void {
    for (const id of ids) this.applyToolEvent(id, { type: 'tool:delivered', at: Date.now(), responseId });
  }

  private seesImages(): boolean {
    return this.driver?.seesImages() ?? false;
  }

  /**
   * Tells the driver of every late result that arrives, until `endArrivals`. The run drops what it can derive again,
   * since it may wait for long.
   */
  awaitArrivals(): void {
    this.isAwaitingArrivals = true;
    this.usedIds = undefined;
    // An array that has grown item by item has room for more.
    this.items = this.transcript.slice();
  }

  endArrivals(): void {
    this.isAwaitingArrivals = false;
  }

  /** @throws Error while only the store has it */
  get transcript(): Item[] {
    if (this.items === undefined) throw new Error(`The transcript of the run "${this.executionId}" was not loaded.`);
    return this.items;
  }

  get isUnloaded(): boolean {
    return this.items === undefined;
  }

  /** Drops what the store has: the transcript, and the results that the model has received. */
  unload(): void {
    this.items = undefined;
    this.usedIds = undefined;
    const received = [...this.calls.values()].filter(
      (call) => call.state === 'completed' && call.deliveredIn !== undefined,
    );
    this.unloadedCalls = received.map(({ id }) => id);
    for (const call of received) this.calls.set(call.id, withoutResult(call));
  }

  /** @param calls as they are stored */
  load(transcript: readonly Item[], calls: readonly ToolCall[]): void {
    this.items = [...transcript];
    const unloaded = new Set(this.unloadedCalls);
    for (const call of calls) if (unloaded.has(call.id)) this.calls.set(call.id, call);
    this.unloadedCalls = [];
  }

  /** The calls that have not settled. */
  get openCalls(): readonly ToolCall[] {
    return Array.from(this.open.keys(), (id) => this.getCall(id));
  }

  /** Whether there are open calls, all of which match the predicate. */
  isEveryOpenCall(predicate: (call: ToolCall) => boolean): boolean {
    for (const id of this.open.keys()) if (!predicate(this.getCall(id))) return false;
    return this.open.size > 0;
  }

  report(): RunReport {
    const toolCalls = [...this.calls.values()];
    return omitUndefined({
      executionId: this.executionId,
      ...this.bill.totals,
      iterations: this.iterations,
      transcript: [...this.transcript],
      compaction: this.compaction,
      toolCalls,
      pending: this.openCalls,
      undelivered: toolCalls.filter(isUndelivered),
      followUps: this.followUps,
    });
  }

  statistics(): ToolStatistics {
    const states = Object.keys(TOOL_CALL_TRANSITIONS) as ToolCallState[];
    const counts = Object.fromEntries(states.map((state) => [state, 0])) as Record<ToolCallState, number>;
    let blocking = 0;
    for (const call of this.calls.values()) {
      counts[call.state] += 1;
      if (call.blocking) blocking += 1;
    }
    return { ...counts, total: this.calls.size, blocking, nonBlocking: this.calls.size - blocking };
  }

  /** @throws RangeError for an unknown call */
  getCall(id: string): ToolCall {
    const call = this.calls.get(id);
    if (call === undefined) throw new RangeError(`Run "${this.executionId}" has no tool call "${id}".`);
    return call;
  }

  private setCall(call: ToolCall): void {
    this.calls.set(call.id, call);
    // Mostly few, and a list that has grown item by item has room for more.
    if (this.toolNames.length < MAX_LISTED_TOOLS && !this.toolNames.includes(call.name))
      this.toolNames = [...this.toolNames, call.name];
    if (isSettled(call)) this.open.delete(call.id);
    else if (!this.open.has(call.id)) this.open.set(call.id, false);
  }

  /** Adopted items are frozen, and later requests need not normalize them again. */
  private append(item: Item): void {
    this.transcript.push(adoptItem(item));
  }

  private lateOutput(id: string): FunctionCallOutputItem {
    const call = this.getCall(id);
    return deferredOutput(toToolResult(call), call.name, () => this.seesImages());
  }

  private uniqueId(requested: string): string {
    this.usedIds ??= new Set(this.transcript.flatMap((item) => (item.type === 'function_call' ? [item.call_id] : [])));
    let id = requested;
    for (let count = 2; this.usedIds.has(id); count += 1) id = `${requested}_${count}`;
    this.usedIds.add(id);
    return id;
  }
}

function withoutResult(call: ToolCall): ToolCall {
  if (call.state !== 'completed') return call;
  const { images: _, ...others } = call;
  return { ...others, result: '' };
}
