/**
 * Decides what a run does next: a pure function of its state and what has happened. It reads no clock, draws no random
 * number and awaits nothing. `RULES` lists what each event does; `nextStep` says what a model's response means.
 */
import { isFinished } from '../entities/Run';
import { wellFormedItem } from '../entities/Message';
import { hasFailed, isPending, isSettled } from '../entities/Tool';
import type { ToolCall } from '../entities/Tool';
import type { LLMError } from '../errors/LLMErrors';
import { ToolLoopError } from '../errors/LLMErrors';
import type { FunctionCallOutputItem, Item, LLMResponse } from '../types/ResponsesAPITypes';
import { NO_MESSAGES } from '../types/RunMessages';
import type { RunTotals } from '../types/RunTotals';
import { omitUndefined } from '../util/omitUndefined';
import { unreachable } from '../util/unreachable';
import {
  countRunning,
  countUndelivered,
  deliveryOf,
  endOfCall,
  isAtRest,
  isCalling,
  isDelivery,
  isOver,
  isSpokenTo,
  isStepping,
  isTurnAtRest,
  mayHaveChildren,
  NONE,
  owesCall,
  transcriptOf,
} from './ActiveRun';
import type { ActiveRun, RunPhase, TurnCall } from './ActiveRun';
import { nextStep } from './nextStep';
import { RunDraft } from './RunDraft';
import type { Decision } from './RunDraft';
import type { RunEvent } from './RunEvent';
import { exceededLimit } from './runLimits';
import { addBill, addResponse, sumsOf } from './runTotals';
import type { CallBill } from './runTotals';
import { acknowledgement, deferredOutput, toolOutput, toToolResult } from './toolOutputs';

type EventOf<T extends RunEvent['type']> = Extract<RunEvent, { readonly type: T }>;

interface Rule<T extends RunEvent['type']> {
  /** The phases in which the event means something: others are over by now. Absent: all until the end. */
  readonly during?: readonly RunPhase[];
  readonly decide: (run: RunDraft, event: EventOf<T>) => void;
}

/** What each event does, and in which phases. */
export const RULES: { readonly [T in RunEvent['type']]: Rule<T> } = {
  started: { during: ['starting'], decide: start },
  userChecked: { during: ['starting'], decide: (run, { at }) => continueRun(run, at) },
  checked: { during: ['checking'], decide: prepareCall },
  historyCompacted: { decide: compactHistory },
  historyFitted: { during: ['fitting'], decide: unlessEnding(beginCall) },
  persisted: { decide: goOn },
  modelSaid: { during: ['calling'], decide: (run, { kind, delta }) => run.publish({ type: 'llm:delta', kind, delta }) },
  modelWroteArguments: { during: ['calling'], decide: writeArguments },
  modelRetried: { during: ['calling'], decide: retryCall },
  modelRefused: { during: ['calling'], decide: unlessEnding(recordCall) },
  modelAnswered: { during: ['calling'], decide: unlessEnding(receive) },
  modelInterrupted: { during: ['calling'], decide: interruptCall },
  messageSent: { decide: hearOfMessage },
  messagesTaken: { decide: takeIn },
  endRefused: { during: ['saving'], decide: reopen },
  modelFailed: { during: ['fitting', 'recording', 'calling'], decide: failCall },
  modelBilled: { decide: (run, { bill }) => void (run.next.totals = withBill(run.next.totals, bill)) },
  callChanged: { decide: changeCall },
  callAccepted: { decide: (run, { callId }) => acceptCall(run, callId) },
  turnEnded: { during: ['answering'], decide: answerTurn },
  resumed: { during: ['resuming'], decide: resume },
  contentUnloaded: { decide: unload },
  contentLoaded: { decide: load },
  cancelled: { decide: (run, { error }) => end(run, error) },
  workStopped: { during: ['ending'], decide: (run, { at }) => cancelCalls(run, at) },
  endPrepared: { during: ['ending'], decide: endChildren },
  childrenCancelled: { during: ['completing', 'ending'], decide: saveEnd },
  progressMade: { decide: noteProgress },
  leaseLost: { decide: leave },
};

