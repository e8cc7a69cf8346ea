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
import type { FunctionCallOutputItem, Item, LLMResponse } from '../../../../domain/types/ResponsesAPITypes';
import { totalsOf } from '../RunBill';
import { adoptItem } from '../../ContentNormalizer';
import type { RestoredState, TurnCall } from '../LiveRun';

/** A recorded response on which the run has not acted yet. */
export interface OpenTurn {
  readonly response: LLMResponse;
  readonly calls: readonly TurnCall[];
}

export interface RestoredRun {
  readonly state: RestoredState;
  /** Ids of the calls that the store has. */
  readonly storedCalls: readonly string[];
  /** Ids of the calls that differ from what the store has, and must be written again. */
  readonly repaired: readonly string[];
  readonly turn: OpenTurn | undefined;
  /** The last response called no tools. */
  readonly isAfterAnswer: boolean;
  /** Calls whose results are in the transcript but have not reached the model: those of the last turn, … */
  readonly undelivered: readonly string[];
  /** … and late ones. */
  readonly lateUndelivered: readonly string[];
  /** A model call was in progress whose outcome is unknown. */
  readonly hasInterruptedModelCall: boolean;
  readonly recorded: RecordedCalls | undefined;
  /** It is stored as waiting, … */
  readonly isWaiting: boolean;
  /** … or as queued. */
  readonly isQueued: boolean;
  readonly failedTurns: number;
  /** Milliseconds that count against the run's deadline. */
  readonly elapsedMs: number;
  readonly takeovers: number;
}

/**
 * More events than an owner emits between two writes. Added per owner to the last recorded sequence number, so that
 * events which the last owner emitted but did not record have lower numbers than the next owner's.
 */
export const MAX_UNRECORDED_EVENTS = 1_000_000;

export function restoreRun({ run, calls: storedCalls, recorded }: StoredRun): RestoredRun {
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
    transcript.length === 0 ? call : reconcile(call, results.get(call.id), run.turnStart, run.response?.id),
  );
  const undelivered = calls.filter(({ id }) => (results.get(id)?.index ?? -1) >= run.turnStart).map(({ id }) => id);
  const isLate = (id: string): boolean => results.get(id)?.item.deferred === true;
  return {
    state: {
      transcript,
      turnStart: run.turnStart,
      response: run.response,
      calls,
      acknowledged,
      lateResults: calls
        .filter((call) => isDeliverable(call) && acknowledged.includes(call.id) && !results.has(call.id))
        .toSorted((a, b) => endTimeOf(a) - endTimeOf(b))
        .map(({ id }) => id),
      totals: totalsOf(run),
      iterations: run.iterations,
      deliveries: run.deliveries ?? 0,
      compaction: run.compaction,
      seq: run.seq + run.fence * MAX_UNRECORDED_EVENTS,
    },
    storedCalls: storedCalls.map(({ id }) => id),
    recorded,
    isWaiting: run.state === 'waiting' && !run.isCalling,
    isQueued: run.state === 'queued',
    repaired: calls.filter((call) => !storedCalls.includes(call)).map(({ id }) => id),
    turn,
    isAfterAnswer: run.response !== undefined && !run.response.output.some(({ type }) => type === 'function_call'),
    undelivered: undelivered.filter((id) => !isLate(id)),
    lateUndelivered: undelivered.filter(isLate),
    hasInterruptedModelCall: run.isCalling,
    failedTurns: run.failedTurns,
    elapsedMs: run.worked,
    takeovers: run.takeovers,
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
  turn: OpenTurn | undefined,
  acknowledged: readonly string[],
  createdAt: number,
): readonly ToolCall[] {
  const recorded = new Set([...storedCalls, ...(turn?.calls ?? [])].map(({ id }) => id));
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
  turnStart: number,
  responseId: string | undefined,
): ToolCall {
  if (result === undefined) return undelivered(call);
  const settled = isSettled(call) ? call : settleWith(call, result.item);
  if (result.index >= turnStart) return undelivered(settled);
  if (settled.deliveredIn !== undefined || responseId === undefined) return settled;
  return { ...settled, deliveredIn: responseId };
}

function undelivered(call: ToolCall): ToolCall {
  if (call.deliveredIn === undefined) return call;
  const { deliveredIn: _, ...others } = call;
  return others;
}

function settleWith(call: ToolCall, { output, state }: FunctionCallOutputItem): ToolCall {
  const { id, call_id, name, arguments: text, blocking, createdAt, progress } = call;
  const startTime = 'startTime' in call ? call.startTime : undefined;
  const fields = omitUndefined({
    id,
    call_id,
    name,
    arguments: text,
    blocking,
    createdAt,
    progress,
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

function openTurn(
  response: LLMResponse | undefined,
  transcript: readonly Item[],
  turnStart: number,
  isCalling: boolean,
): OpenTurn | undefined {
  if (response === undefined || isCalling) return undefined;
  const turnEnd = turnStart + response.output.length;
  const calls = transcript.slice(turnStart, turnEnd).flatMap((item, index): TurnCall[] => {
    const original = response.output[index];
    if (item.type !== 'function_call' || original?.type !== 'function_call') return [];
    return [{ id: item.call_id, call_id: original.call_id, name: item.name, arguments: original.arguments }];
  });
  const [first] = calls;
  const isAnswered = transcript
    .slice(turnEnd)
    .some((item) => item.type === 'function_call_output' && item.call_id === first?.id);
  return isAnswered ? undefined : { response, calls };
}

function endTimeOf(call: ToolCall): number {
  return 'endTime' in call ? call.endTime : 0;
}
