/**
 * Restores a run that another process started. The transcript is authoritative for what the model produced and
 * received, the recorded calls for what was run; a crash may have come between any two of their writes, so the two are
 * reconciled here.
 */
import { textOfContent } from '../../../../domain/entities/Content';
import { createToolCall, isDeliverable, isSettled, isToolCallState } from '../../../../domain/entities/Tool';
import type { ToolCall } from '../../../../domain/entities/Tool';
import type { RecordedCalls, StoredRun } from '../../../../domain/interfaces/RunStore';
import { omitUndefined } from '../../../../domain/util/omitUndefined';
import type { RunState } from '../../../../domain/entities/Run';
import type { FunctionCallOutputItem, Item, LLMResponse } from '../../../../domain/types/ResponsesAPITypes';
import { totalsOf } from '../../../../domain/run/runTotals';
import { adoptItem } from '../../ContentNormalizer';
import { newRun, NONE } from '../../../../domain/run/ActiveRun';
import { NO_MESSAGES } from '../../../../domain/types/RunMessages';
import type { ActiveRun, RunRules, TurnCall } from '../../../../domain/run/ActiveRun';
import { CallTable } from '../../../../domain/run/CallTable';
import { MAX_LISTED_TOOLS } from '../../../../domain/run/RunDraft';

export interface RestoredRun {
  readonly state: ActiveRun;
  readonly storedState: RunState;
  /** Ids of the calls that differ from what the store has, and must be written again. */
  readonly repaired: readonly string[];
  /** Ids of open calls that may be stored only with the run. */
  readonly unwritten: readonly string[];
  /** A model call was in progress whose outcome is unknown. */
  readonly hasInterruptedModelCall: boolean;
  /** Undefined: unknown, or none. */
  readonly recorded: RecordedCalls | undefined;
  /** Milliseconds that count against the run's deadline. */
  readonly elapsedMs: number;
}

/**
 * More events than an owner emits between two writes. Added per owner to the last recorded sequence number, so that
 * events which the last owner emitted but did not record have lower numbers than the next owner's.
 */
export const MAX_UNRECORDED_EVENTS = 1_000_000;

export function restoreRun({ run, calls: storedCalls, recorded, messages }: StoredRun, rules: RunRules): RestoredRun {
  const transcript = run.transcript.map((item) => adoptItem(item));
  const results = resultsByCall(transcript);
  const acknowledged = transcript.flatMap((item) =>
    item.type === 'function_call_output' && isAcknowledgement(item) ? [item.call_id] : [],
  );
  const turn = openTurn(run.response, transcript, run.turnStart, run.isCalling);
  const unrecorded = unrecordedCalls(
    transcript.slice(run.input.length),
    storedCalls,
    turn,
    acknowledged,
    run.createdAt,
  );
  // A run that only ends is restored without its transcript.
  const calls = [...storedCalls, ...unrecorded].map((call) =>
    transcript.length === 0
      ? call
      : reconcile(call, results.get(call.id), acknowledged.includes(call.id), run.turnStart, run.response?.id),
  );
  const undelivered = calls.filter(({ id }) => (results.get(id)?.index ?? -1) >= run.turnStart).map(({ id }) => id);
  const isLate = (id: string): boolean => results.get(id)?.item.deferred === true;
  const lateResults = calls
    .filter((call) => isDeliverable(call) && acknowledged.includes(call.id) && !results.has(call.id))
    .toSorted((a, b) => endTimeOf(a) - endTimeOf(b));
  const state: ActiveRun = {
    ...newRun(rules, transcript, totalsOf(run)),
    turnStart: run.turnStart,
    response: run.response,
    turn,
    calls: CallTable.of(calls),
    acknowledged: acknowledged.filter((id) => !results.has(id)),
    lateResults: lateResults.map(({ id }) => id),
    undelivered: undelivered.filter((id) => !isLate(id)),
    lateUndelivered: undelivered.filter(isLate),
    isAfterAnswer:
      run.response !== undefined &&
      !run.response.output.some(({ type }) => type === 'function_call') &&
      !transcript.slice(run.turnStart).some((item) => item.type === 'message' && item.role === 'user'),
    messages: messages?.taken ?? NONE,
    waiting: messages?.waiting ?? NO_MESSAGES,
    sent: messages?.sent ?? 0,
    countedFrom: run.countedFrom ?? 0,
    // The call that replaces an interrupted one counts as the same.
    iterations: run.isCalling ? run.iterations - 1 : run.iterations,
    deliveries: run.deliveries ?? 0,
    failedTurns: run.failedTurns,
    takeovers: run.takeovers,
    compaction: run.compaction,
    toolNames: [...new Set(calls.map(({ name }) => name))].slice(0, MAX_LISTED_TOOLS),
    seq: run.seq + run.fence * MAX_UNRECORDED_EVENTS,
  };
  const openIds = calls.filter((call) => !isSettled(call)).map(({ id }) => id);
  return {
    state,
    storedState: run.state,
    repaired: calls.filter((call) => !storedCalls.includes(call)).map(({ id }) => id),
    unwritten: recorded?.onlyWithRun ?? openIds,
    hasInterruptedModelCall: run.isCalling,
    recorded,
    elapsedMs: run.worked,
  };
}