export function decideRun(state: ActiveRun, event: RunEvent): Decision {
  // A tool may return long after the end, which is only recorded.
  const isLate = state.phase === 'ended' && event.type === 'callChanged' && event.event.type === 'tool:late';
  // The rule and the event are of the same type.
  const { during, decide } = RULES[event.type] as Rule<RunEvent['type']>;
  if ((isOver(state) && !isLate) || during?.includes(state.phase) === false) return { state, effects: [] };
  const run = new RunDraft(state);
  decide(run, event);
  if (run.next.takeovers > 0 && !isStepping(run.next) && isAtRest(run.next)) noteProgress(run);
  return run.decision;
}

// The beginning

function start(run: RunDraft, { isTakenOver, error, at }: EventOf<'started'>): void {
  const { userId, model, description } = run.next.rules;
  run.transition('running');
  run.publish({ type: 'run:started', userId, model, ...description });
  if (error !== undefined) end(run, error);
  else if (isTakenOver) run.then({ type: 'checkUser' });
  else continueRun(run, at);
}

/** From the response on which the run has not acted yet, or with the next model call. */
function continueRun(run: RunDraft, at: number): void {
  const { turn } = run.next;
  const ofTurn = new Set(turn?.map(({ id }) => id));
  for (const { id } of run.next.calls.open) if (!ofTurn.has(id)) run.then({ type: 'startTool', callId: id });
  if (turn === undefined) checkCall(run);
  else followResponse(run, turn, at);
}

// Model calls

function checkCall(run: RunDraft): void {
  run.transition('running');
  if (run.next.waiting.now || run.next.reads > 0) readMessages(run, false);
  else {
    run.next.phase = 'checking';
    run.then({ type: 'check' });
  }
}

function prepareCall(run: RunDraft, { isDraining, seesImages, ...spending }: EventOf<'checked'>): void {
  const { next } = run;
  if (isDraining) {
    next.phase = 'suspended';
    return;
  }
  const { isAfterAnswer } = next;
  if (next.messages.length > 0) {
    next.countedFrom = next.iterations - next.deliveries;
    next.isAfterAnswer = false;
  }
  const exceeded = exceededLimit(next, isDelivery(next), spending);
  if (exceeded !== undefined) {
    end(run, exceeded);
    return;
  }
  deliverLateResults(run, seesImages, isAfterAnswer);
  deliverMessages(run);
  next.phase = 'fitting';
  run.then({ type: 'fitHistory' });
}

/** Moves the late results that the next request may deliver to the transcript, in the order of arrival. */
function deliverLateResults(run: RunDraft, seesImages: boolean, isAfterAnswer: boolean): void {
  const { next } = run;
  const isTaken = (id: string): boolean => isAfterAnswer || deliveryOf(next, run.call(id)) !== 'when_idle';
  const taken = next.lateResults.filter(isTaken);
  if (taken.length > 0) {
    next.lateResults = next.lateResults.filter((id) => !taken.includes(id));
    run.append(taken.map((id) => lateOutput(run.call(id), seesImages)));
    next.acknowledged = next.acknowledged.filter((id) => !taken.includes(id));
    next.lateUndelivered = [...next.lateUndelivered, ...taken];
  }
  if (next.lateUndelivered.length > 0) run.publish({ type: 'nonblocking:result', callIds: next.lateUndelivered });
}

/** Adds the messages that were taken to the transcript, in the order in which they were sent. */
function deliverMessages(run: RunDraft): void {
  const { next } = run;
  const { messages } = next;
  if (messages.length === 0) return;
  const { length } = transcriptOf(next);
  run.append(messages.map(({ item }) => item));
  next.messages = NONE;
  next.delivered = [...next.delivered, ...messages.map(({ messageId }, at) => ({ messageId, index: length + at }))];
  for (const { messageId, item } of messages) run.publish({ type: 'message:delivered', messageId, item });
}

function beginCall(run: RunDraft): void {
  if (run.next.messages.length > 0) {
    checkCall(run);
    return;
  }
  run.next.iterations += 1;
  run.publish({ type: 'iteration:start', iteration: run.next.iterations });
  recordCall(run);
}

function recordCall(run: RunDraft): void {
  run.next.phase = 'recording';
  run.then({ type: 'persist', barrier: { before: 'call' } });
}

/** A run that was cancelled during a step of its model call ends after it. What the model has answered is billed. */
function unlessEnding<E extends { readonly at: number; readonly response?: LLMResponse }>(
  step: (run: RunDraft, event: E) => void,
): (run: RunDraft, event: E) => void {
  return (run, event) => {
    const { error } = run.next;
    if (error === undefined) step(run, event);
    else failCall(run, { type: 'modelFailed', at: event.at, error, bill: event.response });
  };
}

