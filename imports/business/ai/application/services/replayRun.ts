/** Rebuilds the events of a run from what is stored of it, for readers that were not there when they were emitted. */
import { omitUndefined } from '../../domain/util/omitUndefined';
import { isFinished } from '../../domain/entities/Run';
import { NO_USAGE, outputTextOf } from '../../domain/entities/Response';
import { isDecidedLike, isDeliverable, needsApproval } from '../../domain/entities/Tool';
import type { ToolCall, ToolEvent } from '../../domain/entities/Tool';
import type { StoredRun } from '../../domain/interfaces/RunStore';
import type { AgentEvent, AgentEventBody } from '../../domain/types/AgentEvents';
import type { FunctionCallOutputItem, Item, LLMResponse, MessageItem } from '../../domain/types/ResponsesAPITypes';
import type { RunRecord } from '../../domain/types/RunRecords';
import { toAgentEvent } from './runs/toAgentEvent';

/**
 * The events in their order, without live text and without what a run does not store: retries, and the times and
 * numbers of events. Consecutive responses without tool results between them appear as one. A model call in progress
 * appears as its `iteration:start`.
 */
export function replayRun({ run, calls, messages }: StoredRun): readonly AgentEvent[] {
  const turns = turnsOf(run.transcript.slice(run.input.length));
  const responses = run.iterations - (run.isCalling ? 1 : 0);
  const callsById = new Map(calls.map((call) => [call.id, call]));
  const bodies: AgentEventBody[] = [startOf(run)];
  const messageIds = new Map(messages?.delivered.map(({ messageId, index }) => [index, messageId]));
  let place = run.input.length;
  for (const [index, { output, results, since }] of turns.entries()) {
    const iteration = responses - (turns.length - 1 - index);
    place += output.length;
    const spoken = since.flatMap((item, at) =>
      item.type === 'message'
        ? [messageOf(messageIds.get(place + at) ?? `${run.executionId}:${place + at}`, item)]
        : [],
    );
    place += since.length;
    const [only] = output;
    // The run's response may be cut off by the vendor.
    const isCutOff = index === turns.length - 1 && run.response?.status === 'incomplete';
    if (only === undefined || (isInterrupted(only) && !isCutOff)) {
      bodies.push(...(only === undefined ? [] : interruptionOf(iteration, only)), ...spoken);
      continue;
    }
    const response = responseOf(run, output, index === turns.length - 1 ? run.response : undefined);
    bodies.push({ type: 'iteration:start', iteration }, { type: 'llm:response', iteration, response });
    for (const item of output) {
      const call = item.type === 'function_call' ? callsById.get(item.call_id) : undefined;
      if (call !== undefined) bodies.push(...eventsOfCall(call));
    }
    for (const { call_id, deferred } of results) {
      const call = callsById.get(call_id);
      if (deferred === true && call !== undefined)
        bodies.push({ type: 'result:arrived', callId: call.id, name: call.name, state: call.state });
    }
    bodies.push(...spoken);
  }
  if (run.isCalling && !isFinished(run.state)) bodies.push({ type: 'iteration:start', iteration: run.iterations });
  const results = turns.flatMap((turn) => turn.results);
  const delivered = new Set(results.flatMap(({ call_id, deferred }) => (deferred === true ? [call_id] : [])));
  for (const { call_id, status } of results) {
    // Acknowledged in its turn, settled since, and not in the transcript yet.
    const call = status === 'in_progress' && !delivered.has(call_id) ? callsById.get(call_id) : undefined;
    if (call !== undefined && isDeliverable(call))
      bodies.push({ type: 'result:arrived', callId: call.id, name: call.name, state: call.state });
  }
  const { executionId, createdAt, startedAt = createdAt, seq } = run;
  return [...bodies, ...endOf(run)].map((body) => ({ executionId, at: startedAt, seq, ...body }));
}

export interface Turn {
  /** What the model has said. Empty: it was interrupted before. */
  readonly output: readonly Item[];
  /** What came before its next response: results, and messages. */
  readonly since: readonly Item[];
  readonly results: readonly FunctionCallOutputItem[];
}