interface TranscriptResult {
  readonly item: FunctionCallOutputItem;
  /** The item's index in the transcript. */
  readonly index: number;
}

/** The results in the transcript by call id, without acknowledgements. */
function resultsByCall(transcript: readonly Item[]): ReadonlyMap<string, TranscriptResult> {
  const results = new Map<string, TranscriptResult>();
  for (const [index, item] of transcript.entries()) {
    if (item.type === 'function_call_output' && !isAcknowledgement(item)) results.set(item.call_id, { item, index });
  }
  return results;
}

function isAcknowledgement(item: FunctionCallOutputItem): boolean {
  return item.status === 'in_progress';
}

/** Calls of earlier turns that are in the transcript but were never recorded: they had not started. */
function unrecordedCalls(
  items: readonly Item[],
  storedCalls: readonly ToolCall[],
  turn: readonly TurnCall[] | undefined,
  acknowledged: readonly string[],
  createdAt: number,
): readonly ToolCall[] {
  const recorded = new Set([...storedCalls, ...(turn ?? [])].map(({ id }) => id));
  return items.flatMap((item) => {
    if (item.type !== 'function_call' || recorded.has(item.call_id)) return [];
    const { call_id, name, arguments: text } = item;
    return [
      createToolCall({
        id: call_id,
        call_id,
        name,
        arguments: text,
        blocking: !acknowledged.includes(call_id),
        createdAt,
      }),
    ];
  });
}

/**
 * A call whose result is in the transcript has settled. If the result precedes the last response, it was delivered
 * with it, or before. If it does not, the answer to the request that delivered it was lost, if there was one.
 */
function reconcile(
  call: ToolCall,
  result: TranscriptResult | undefined,
  isAcknowledged: boolean,
  turnStart: number,
  responseId: string | undefined,
): ToolCall {
  if (result === undefined) return isAcknowledged ? notBlocking(call) : undelivered(call);
  const settled = isSettled(call) ? call : settleWith(call, result.item);
  if (result.index >= turnStart) return undelivered(settled);
  if (settled.deliveredIn !== undefined || responseId === undefined) return settled;
  return { ...settled, deliveredIn: responseId };
}

/** The turn went on without the result of a tool that was detached, which may not be stored of the call yet. */
function notBlocking(call: ToolCall): ToolCall {
  const open = undelivered(call);
  return open.blocking ? { ...open, blocking: false } : open;
}

function undelivered(call: ToolCall): ToolCall {
  if (call.deliveredIn === undefined) return call;
  const { deliveredIn: _, ...others } = call;
  return others;
}

function settleWith(call: ToolCall, { output, state }: FunctionCallOutputItem): ToolCall {
  const { id, call_id, name, arguments: text, blocking, createdAt, progress, answers } = call;
  const startTime = 'startTime' in call ? call.startTime : undefined;
  const fields = omitUndefined({
    id,
    call_id,
    name,
    arguments: text,
    blocking,
    createdAt,
    progress,
    answers,
    startTime,
    endTime: startTime ?? createdAt,
    executionTime: 0,
  });
  const content = typeof output === 'string' ? output : textOfContent(output);
  const message = content.replace(/^Error: /, '');
  const recorded = isToolCallState(state) ? state : 'completed';
  switch (recorded) {
    case 'failed':
      return { ...fields, state: recorded, error: { failure: 'threw', message } };
    case 'timeout':
      return { ...fields, state: recorded, error: { failure: 'timeout', message } };
    // The loop adds no results of calls in the other states to the transcript.
    case 'completed':
    case 'pending':
    case 'awaiting_approval':
    case 'executing':
    case 'needs_review':
    case 'cancelled':
      return { ...fields, state: 'completed', result: content };
  }
}

/** The calls of a recorded response on which the run has not acted yet. */
function openTurn(
  response: LLMResponse | undefined,
  transcript: readonly Item[],
  turnStart: number,
  isCalling: boolean,
): readonly TurnCall[] | undefined {
  if (response === undefined || isCalling) return undefined;
  const turnEnd = turnStart + response.output.length;
  const calls = transcript.slice(turnStart, turnEnd).flatMap((item, index): TurnCall[] => {
    const original = response.output[index];
    if (item.type !== 'function_call' || original?.type !== 'function_call') return [];
    return [{ id: item.call_id, call_id: original.call_id, name: item.name, arguments: original.arguments }];
  });
  const [first] = calls;
  // Late results, or messages: the model is called for them.
  if (first === undefined) return transcript.length > turnEnd ? undefined : calls;
  const isAnswered = transcript
    .slice(turnEnd)
    .some((item) => item.type === 'function_call_output' && item.call_id === first.id);
  return isAnswered ? undefined : calls;
}

function endTimeOf(call: ToolCall): number {
  return 'endTime' in call ? call.endTime : 0;
}