/** The store has what must come before. */
function goOn(run: RunDraft, event: EventOf<'persisted'>): void {
  const { barrier } = event;
  const { phase } = run.next;
  switch (barrier.before) {
    case 'call':
      if (phase === 'recording') callModel(run, event);
      break;
    case 'approval':
      // It may have been cancelled meanwhile.
      if (isPending(run.call(barrier.callId))) run.applyToolEvent(barrier.callId, barrier.event);
      wakeForMessages(run);
      break;
    case 'end':
      if (phase === 'saving') announceEnd(run);
      break;
    default:
      unreachable(barrier);
  }
}

const callModel = unlessEnding((run) => {
  // It was interrupted before it was made.
  if (run.next.messages.length > 0) {
    run.publish({ type: 'llm:interrupted', iteration: run.next.iterations });
    checkCall(run);
    return;
  }
  run.next.phase = 'calling';
  run.then({ type: 'callModel' });
});

function compactHistory(run: RunDraft, { compaction, report }: EventOf<'historyCompacted'>): void {
  run.next.compaction = compaction;
  if (report !== undefined) run.publish(report);
}

function retryCall(run: RunDraft, { attempt }: EventOf<'modelRetried'>): void {
  const { next } = run;
  // A discarded response is billed like any other.
  if (attempt.usage !== undefined)
    next.totals = addBill(next.totals, { usage: attempt.usage, cost: attempt, model: '' });
  if (next.error === undefined) run.publish({ type: 'llm:retry', iteration: next.iterations, ...attempt });
}

function writeArguments(run: RunDraft, { call_id, name, delta }: EventOf<'modelWroteArguments'>): void {
  run.publish({ type: 'tool:arguments_delta', callId: uniqueId(run.next, call_id, []), name, delta });
}

/** No other event comes between the response and the step that follows it: the step is decided on what was recorded. */
function receive(run: RunDraft, { response, at }: EventOf<'modelAnswered'>): void {
  const { next } = run;
  if (isDelivery(next)) next.deliveries += 1;
  noteProgress(run);
  next.totals = addResponse(next.totals, response);
  next.turnStart = transcriptOf(next).length;
  next.response = response;
  const { items, calls } = outputOf(next, response);
  run.append(items);
  if (next.rules.durability === 'step') run.save();
  const { undelivered, lateUndelivered } = next;
  for (const id of [...undelivered, ...lateUndelivered])
    run.applyToolEvent(id, { type: 'tool:delivered', at, responseId: response.id });
  next.undelivered = NONE;
  next.lateUndelivered = NONE;
  run.publish({ type: 'llm:response', iteration: next.iterations, response });
  if (lateUndelivered.length > 0) run.publish({ type: 'nonblocking:llm_response', callIds: lateUndelivered, response });
  followResponse(run, calls, at);
}

/** @param at when calls are recorded that are not yet */
function followResponse(run: RunDraft, calls: readonly TurnCall[], at: number): void {
  const { next } = run;
  const { response } = next;
  next.turn = undefined;
  if (response === undefined) {
    checkCall(run);
    return;
  }
  const open = { running: countRunning(next), undelivered: countUndelivered(next) };
  const step = nextStep(response, open, next.rules.clientTools);
  next.isAfterAnswer = step.kind !== 'use-tools';
  switch (step.kind) {
    case 'stop':
      next.phase = 'ending';
      end(run, step.error);
      break;
    case 'use-tools':
      next.turn = calls;
      beginTurn(run, calls, at);
      break;
    case 'continue':
      if (response.output_text !== '' && response.vendor.finish_reason !== 'pause_turn')
        run.then({ type: 'answer', response });
      checkCall(run);
      break;
    case 'wait':
    case 'answer':
      run.then({ type: 'answer', response });
      rest(run);
      break;
    default:
      unreachable(step);
  }
}

/** The model has answered: if nobody has sent the run anything, it waits for late results, or ends. */
function rest(run: RunDraft): void {
  const { next } = run;
  const isWaiting = countRunning(next) > 0;
  if (next.messages.length > 0) checkCall(run);
  else if (next.waiting.now || next.reads > 0 || (next.waiting.after && !isWaiting)) readMessages(run, !isWaiting);
  else if (!isWaiting) {
    run.transition('running');
    complete(run);
  } else {
    run.transition('waiting');
    next.phase = 'waiting';
    run.save();
  }
}

