/**
 * The state of a run in the process that executes it, as plain data. What the store has is this state as of the last
 * write. Only `decideRun` makes a new one; nothing changes one in place.
 */
import { isFinished } from '../entities/Run';
import type { RunState } from '../entities/Run';
import { isExternalTool, isSettled, isUncertain, waitsForOthers } from '../entities/Tool';
import type { FunctionTool, ToolCall, ToolDelivery } from '../entities/Tool';
import type { LLMError } from '../errors/LLMErrors';
import type { RunCompaction } from '../types/Compaction';
import type { Item, LLMResponse } from '../types/ResponsesAPITypes';
import type { RunLimits } from '../types/RunLimits';
import type { RunDurability, RunRequest } from '../types/RunRecords';
import type { DeliveredMessage, RunMessage, QueueHint } from '../types/RunMessages';
import { NO_MESSAGES } from '../types/RunMessages';
import type { RunTotals } from '../types/RunTotals';
import { CallTable } from './CallTable';

/** What does not change while a process executes the run. */
export interface RunRules {
  readonly executionId: string;
  readonly userId: string;
  /** The model of the run's options. */
  readonly model: string;
  /** How many items of the transcript are the run's input. */
  readonly inputLength: number;
  readonly limits: RunLimits;
  /** Definitions of the offered functions by name. */
  readonly tools: ReadonlyMap<string, FunctionTool>;
  /** Names of Anthropic's tools that are offered and that the run cannot execute. */
  readonly clientTools?: readonly string[];
  /** Names of tools that were offered when the run began and that this process lacks. */
  readonly missingTools: readonly string[];
  readonly isStored: boolean;
  readonly durability: RunDurability;
  /** What `run:started` says besides. */
  readonly description: Partial<
    Pick<RunRequest, 'providerId' | 'title' | 'conversationId' | 'createdAt' | 'parentExecutionId' | 'parentCallId'>
  > & {
    readonly changedTools?: readonly string[];
  };
}

/**
 * What the run does now. Each phase but `tools`, `waiting`, `suspended`, `ended` and `left` waits for the outcome of
 * one effect.
 *
 * - `starting`: nothing, or whether the user of a run that was taken over still exists;
 * - `reading`: takes the messages that were sent to it;
 * - `checking`: gathers what the limits of the next model call are checked against;
 * - `fitting`: makes the history fit into the model's context window;
 * - `recording`: stores that the model is about to be called;
 * - `calling`: calls the model;
 * - `tools`: runs the calls of the last response, until the blocking ones have settled and the others are accepted;
 * - `answering`: adds their results to the transcript;
 * - `waiting`: the model has answered, and results are still to come;
 * - `resuming`: one has come;
 * - `completing`: the model has answered for the last time, and the runs below this one are cancelled;
 * - `ending`: an error ends the run, and so its calls and the runs below it;
 * - `saving`: stores the end;
 * - `ended`;
 * - `suspended`: the process drains, and leaves the next model call to another one;
 * - `left`: another process has the run.
 */
export type RunPhase =
  | 'starting'
  | 'reading'
  | 'checking'
  | 'fitting'
  | 'recording'
  | 'calling'
  | 'tools'
  | 'answering'
  | 'waiting'
  | 'resuming'
  | 'completing'
  | 'ending'
  | 'saving'
  | 'ended'
  | 'suspended'
  | 'left';

/** A call of the model's response. `id` is its id within the run; see `ToolCall.id`. */
export interface TurnCall {
  readonly id: string;
  readonly call_id: string;
  readonly name: string;
  readonly arguments: string;
}

