/** Mistakes in the machine that its simulation must find, each of which is easily made. */
import type { PlantedFault } from '../plantedFaults';

const RUN = 'imports/business/ai/domain/run';
const DECIDE = `${RUN}/decideRun.ts`;
const DRAFT = `${RUN}/RunDraft.ts`;
const ACTIVE = `${RUN}/ActiveRun.ts`;
const DURABLE = 'imports/business/ai/application/services/runs/durable';
const RESTORE = `${DURABLE}/restoreRun.ts`;
const PROGRESS = `${DURABLE}/runProgress.ts`;
const CHANGES = `${DURABLE}/stateChanges.ts`;

export const PLANTED_FAULTS: readonly PlantedFault[] = [
  // Barriers
  {
    title: 'calls the model before the call is stored',
    file: DECIDE,
    find: "run.then({ type: 'persist', barrier: { before: 'call' } });",
    replace: "run.next.phase = 'calling';\n  run.then({ type: 'callModel' });",
  },
  {
    title: 'asks a person about a call that is not stored',
    file: DECIDE,
    find: "if (event.type === 'tool:approval_required' && next.rules.isStored) {",
    replace: "if (event.type === 'tool:approval_required' && !next.rules.isStored) {",
  },
  {
    title: 'announces the end before it is stored',
    file: DECIDE,
    find: "run.then({ type: 'saveEnd', error });",
    replace: "run.then({ type: 'saveEnd', error });\n  announceEnd(run);",
  },
  {
    title: 'asks about a call that was cancelled while it was stored',
    file: DECIDE,
    find: 'if (isPending(run.call(barrier.callId))) run.applyToolEvent',
    replace: 'run.applyToolEvent',
  },
  // Late results
  {
    title: 'delivers a late result with every request',
    file: DECIDE,
    find: 'next.lateResults = next.lateResults.filter((id) => !taken.includes(id));',
    replace: '',
  },
  {
    title: 'forgets that a call was acknowledged',
    file: DECIDE,
    find: 'if (open.length > 0) next.acknowledged = [...next.acknowledged, ...open];',
    replace: '',
  },
  {
    title: 'remembers the acknowledged calls of the last turn only',
    file: DECIDE,
    find: 'next.acknowledged = [...next.acknowledged, ...open];',
    replace: 'next.acknowledged = open;',
  },
  {
    title: 'delivers results early that are for an idle model',
    file: DECIDE,
    find: "isAfterAnswer || deliveryOf(next, run.call(id)) !== 'when_idle'",
    replace: 'true',
  },
  {
    title: 'calls the model for results that it need not hear of',
    file: ACTIVE,
    find: "return run.lateResults.filter((id) => deliveryOf(run, callOf(run, id)) !== 'silent').length;",
    replace: 'return run.lateResults.length;',
  },
  {
    title: 'does not announce late results',
    file: DRAFT,
    find: "this.publish({ type: 'result:arrived', callId: id, name: call.name, state: call.state }, call);",
    replace: '',
  },
  {
    title: 'does not wake for a late result',
    file: DECIDE,
    find: "if (next.phase === 'waiting' && next.lateResults.length > 0) {",
    replace: "if (next.phase === 'waiting' && next.lateResults.length > 1) {",
  },
  {
    title: 'does not count calls that only deliver',
    file: DECIDE,
    find: 'if (isDelivery(next)) next.deliveries += 1;',
    replace: '',
  },
  {
    title: 'does not mark what the model has received',
    file: DECIDE,
    find: 'for (const id of [...undelivered, ...lateUndelivered])',
    replace: 'for (const id of undelivered)',
  },
  // Turns
  {
    title: 'appends the result of a call twice',
    file: DECIDE,
    find: 'next.undelivered = calls.filter(isSettled).map(({ id }) => id);',
    replace:
      'run.append(calls.filter(isSettled).slice(0, 1).map((call) => toolOutput(toToolResult(call), call.name, seesImages)));\n  next.undelivered = calls.filter(isSettled).map(({ id }) => id);',
  },
  {
    title: 'answers a turn before its blocking calls have settled',
    file: DECIDE,
    find: 'return isSettled(call) || (!call.blocking && accepted.includes(id));',
    replace: 'return isSettled(call) || accepted.includes(id) || (call.blocking && turn.length > 1);',
  },
  {
    title: 'waits for calls that are not blocking',
    file: DECIDE,
    find: 'return isSettled(call) || (!call.blocking && accepted.includes(id));',
    replace: 'return isSettled(call);',
  },
  {
    title: 'does not accept detached calls',
    file: DECIDE,
    find: "if (event.type === 'tool:detached') next.accepted = [...next.accepted, callId];",
    replace: '',
  },
  {
    title: 'lets the model use an id again',
    file: DECIDE,
    find: 'const id = uniqueId(run, item.call_id, calls);',
    replace: 'const id = item.call_id;',
  },
  {
    title: 'lets the model use an id of the input again',
    file: DECIDE,
    find: 'run.calls.has(id) || turn.some((call) => call.id === id) || isInInput(run, id);',
    replace: 'run.calls.has(id) || turn.some((call) => call.id === id);',
  },
  {
    title: 'starts the tools of calls that another process has settled',
    file: DECIDE,
    find: "for (const { id } of calls) if (!isSettled(run.call(id))) run.then({ type: 'startTool', callId: id });",
    replace: "for (const { id } of calls) run.then({ type: 'startTool', callId: id });",
  },
  {
    title: 'does not start the open calls of earlier turns again',
    file: DECIDE,
    find: 'for (const { id } of run.next.calls.open) if (!ofTurn.has(id))',
    replace: 'for (const { id } of run.next.calls.open) if (!ofTurn.has(id) && run.next.calls.size === 0)',
  },
  {
    title: 'takes a paused turn for an answer',
    file: `${RUN}/nextStep.ts`,
    find: "if (response.vendor.finish_reason === 'pause_turn') return { kind: 'continue' };",
    replace: '',
  },
  {
    title: 'does not forget turns that failed',
    file: DECIDE,
    find: 'next.failedTurns = calls.every(hasFailed) ? next.failedTurns + 1 : 0;',
    replace: 'next.failedTurns = calls.every(hasFailed) ? next.failedTurns + 1 : next.failedTurns;',
  },
  {
    title: 'does not check limits',
    file: DECIDE,
    find: 'if (exceeded !== undefined) {',
    replace: 'if (exceeded !== undefined && next.failedTurns > 99) {',
  },
  // Messages
  {
    title: 'delivers a message again that was taken twice',
    file: DECIDE,
    find: 'taken.filter(({ messageId }) => !known.has(messageId))',
    replace: 'taken',
  },
  {
    title: 'forgets what is sent while the queue is read',
    file: DECIDE,
    find: 'next.waiting = { now: next.waiting.now || waiting.now, after: next.waiting.after || waiting.after };',
    replace: 'next.waiting = waiting;',
  },
  {
    title: 'completes while its queue is read',
    file: DECIDE,
    find: 'else if (next.waiting.now || next.reads > 0 ||',
    replace: 'else if (next.waiting.now ||',
  },
  {
    title: 'completes although it was sent a message',
    file: DECIDE,
    find: 'if (error === undefined && (isSpokenTo(next) || next.waiting.after)) {',
    replace: 'if (error === undefined && next.seq < 0) {',
  },
  {
    title: 'lets a message wait while the model writes',
    file: DECIDE,
    find: "if (next.messages.length > 0) run.then({ type: 'interruptModel' });",
    replace: '',
  },
  {
    title: 'calls the model for a turn that was interrupted before',
    file: DECIDE,
    find: '// It was interrupted before it was made.\n  if (run.next.messages.length > 0) {',
    replace: 'if (run.next.seq < 0) {',
  },
  {
    title: 'waits on although it was sent a message',
    file: DECIDE,
    find: "if (next.phase === 'waiting' && (next.messages.length > 0 || next.reads === 0)) {",
    replace: "if (next.phase === 'waiting' && next.messages.length > 0) {",
  },
  {
    title: 'answers messages of a turn that waits for people only once they have decided',
    file: DECIDE,
    find: "else if (next.phase === 'tools' && next.messages.length > 0) detachCalls(run);",
    replace: '',
  },
  {
    title: 'counts the call that answers a message as one that only delivers',
    file: DECIDE,
    find: 'next.countedFrom = next.iterations - next.deliveries;\n    next.isAfterAnswer = false;',
    replace: 'next.countedFrom = next.iterations - next.deliveries;',
  },
  {
    title: 'does not bill a call that was interrupted',
    file: DECIDE,
    find: 'next.totals = addBill(next.totals, bill);\n  if (item !== undefined)',
    replace: 'if (item !== undefined)',
  },
  {
    title: 'ignores a cancellation while the end is stored that is refused',
    file: DECIDE,
    find: 'next.nextError ??= error;',
    replace: '',
  },
  {
    title: 'forgets after a takeover which messages were taken',
    file: RESTORE,
    find: 'messages: messages?.taken ?? NONE,',
    replace: 'messages: NONE,',
  },
  {
    title: 'forgets after a takeover that messages wait',
    file: RESTORE,
    find: 'waiting: messages?.waiting ?? NO_MESSAGES,',
    replace: 'waiting: NO_MESSAGES,',
  },
  {
    title: 'ends after a takeover without the answer to a message',
    file: RESTORE,
    find: 'if (first === undefined) return transcript.length > turnEnd ? undefined : calls;',
    replace: 'if (first === undefined) return calls;',
  },
  {
    title: 'does not write from where calls are counted',
    file: PROGRESS,
    find: 'if (countedFrom > 0) progress.countedFrom = countedFrom;',
    replace: '',
  },
  // The end
  {
    title: 'ignores a cancellation while the last answer is recorded',
    file: DECIDE,
    find: 'if (isFinished(next.status)) {\n    next.nextError',
    replace: "if (isFinished(next.status) || next.phase === 'completing') {\n    next.nextError",
  },
  {
    title: 'takes an answer that comes after the cancellation',
    file: DECIDE,
    find: "modelAnswered: { during: ['calling'], decide: unlessEnding(receive) },",
    replace: "modelAnswered: { during: ['calling'], decide: receive },",
  },
  {
    title: 'does not cancel the runs below',
    file: DECIDE,
    find: 'function endChildren(run: RunDraft): void {\n  if (mayHaveChildren(run.next))',
    replace: 'function endChildren(run: RunDraft): void {\n  if (run.next.seq < 0)',
  },
  {
    title: 'goes on after the end',
    file: DECIDE,
    find: 'if ((isOver(state) && !isLate) || during?.includes(state.phase) === false)',
    replace: "if ((state.phase === 'left' && !isLate) || during?.includes(state.phase) === false)",
  },
  {
    title: 'leaves calls open at the end',
    file: DECIDE,
    find: 'for (const call of run.next.calls.open) {\n    const error',
    replace: 'for (const call of run.next.calls.open.slice(1)) {\n    const error',
  },
  // Takeover
  {
    title: 'does not note that a run has made progress',
    file: DECIDE,
    find: 'if (isDelivery(next)) next.deliveries += 1;\n  noteProgress(run);',
    replace: 'if (isDelivery(next)) next.deliveries += 1;',
  },
  {
    title: 'numbers events after a takeover from the last number that was recorded',
    file: RESTORE,
    find: 'seq: run.seq + run.fence * MAX_UNRECORDED_EVENTS,',
    replace: 'seq: run.seq,',
  },
  {
    title: 'counts an interrupted call twice',
    file: RESTORE,
    find: 'iterations: run.isCalling ? run.iterations - 1 : run.iterations,',
    replace: 'iterations: run.iterations,',
  },
  {
    title: 'forgets after a takeover which results the next request delivers',
    file: RESTORE,
    find: 'undelivered: undelivered.filter((id) => !isLate(id)),',
    replace: '',
  },
  {
    title: 'forgets after a takeover which calls were acknowledged',
    file: RESTORE,
    find: 'acknowledged: acknowledged.filter((id) => !results.has(id)),',
    replace: '',
  },
  {
    title: 'delivers late results again after a takeover',
    file: RESTORE,
    find: '.filter((call) => isDeliverable(call) && acknowledged.includes(call.id) && !results.has(call.id))',
    replace: '.filter((call) => isDeliverable(call) && acknowledged.includes(call.id))',
  },
  {
    title: 'runs the calls of a turn again that another process has settled',
    file: RESTORE,
    find: 'const settled = isSettled(call) ? call : settleWith(call, result.item);',
    replace: 'const settled = call;',
  },
  {
    title: 'acts again after a takeover on a response whose turn is answered',
    file: RESTORE,
    find: 'return isAnswered ? undefined : calls;',
    replace: 'return calls;',
  },
  {
    title: 'waits after a takeover for a call whose turn went on without it',
    file: RESTORE,
    find: 'return open.blocking ? { ...open, blocking: false } : open;',
    replace: 'return open;',
  },
  // What is written
  {
    title: 'does not write how many calls only delivered',
    file: PROGRESS,
    find: 'if (deliveries > 0) progress.deliveries = deliveries;',
    replace: '',
  },
  {
    title: 'does not write the error that ends the run before the calls that it cancels',
    file: CHANGES,
    find: 'written.error !== state.error ||',
    replace: '',
  },
  {
    title: 'does not write that the model is about to be called',
    file: PROGRESS,
    find: 'isCalling: isCalling(state),',
    replace: "isCalling: state.phase === 'calling',",
  },
  {
    title: 'does not write what happens to calls',
    file: DRAFT,
    find: "if (isWritten && event.type !== 'tool:progress') this.save();",
    replace: '',
  },
  {
    title: 'does not store a response at once',
    file: DECIDE,
    find: "if (next.rules.durability === 'step') run.save();",
    replace: '',
  },
  {
    title: 'does not write that a run waits',
    file: DECIDE,
    find: "next.phase = 'waiting';\n    run.save();",
    replace: "next.phase = 'waiting';",
  },
  {
    title: 'does not save calls that settle',
    file: CHANGES,
    find: 'return before === undefined || !isOnlyProgress(before, call);',
    replace: 'return before === undefined;',
  },
];