/** The call has no response, but may have cost something. */
function failCall(run: RunDraft, { error, bill, at }: EventOf<'modelFailed'>): void {
  const { next } = run;
  if (bill !== undefined) next.totals = withBill(next.totals, bill);
  const { code, message } = next.error ?? error;
  if (isCalling(next) && next.lateUndelivered.length > 0)
    run.publish({ type: 'nonblocking:error', callIds: next.lateUndelivered, error: { code, message } });
  next.phase = 'ending';
  // Otherwise, work was stopped before.
  if (next.error === undefined) end(run, error);
  else cancelCalls(run, at);
}

// Messages

function readMessages(run: RunDraft, isAfterAnswer: boolean): void {
  run.next.phase = 'reading';
  // What is being taken may be enough.
  if (run.next.reads === 0) takeMessages(run, isAfterAnswer);
}

/** What is sent from now on may not be among what is taken. */
function takeMessages(run: RunDraft, isAfterAnswer: boolean): void {
  const { waiting } = run.next;
  run.next.reads += 1;
  run.next.waiting = isAfterAnswer ? NO_MESSAGES : { ...waiting, now: false };
  run.then({ type: 'takeMessages', isAfterAnswer });
}

function hearOfMessage(run: RunDraft, { when }: EventOf<'messageSent'>): void {
  const { next } = run;
  next.waiting = when === 'after' ? { ...next.waiting, after: true } : { ...next.waiting, now: true };
  if (when === 'interrupt' && next.error === undefined && next.phase !== 'suspended') takeMessages(run, false);
  else wakeForMessages(run);
}

/** A run that only waits for others goes on with the messages that it was sent. */
function wakeForMessages(run: RunDraft): void {
  const { next } = run;
  if (!isSpokenTo(next) || next.error !== undefined) return;
  if (next.phase === 'waiting' && (next.messages.length > 0 || next.reads === 0)) {
    next.phase = 'resuming';
    run.then({ type: 'resume' });
  } else if (next.phase === 'tools' && next.messages.length > 0) detachCalls(run);
  else if (next.phase === 'tools' && next.waiting.now && isTurnAtRest(next)) takeMessages(run, false);
}

function takeIn(run: RunDraft, { taken, waiting, sent }: EventOf<'messagesTaken'>): void {
  const { next } = run;
  const known = new Set([...next.delivered, ...next.messages].map(({ messageId }) => messageId));
  next.messages = [...next.messages, ...taken.filter(({ messageId }) => !known.has(messageId))];
  next.waiting = { now: next.waiting.now || waiting.now, after: next.waiting.after || waiting.after };
  next.sent = Math.max(next.sent, sent);
  next.reads -= 1;
  if (next.error !== undefined) return;
  if (next.phase === 'reading') {
    if (next.reads > 0) return;
    if (owesCall(next)) checkCall(run);
    else rest(run);
  } else if (next.phase === 'calling') {
    if (next.messages.length > 0) run.then({ type: 'interruptModel' });
  } else wakeForMessages(run);
}

/** The turn goes on without the calls that have not settled: their results are late ones. */
function detachCalls(run: RunDraft): void {
  const { next } = run;
  for (const { id } of next.turn ?? []) {
    const call = run.call(id);
    if (isSettled(call)) continue;
    if (call.blocking) run.applyToolEvent(id, { type: 'tool:detached', at: call.createdAt });
    if (!next.accepted.includes(id)) next.accepted = [...next.accepted, id];
  }
  endTurnIfDone(run);
}

/** What the model has said stays in the transcript. */
function interruptCall(run: RunDraft, { at, bill, item }: EventOf<'modelInterrupted'>): void {
  const { next } = run;
  if (next.error !== undefined) {
    failCall(run, { type: 'modelFailed', at, error: next.error, bill });
    return;
  }
  next.totals = addBill(next.totals, bill);
  if (item !== undefined) run.append([item]);
  run.publish(omitUndefined({ type: 'llm:interrupted', iteration: next.iterations, item }));
  checkCall(run);
}

/** A message was sent to a run that was about to end. */
function reopen(run: RunDraft): void {
  const { next } = run;
  // Neither stored nor announced.
  next.status = 'running';
  next.waiting = { now: true, after: true };
  if (next.nextError === undefined) rest(run);
  else end(run, next.nextError);
}

