/**
 * Where a run stands that another process began, from what was written down of it. The transcript is the truth of
 * what the model said and was told, the calls are the truth of what was run; a crash may have come between any two
 * of their writes.
 */
import { createToolCall, isSettled } from '../../../../domain/entities/Tool';
import type { ToolCall } from '../../../../domain/entities/Tool';
import type { WholeRun } from '../../../../domain/interfaces/RunStore';
import type { FunctionCallOutputItem, Item, LLMResponse } from '../../../../domain/types/ResponsesAPITypes';
import { adoptItem } from '../../ContentNormalizer';
import type { RestoredState, TurnCall } from '../LiveRun';

/** A response that was recorded and not yet obeyed, with its calls under the ids that they have in the run. */
export interface OpenTurn {
  readonly response: LLMResponse;
  readonly calls: readonly TurnCall[];
}

export interface RestoredRun {
  readonly past: RestoredState;
  /** Calls that the store has. */
  readonly stored: readonly string[];
  /** Calls of which more is known than the store has. */
  readonly mended: readonly string[];
  readonly turn: OpenTurn | undefined;
  /** The model's last answer called no tools. */
  readonly isAfterAnswer: boolean;
  /** Calls whose results stand in the transcript and have not reached the model: at once, and late. */
  readonly unreported: readonly string[];
  readonly late: readonly string[];
  /** A model call was begun of which nothing came back. */
  readonly hasLostCall: boolean;
  readonly failedTurns: number;
  readonly worked: number;
  readonly takeovers: number;
}

/**
 * More events than an owner tells between two writes: what one told and did not write down has lower numbers than
 * what the next one tells.
 */
const UNWRITTEN_EVENTS = 1_000_000;

export function restoreRun({ run, calls }: WholeRun): RestoredRun {
  const transcript = run.transcript.map((item) => adoptItem(item));
  const outputs = resultsByCall(transcript);
  const acknowledged = transcript.flatMap((item) =>
    item.type === 'function_call_output' && isAcknowledgement(item) ? [item.call_id] : [],
  );
  const turn = openTurn(run.response, transcript, run.turnStart, run.isCalling);
  const unwritten = unwrittenCalls(transcript.slice(run.input.length), calls, turn, acknowledged, run.createdAt);
  const known = [...calls, ...unwritten].map((call) =>
    reconciled(call, outputs.get(call.id), run.turnStart, run.response?.id),
  );
  const isUnreported = ({ id }: ToolCall): boolean => (outputs.get(id)?.at ?? -1) >= run.turnStart;
  const unreported = known.filter(isUnreported).map(({ id }) => id);
  const isLate = (id: string): boolean => outputs.get(id)?.item.deferred === true;
  return {
    past: {
      transcript,
      turnStart: run.turnStart,
      response: run.response,
      calls: known,
      acknowledged,
      inbox: known
        .filter(
          (call) =>
            isSettled(call) && call.state !== 'cancelled' && acknowledged.includes(call.id) && !outputs.has(call.id),
        )
        .toSorted((a, b) => endOf(a) - endOf(b))
        .map(({ id }) => id),
      usage: run.usage,
      iterations: run.iterations,
      seq: run.seq + run.fence * UNWRITTEN_EVENTS,
    },
    stored: calls.map(({ id }) => id),
    mended: known.filter((call) => !calls.includes(call)).map(({ id }) => id),
    turn,
    isAfterAnswer: run.response !== undefined && !run.response.output.some(({ type }) => type === 'function_call'),
    unreported: unreported.filter((id) => !isLate(id)),
    late: unreported.filter(isLate),
    hasLostCall: run.isCalling,
    failedTurns: run.failedTurns,
    worked: run.worked,
    takeovers: run.takeovers,
  };
}

interface Output {
  readonly item: FunctionCallOutputItem;
  readonly at: number;
}

/** The result of each call that has one in the transcript, by its id in the run. */
function resultsByCall(transcript: readonly Item[]): ReadonlyMap<string, Output> {
  const outputs = new Map<string, Output>();
  for (const [at, item] of transcript.entries()) {
    if (item.type === 'function_call_output' && !isAcknowledgement(item)) outputs.set(item.call_id, { item, at });
  }
  return outputs;
}

function isAcknowledgement(item: FunctionCallOutputItem): boolean {
  return item.status === 'in_progress';
}

/** Calls of answered turns that were never written down: they had not begun. */
function unwrittenCalls(
  said: readonly Item[],
  calls: readonly ToolCall[],
  turn: OpenTurn | undefined,
  acknowledged: readonly string[],
  createdAt: number,
): readonly ToolCall[] {
  const written = new Set([...calls, ...(turn?.calls ?? [])].map(({ id }) => id));
  return said.flatMap((item) => {
    if (item.type !== 'function_call' || written.has(item.call_id)) return [];
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
 * A call whose result the transcript has is settled, and one whose result stood there before a later response was
 * delivered with it.
 */
function reconciled(
  call: ToolCall,
  output: Output | undefined,
  turnStart: number,
  responseId: string | undefined,
): ToolCall {
  if (output === undefined) return call;
  const settled = isSettled(call) ? call : settledBy(call, output.item);
  if (output.at >= turnStart || settled.deliveredIn !== undefined || responseId === undefined) return settled;
  return { ...settled, deliveredIn: responseId };
}

function settledBy(call: ToolCall, { output, state }: FunctionCallOutputItem): ToolCall {
  const { id, call_id, name, arguments: text, blocking, createdAt, progress } = call;
  const facts = {
    id,
    call_id,
    name,
    arguments: text,
    blocking,
    createdAt,
    ...(progress === undefined ? {} : { progress }),
  };
  const startTime = 'startTime' in call ? call.startTime : undefined;
  const ended = {
    ...(startTime === undefined ? {} : { startTime }),
    endTime: startTime ?? createdAt,
    executionTime: 0,
  };
  const content = typeof output === 'string' ? output : JSON.stringify(output);
  const message = content.replace(/^Error: /, '');
  switch (state) {
    case 'failed':
      return { ...facts, ...ended, state, error: { failure: 'threw', message } };
    case 'timeout':
      return { ...facts, ...ended, state, error: { failure: 'timeout', message } };
    default:
      return { ...facts, ...ended, state: 'completed', result: content };
  }
}

function openTurn(
  response: LLMResponse | undefined,
  transcript: readonly Item[],
  turnStart: number,
  isCalling: boolean,
): OpenTurn | undefined {
  if (response === undefined || isCalling) return undefined;
  const said = transcript.slice(turnStart, turnStart + response.output.length);
  const calls = said.flatMap((item, index): TurnCall[] => {
    const original = response.output[index];
    if (item.type !== 'function_call' || original?.type !== 'function_call') return [];
    return [{ id: item.call_id, call_id: original.call_id, name: item.name, arguments: original.arguments }];
  });
  const [first] = calls;
  const answers = transcript.slice(turnStart + response.output.length);
  const isAnswered = answers.some((item) => item.type === 'function_call_output' && item.call_id === first?.id);
  return isAnswered ? undefined : { response, calls };
}

function endOf(call: ToolCall): number {
  return 'endTime' in call ? call.endTime : 0;
}