export interface ActiveRun {
  readonly rules: RunRules;
  readonly status: RunState;
  readonly phase: RunPhase;
  /** Input first. Undefined while only the store has it. */
  readonly transcript: readonly Item[] | undefined;
  /** The index in the transcript at which the last response begins. */
  readonly turnStart: number;
  readonly response: LLMResponse | undefined;
  /** The calls of the last response, until its turn is answered. Undefined: the response has been acted on. */
  readonly turn: readonly TurnCall[] | undefined;
  readonly calls: CallTable;
  /** Ids of open calls of the turn that are not blocking, and whose arguments are valid or which wait for a person. */
  readonly accepted: readonly string[];
  /** Ids of calls whose turns were answered with the promise of a result, until that is in the transcript. */
  readonly acknowledged: readonly string[];
  /** Ids of acknowledged calls that have settled and wait for delivery, in the order of arrival. */
  readonly lateResults: readonly string[];
  /** Ids of calls of the last turn whose results go out with the next request, … */
  readonly undelivered: readonly string[];
  /** … and of those whose late results do. */
  readonly lateUndelivered: readonly string[];
  /** The last response called no tools, and nothing but late results has come since. */
  readonly isAfterAnswer: boolean;
  /** Messages that were taken from the run's queue, and go out with the next request. */
  readonly messages: readonly RunMessage[];
  /** Which others may wait in the queue. */
  readonly waiting: QueueHint;
  /** How often the queue is being read. */
  readonly reads: number;
  /** How many messages the run was sent, as far as the process has read its queue. */
  readonly sent: number;
  /** The messages that this process has added to the transcript. */
  readonly delivered: readonly DeliveredMessage[];
  /** How many model calls, without deliveries, there were when somebody last spoke: they do not count as iterations. */
  readonly countedFrom: number;
  readonly totals: RunTotals;
  /** Model calls that were started. */
  readonly iterations: number;
  /** Model calls that only delivered late results, and have returned. */
  readonly deliveries: number;
  /** Consecutive turns in which every call failed. */
  readonly failedTurns: number;
  /** How often the run was taken over from an owner that died, since it last made progress. */
  readonly takeovers: number;
  /** What the model is sent in place of the beginning of the transcript. */
  readonly compaction: RunCompaction | undefined;
  /** Names of the first tools that were called, in the order of their first calls. */
  readonly toolNames: readonly string[];
  /** The sequence number of the last event. */
  readonly seq: number;
  /** The error that ends the run. */
  readonly error: LLMError | undefined;
  /** What ends a run whose completion is being stored, if that is refused. */
  readonly nextError: LLMError | undefined;
}

/** One for all runs, of which most wait with nothing in their lists. */
export const NONE: readonly never[] = [];

/** A run that has done nothing yet. */
export function newRun(rules: RunRules, input: readonly Item[], totals: RunTotals): ActiveRun {
  return {
    rules,
    status: 'queued',
    phase: 'starting',
    transcript: input,
    turnStart: input.length,
    response: undefined,
    turn: undefined,
    calls: CallTable.EMPTY,
    accepted: NONE,
    acknowledged: NONE,
    lateResults: NONE,
    undelivered: NONE,
    lateUndelivered: NONE,
    isAfterAnswer: false,
    messages: NONE,
    waiting: NO_MESSAGES,
    reads: 0,
    sent: 0,
    delivered: NONE,
    countedFrom: 0,
    totals,
    iterations: 0,
    deliveries: 0,
    failedTurns: 0,
    takeovers: 0,
    compaction: undefined,
    toolNames: NONE,
    seq: 0,
    error: undefined,
    nextError: undefined,
  };
}

/** @throws RangeError for an unknown call */
export function callOf({ rules, calls }: Pick<ActiveRun, 'rules' | 'calls'>, id: string): ToolCall {
  const call = calls.get(id);
  if (call === undefined) throw new RangeError(`Run "${rules.executionId}" has no tool call "${id}".`);
  return call;
}

/** @throws Error while only the store has it */
export function transcriptOf({ rules, transcript }: Pick<ActiveRun, 'rules' | 'transcript'>): readonly Item[] {
  if (transcript === undefined) throw new Error(`The transcript of the run "${rules.executionId}" was not loaded.`);
  return transcript;
}

/** The model is called, or is about to be. */
export function isCalling({ phase }: Pick<ActiveRun, 'phase'>): boolean {
  return phase === 'recording' || phase === 'calling';
}