// Tool calls

function beginTurn(run: RunDraft, calls: readonly TurnCall[], at: number): void {
  run.next.phase = 'tools';
  for (const call of calls) if (!run.next.calls.has(call.id)) run.recordCall(call, at);
  // Another process may have settled some.
  for (const { id } of calls) if (!isSettled(run.call(id))) run.then({ type: 'startTool', callId: id });
  endTurnIfDone(run);
  wakeForMessages(run);
}

function changeCall(run: RunDraft, { callId, event }: EventOf<'callChanged'>): void {
  const { next } = run;
  if (event.type === 'tool:approval_required' && next.rules.isStored) {
    run.then({ type: 'persist', barrier: { before: 'approval', callId, event } });
    return;
  }
  const hasSettled = run.applyToolEvent(callId, event);
  if (hasSettled && event.type !== 'tool:cancelled') noteProgress(run);
  if (event.type === 'tool:detached') next.accepted = [...next.accepted, callId];
  endTurnIfDone(run);
  if (next.phase === 'waiting' && next.lateResults.length > 0) {
    next.phase = 'resuming';
    run.then({ type: 'resume' });
  } else wakeForMessages(run);
}

function acceptCall(run: RunDraft, callId: string): void {
  run.next.accepted = [...run.next.accepted, callId];
  endTurnIfDone(run);
}

function endTurnIfDone(run: RunDraft): void {
  const { phase, turn, accepted } = run.next;
  if (phase !== 'tools' || turn === undefined) return;
  const isDone = ({ id }: TurnCall): boolean => {
    const call = run.call(id);
    return isSettled(call) || (!call.blocking && accepted.includes(id));
  };
  if (!turn.every(isDone)) return;
  run.next.phase = 'answering';
  run.then({ type: 'endTurn' });
}

/** Adds one output per call, in call order: its result, or the acknowledgement that the result will follow. */
function answerTurn(run: RunDraft, { seesImages }: EventOf<'turnEnded'>): void {
  const { next } = run;
  const { turn = [] } = next;
  const calls = turn.map(({ id }) => run.call(id));
  const open = calls.filter((call) => !isSettled(call)).map(({ id }) => id);
  if (open.length > 0) next.acknowledged = [...next.acknowledged, ...open];
  next.accepted = NONE;
  run.append(
    calls.map((call) =>
      isSettled(call) ? toolOutput(toToolResult(call), call.name, seesImages) : acknowledgement(call.id, call.name),
    ),
  );
  next.undelivered = calls.filter(isSettled).map(({ id }) => id);
  next.turn = undefined;
  next.failedTurns = calls.every(hasFailed) ? next.failedTurns + 1 : 0;
  if (next.failedTurns >= next.rules.limits.maxToolErrors) end(run, toolLoopError(next.failedTurns, calls));
  else checkCall(run);
}

function resume(run: RunDraft, { isDraining }: EventOf<'resumed'>): void {
  const { next } = run;
  if (isDraining) next.phase = 'suspended';
  else if (countUndelivered(next) > 0) checkCall(run);
  else rest(run);
}

function unload({ next }: RunDraft): void {
  next.transcript = undefined;
  next.calls = next.calls.map((call) => (isReceived(call) ? withoutResult(call) : call));
}

function load(run: RunDraft, { transcript, calls }: EventOf<'contentLoaded'>): void {
  const { next } = run;
  next.transcript = transcript;
  const stored = new Map(calls.map((call) => [call.id, call]));
  next.calls = next.calls.map((call) => (isReceived(call) ? (stored.get(call.id) ?? call) : call));
}

// The end

function complete(run: RunDraft): void {
  run.next.phase = 'completing';
  endChildren(run);
}

/** A model call that is under way ends first, since it costs something. */
function end(run: RunDraft, error: LLMError): void {
  const { next } = run;
  if (next.error !== undefined) return;
  if (isFinished(next.status)) {
    next.nextError ??= error;
    return;
  }
  next.error = error;
  if (!isCalling(next) && next.phase !== 'fitting') next.phase = 'ending';
  run.then({ type: 'stopWork', error });
}

