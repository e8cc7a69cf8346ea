/** The shown tool calls after an event, by the domain's own table of legal transitions. */
import {
  acceptsLateResult,
  applyToolEvent,
  inputOf,
  isExecuting,
  STATE_AFTER_EVENT,
  TOOL_CALL_TRANSITIONS,
  waitOf,
} from '../../../business/ai/domain/entities/Tool';
import type { ToolCall, ToolEvent } from '../../../business/ai/domain/entities/Tool';
import { omitUndefined } from '../../../business/ai/domain/util/omitUndefined';
import type { AgentEvent } from '../../../business/ai/domain/types/AgentEvents';
import type { ToolCallView } from '../../../business/ai/domain/types/RunViews';

/** @returns the same list when the event is not about a call, or was included already */
export function reduceToolCalls(calls: readonly ToolCallView[], event: AgentEvent): readonly ToolCallView[] {
  if (event.type === 'tool:pending') return addCall(calls, event);
  if (!isToolEvent(event)) return calls;
  const index = calls.findIndex((call) => call.callId === event.callId);
  const call = calls[index];
  if (call === undefined) return calls;
  const next = applyToView(call, event);
  return next === call ? calls : calls.with(index, next);
}

type CallEvent = Extract<
  AgentEvent,
  {
    type: Exclude<
      ToolEvent['type'],
      'tool:decided' | 'tool:delivered' | 'tool:awaiting_result' | 'tool:checkpoint' | 'tool:detached'
    >;
  }
>;

function isToolEvent(event: AgentEvent): event is CallEvent {
  return event.type.startsWith('tool:') && event.type !== 'tool:pending' && event.type !== 'tool:arguments_delta';
}

function addCall(
  calls: readonly ToolCallView[],
  event: Extract<AgentEvent, { type: 'tool:pending' }>,
): readonly ToolCallView[] {
  if (calls.some((call) => call.callId === event.callId)) return calls;
  const { executionId, callId, name, blocking } = event;
  return [
    ...calls,
    {
      _id: `${executionId}:${callId}`,
      executionId,
      callId,
      name,
      blocking,
      state: 'pending',
      createdAt: event.at,
      arguments: event.arguments,
    },
  ];
}

function applyToView(view: ToolCallView, event: CallEvent): ToolCallView {
  const call = toToolCall(view);
  // A fetched call may be newer than the events that are read after it.
  const isOfTool = event.type === 'tool:input_required' || event.type === 'tool:input_received';
  if (isOfTool && !isExecuting(call)) return view;
  const isTransition = !isOfTool && event.type !== 'tool:progress' && event.type !== 'tool:late';
  if (isTransition && !isLegalTransition(call, event)) return view;
  if (event.type === 'tool:late' && !acceptsLateResult(call)) return view;
  const next = applyToolEvent(call, event);
  if (next === call) return view;
  const after = toView(view, next);
  // An approval names the attempt, so the time must be the recorded one.
  return event.type === 'tool:needs_review' ? { ...after, startTime: event.startTime } : after;
}

function isLegalTransition(call: ToolCall, event: CallEvent): boolean {
  const state = STATE_AFTER_EVENT[event.type as keyof typeof STATE_AFTER_EVENT];
  return (TOOL_CALL_TRANSITIONS[call.state] as readonly string[]).includes(state);
}

function toToolCall(view: ToolCallView): ToolCall {
  const { callId, name, blocking, state, startTime, endTime, executionTime, progress, note } = view;
  const { createdAt = startTime ?? 0, approvalRequestedAt } = view;
  const common = omitUndefined({
    id: callId,
    call_id: callId,
    name,
    arguments: view.arguments,
    blocking,
    createdAt,
    approvalRequestedAt,
    decidedBy: view.decidedBy,
    answers: view.answers,
    progress: progress === undefined ? undefined : omitUndefined({ fraction: progress, note }),
  });
  const settled = omitUndefined({ endTime: endTime ?? startTime ?? 0, executionTime: executionTime ?? 0, startTime });
  const expiry = view.expiresAt === undefined ? {} : { expiresAt: view.expiresAt };
  const input = view.input === undefined ? {} : { input: view.input };
  // The view has only an error's message.
  const error = { failure: 'threw', message: view.error ?? '' } as const;
  switch (state) {
    case 'pending':
      return { ...common, state };
    case 'awaiting_approval':
      return { ...common, ...expiry, state };
    case 'executing':
      return { ...common, ...expiry, ...input, state, startTime: startTime ?? 0 };
    case 'needs_review':
      return { ...common, ...expiry, state, startTime: startTime ?? 0 };
    case 'completed':
      return { ...common, ...settled, state, result: view.result ?? '' };
    case 'failed':
    case 'timeout':
    case 'cancelled':
      return { ...common, ...settled, state, error };
  }
}

function toView(before: ToolCallView, call: ToolCall): ToolCallView {
  const { _id, executionId, callId, name, blocking, createdAt } = before;
  return omitUndefined({
    _id,
    executionId,
    callId,
    name,
    blocking,
    arguments: before.arguments,
    state: call.state,
    createdAt,
    approvalRequestedAt: call.approvalRequestedAt,
    decidedBy: call.decidedBy,
    startTime: 'startTime' in call ? call.startTime : undefined,
    ...('endTime' in call ? { endTime: call.endTime, executionTime: call.executionTime } : {}),
    progress: call.progress?.fraction,
    note: call.progress?.note,
    result: 'result' in call ? call.result : undefined,
    error: 'error' in call ? call.error.message : undefined,
    answers: call.answers,
    ...waitFieldsOf(before, call),
  });
}

/** The hash of the arguments is in the record, or in the event itself: see `RunDetails.argumentHashes`. */
function waitFieldsOf(
  { argumentsHash, argumentsLength }: ToolCallView,
  call: ToolCall,
): Pick<ToolCallView, 'waiting' | 'expiresAt' | 'argumentsHash' | 'argumentsLength' | 'input'> {
  const waiting = waitOf(call);
  const input = inputOf(call);
  if (waiting === undefined) return {};
  return {
    waiting,
    ...('expiresAt' in call ? { expiresAt: call.expiresAt } : {}),
    ...omitUndefined({ input, argumentsHash, argumentsLength }),
  };
}