/** Whether the run does nothing more in this process. */
export function isOver({ phase }: Pick<ActiveRun, 'phase'>): boolean {
  return phase === 'ended' || phase === 'left';
}

/** Whether the process works for the run itself, and not only tools and others do. */
export function isStepping({ phase }: Pick<ActiveRun, 'phase'>): boolean {
  return phase !== 'tools' && phase !== 'waiting' && phase !== 'suspended' && phase !== 'ended' && phase !== 'left';
}

/** The result of the call comes from outside. */
export function isExternalCall({ rules }: ActiveRun, { name }: ToolCall): boolean {
  const tool = rules.tools.get(name);
  return tool !== undefined && isExternalTool(tool);
}

/** Only a person or another service can move the call on. */
function isWaitingForOthers(run: ActiveRun, call: ToolCall): boolean {
  return waitsForOthers(call, isExternalCall(run, call));
}

/** Whether the run has ended, or only people and other services can move it on. */
export function isAtRest(run: ActiveRun): boolean {
  if (isFinished(run.status)) return true;
  return !isCalling(run) && run.calls.isEveryOpen((call) => isWaitingForOthers(run, call));
}

/** Whether only people and other services can move the calls of the turn on. */
export function isTurnAtRest(run: ActiveRun): boolean {
  return (run.turn ?? []).every(({ id }) => {
    const call = callOf(run, id);
    return isSettled(call) || isWaitingForOthers(run, call);
  });
}

/** Whether time counts against the deadline of the run: not while only people and other services are awaited. */
export function isCounted(run: ActiveRun): boolean {
  if (run.error !== undefined) return false;
  return run.phase === 'tools' || run.phase === 'waiting' ? !isAtRest(run) : isStepping(run);
}

/** Whether neither the process nor a tool in it works for the run. */
export function isIdle(run: ActiveRun): boolean {
  if (isFinished(run.status) || isStepping(run)) return false;
  return !run.calls.open.some((call) => call.state === 'executing' && !isWaitingForOthers(run, call));
}

export function deliveryOf({ rules }: ActiveRun, { name }: ToolCall): ToolDelivery {
  return rules.tools.get(name)?.delivery ?? 'immediate';
}

/** The number of late results for which the model is called. */
export function countUndelivered(run: ActiveRun): number {
  return run.lateResults.filter((id) => deliveryOf(run, callOf(run, id)) !== 'silent').length;
}

/** The number of non-blocking calls that have not settled. */
export function countRunning(run: ActiveRun): number {
  return run.calls.open.filter(({ blocking }) => !blocking).length;
}

/** Whether the next request has a message, or may have one. */
export function isSpokenTo({ messages, waiting, reads }: ActiveRun): boolean {
  return messages.length > 0 || waiting.now || reads > 0;
}

/** Whether the model is to be called, once it is known that no messages wait. */
export function owesCall(run: ActiveRun): boolean {
  return !isDelivery(run) || run.messages.length > 0 || run.lateUndelivered.length > 0 || countUndelivered(run) > 0;
}

/** Whether late results are the only reason for the next model call: the model's last turn is over. */
export function isDelivery({ isAfterAnswer, response }: ActiveRun): boolean {
  return isAfterAnswer && response?.vendor.finish_reason !== 'pause_turn';
}

/** Whether calls of the run may have started others. */
export function mayHaveChildren({ rules, toolNames, calls }: ActiveRun): boolean {
  const mayStart = (name: string): boolean =>
    rules.missingTools.includes(name) || rules.tools.get(name)?.kind === 'run';
  if (rules.missingTools.length === 0 && ![...rules.tools.values()].some(({ kind }) => kind === 'run')) return false;
  return toolNames.some(mayStart) || calls.some(({ name }) => mayStart(name));
}

/** Why a call that nobody runs any more ends with its run. */
export function endOfCall(call: ToolCall): string {
  return isUncertain(call)
    ? 'The run ended, and it is not known whether the tool took effect.'
    : 'The run ended before the tool was started.';
}