/** Cancels the calls that nobody runs, so that their events come before the run's last one. */
function cancelCalls(run: RunDraft, at: number): void {
  for (const call of run.next.calls.open) {
    const error = { failure: 'cancelled', message: endOfCall(call) } as const;
    run.applyToolEvent(call.id, { type: 'tool:cancelled', at, error });
  }
  if (run.next.transcript === undefined) run.then({ type: 'prepareEnd' });
  else endChildren(run);
}

/** Before the end is stored: until then, whoever takes the run over does it again. */
function endChildren(run: RunDraft): void {
  if (mayHaveChildren(run.next)) run.then({ type: 'cancelChildren' });
  else saveEnd(run);
}

function saveEnd(run: RunDraft): void {
  const { next } = run;
  const { error } = next;
  if (error === undefined && (isSpokenTo(next) || next.waiting.after)) {
    rest(run);
    return;
  }
  run.transition(error === undefined ? 'completed' : error.code === 'aborted' ? 'cancelled' : 'failed');
  next.phase = 'saving';
  run.then({ type: 'saveEnd', error });
}

function announceEnd(run: RunDraft): void {
  const { next } = run;
  const { error, response, iterations } = next;
  const sums = sumsOf(next.totals);
  next.phase = 'ended';
  if (error !== undefined) {
    const { code, message } = error;
    run.publish(
      next.status === 'cancelled'
        ? { type: 'run:cancelled', ...sums }
        : { type: 'run:failed', error: { code, message }, ...sums },
    );
    run.then({ type: 'settle', outcome: error });
  } else if (response !== undefined) {
    run.publish({ type: 'run:completed', response, ...sums, iterations });
    run.then({ type: 'settle', outcome: response });
  }
}

function leave(run: RunDraft, { error }: EventOf<'leaseLost'>): void {
  run.next.phase = 'left';
  run.next.error = error;
  run.then({ type: 'leave', error });
}

/** Resets the count of takeovers: whatever killed the run's earlier owners did not kill this one. */
function noteProgress(run: RunDraft): void {
  if (run.next.takeovers === 0) return;
  run.next.takeovers = 0;
  run.then({ type: 'clearTakeovers' });
}

function withBill(totals: RunTotals, bill: LLMResponse | CallBill): RunTotals {
  return 'output' in bill ? addResponse(totals, bill) : addBill(totals, bill);
}

// Items

/** A call id that the run has used before is replaced by a unique one. */
function outputOf(
  run: ActiveRun,
  { output }: LLMResponse,
): { readonly items: readonly Item[]; readonly calls: readonly TurnCall[] } {
  const calls: TurnCall[] = [];
  const items = output.map((item) => {
    if (item.type !== 'function_call') return wellFormedItem(item);
    const id = uniqueId(run, item.call_id, calls);
    calls.push({ id, call_id: item.call_id, name: item.name, arguments: item.arguments });
    return wellFormedItem(id === item.call_id ? item : { ...item, call_id: id });
  });
  return { items, calls };
}

function uniqueId(run: ActiveRun, requested: string, turn: readonly TurnCall[]): string {
  const isUsed = (id: string): boolean =>
    run.calls.has(id) || turn.some((call) => call.id === id) || isInInput(run, id);
  let id = requested;
  for (let count = 2; isUsed(id); count += 1) id = `${requested}_${count}`;
  return id;
}

function isInInput(run: ActiveRun, callId: string): boolean {
  const transcript = transcriptOf(run);
  for (let index = 0; index < run.rules.inputLength; index += 1) {
    const item = transcript[index];
    if (item?.type === 'function_call' && item.call_id === callId) return true;
  }
  return false;
}

function lateOutput(call: ToolCall, seesImages: boolean): FunctionCallOutputItem {
  return deferredOutput(toToolResult(call), call.name, seesImages);
}

function toolLoopError(turns: number, calls: readonly ToolCall[]): ToolLoopError {
  const last = calls.at(-1);
  const message = last !== undefined && 'error' in last ? last.error.message : 'unknown';
  return new ToolLoopError(`Every tool call failed in ${turns} turns in a row. Last error: ${message}`);
}

/** The model has the call's result, so that a run which waits need not keep it. */
function isReceived(call: ToolCall): boolean {
  return call.state === 'completed' && call.deliveredIn !== undefined;
}

function withoutResult(call: ToolCall): ToolCall {
  if (call.state !== 'completed') return call;
  const { images: _, ...others } = call;
  return omitUndefined({ ...others, result: '' });
}