/** Splits what a run added to its input into the model's output, and what followed it. */
export function turnsOf(items: readonly Item[]): readonly Turn[] {
  const turns: { output: Item[]; since: Item[]; results: FunctionCallOutputItem[] }[] = [];
  for (const item of items) {
    let turn = turns.at(-1);
    const isGiven = item.type === 'function_call_output' || (item.type === 'message' && item.role === 'user');
    if (turn === undefined || (!isGiven && turn.since.length > 0)) {
      turn = { output: [], since: [], results: [] };
      turns.push(turn);
    }
    (isGiven ? turn.since : turn.output).push(item);
    if (item.type === 'function_call_output') turn.results.push(item);
  }
  return turns;
}

/** The model was interrupted while it wrote this, or cut off. */
function isInterrupted(item: Item): item is MessageItem {
  return item.type === 'message' && item.role === 'assistant' && item.status === 'incomplete';
}

function interruptionOf(iteration: number, item: MessageItem): readonly AgentEventBody[] {
  return [
    { type: 'iteration:start', iteration },
    { type: 'llm:interrupted', iteration, item },
  ];
}

function messageOf(messageId: string, item: MessageItem): AgentEventBody {
  return { type: 'message:delivered', messageId, item };
}

function startOf({ userId, model, providerId, title, createdAt, ...run }: RunRecord): AgentEventBody {
  const { parentExecutionId, parentCallId } = run;
  const family = omitUndefined({ parentExecutionId, parentCallId });
  return { type: 'run:started', userId, model: model ?? providerId, providerId, title, createdAt, ...family };
}

function endOf({ state, response, usage, iterations, error }: RunRecord): readonly AgentEventBody[] {
  if (!isFinished(state)) return [];
  if (state === 'completed' && response !== undefined) return [{ type: 'run:completed', response, usage, iterations }];
  if (state === 'cancelled') return [{ type: 'run:cancelled', usage }];
  return [{ type: 'run:failed', usage, error: error ?? { code: 'vendor-error', message: 'The run failed.' } }];
}

/** @param stored the run's last response, the only one that is stored as such */
function responseOf(run: RunRecord, output: readonly Item[], stored: LLMResponse | undefined): LLMResponse {
  const { executionId, providerId, model = providerId, createdAt } = run;
  return {
    id: executionId,
    object: 'response',
    created_at: Math.floor(createdAt / 1_000),
    status: 'completed',
    model,
    usage: NO_USAGE,
    vendor: { name: providerId, wire: 'responses', finish_reason: null, warnings: [], losses: [] },
    ...stored,
    output,
    output_text: outputTextOf(output),
  };
}

function eventsOfCall(call: ToolCall): readonly AgentEventBody[] {
  const { id: callId, call_id, name, arguments: text, blocking } = call;
  const events: ToolEvent[] = [];
  const at = call.createdAt;
  if (needsApproval(call) || isDecidedLike(call, true) || isDecidedLike(call, false))
    events.push({ type: 'tool:approval_required', at });
  if ('startTime' in call) events.push({ type: 'tool:executing', at });
  for (const { input, expiresAt, answer } of 'startTime' in call ? (call.answers ?? []) : [])
    events.push({ type: 'tool:input_required', at, expiresAt, input }, { type: 'tool:input_received', at, answer });
  if (call.state === 'executing' && call.input !== undefined)
    events.push({ type: 'tool:input_required', at, expiresAt: call.expiresAt ?? at, input: call.input });
  if (call.progress !== undefined) events.push({ type: 'tool:progress', at, ...call.progress });
  events.push(...outcomeOf(call, at));
  return [
    { type: 'tool:pending', callId, call_id, name, arguments: text, blocking },
    ...events.flatMap((event) => toAgentEvent(call, event) ?? []),
  ];
}

function outcomeOf(call: ToolCall, at: number): readonly ToolEvent[] {
  switch (call.state) {
    case 'pending':
    case 'awaiting_approval':
    case 'executing':
      return [];
    case 'needs_review':
      return [{ type: 'tool:needs_review', at }];
    case 'completed':
      return [{ type: 'tool:completed', at, result: call.result }];
    case 'failed':
      return [{ type: 'tool:failed', at, error: call.error }];
    case 'timeout':
      return [{ type: 'tool:timeout', at, error: call.error }];
    case 'cancelled':
      return [{ type: 'tool:cancelled', at, error: call.error }];
  }
}
