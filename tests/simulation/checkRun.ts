/** What must hold of a run after a schedule, whatever has happened in it. @see docs/guides/durable-runs.md */
import { isFinished } from '../../imports/business/ai/domain/entities/Run';
import { textOfContent } from '../../imports/business/ai/domain/entities/Content';
import { isSettled } from '../../imports/business/ai/domain/entities/Tool';
import type { ToolCall } from '../../imports/business/ai/domain/entities/Tool';
import type { StoredRun } from '../../imports/business/ai/domain/interfaces/RunStore';
import type { RunRecord } from '../../imports/business/ai/domain/types/RunRecords';
import { checkTranscript } from '../support/checkTranscript';
import { KEYED } from '../support/durable/mixedTools';
import { checkEvents } from './checkEvents';
import { speakerIn, turnsOf } from './handoffs';
import type { Observations } from './Observations';
import { isConfusing } from './Plan';
import type { Plan } from './Plan';
import { answerAt } from './simulatedModel';

/** Milliseconds: two heartbeats, and requests that are delayed. */
const CANCELLED_WITHIN = 5_000;

const EFFECTLESS: ReadonlySet<string> = new Set(['webhook', 'hand_over']);

/** @returns a line per broken promise */
export function checkRun(plan: Plan, seen: Observations, { run, calls }: StoredRun): readonly string[] {
  const planned = turnsOf(plan.runs.find(({ id }) => id === run.executionId) ?? {}).flat();
  return [
    ...checkEnd(plan, run, planned.length),
    ...calls.flatMap((call) => checkCall(plan, seen, run, call)),
    ...checkEffects(plan, seen, { run, calls }, planned),
    ...checkHistory(seen, run, calls),
    ...checkMessages(plan, seen, run),
    ...checkEvents(seen, run),
    ...checkOutcomes(seen, run),
    ...checkCancellations(plan, seen, run),
  ].map((problem) => `${run.executionId}: ${problem}`);
}

function checkEnd(
  { runs, faults }: Plan,
  { executionId, state, error, response }: RunRecord,
  count: number,
): readonly string[] {
  const { runTimeout } = runs.find(({ id }) => id === executionId)!;
  if (!isFinished(state)) return [`is ${state}`];
  if (state === 'completed')
    return response?.output_text === `received ${count}` ? [] : [`has the answer ${response?.output_text ?? ''}`];
  const isCancelled = faults.some((fault) => fault.kind === 'cancel' && fault.run === executionId);
  if (state === 'cancelled' && isCancelled) return [];
  if (state === 'failed' && error?.code === 'timeout' && runTimeout !== undefined) return [];
  return [`is ${state}: ${error?.message ?? ''}`];
}

function checkCall(plan: Plan, seen: Observations, run: RunRecord, call: ToolCall): readonly string[] {
  const problems: string[] = [];
  const problem = (text: string): void => void problems.push(`${call.id} ${text}`);
  if (!isSettled(call)) problem(`is ${call.state} although the run has ended`);
  const decisions = seen.decisionsOn(run.executionId, call.id);
  const submitted = decisions.flatMap(({ decision, reply }) =>
    decision.kind === 'submit' ? [{ output: decision.output, isAccepted: reply === 'accepted' }] : [],
  );
  const isRejected = decisions.some(({ decision }) => decision.kind === 'reject');
  const mayRerun = decisions.some(({ decision }) => decision.kind === 'rerun');
  const accepted = submitted.filter(({ isAccepted }) => isAccepted);
  if (accepted.length > 1 && !mayRerun) problem(`has ${accepted.length} accepted results`);
  switch (call.state) {
    case 'completed':
      // Who was told that a result counts finds it.
      if (accepted.length > 0 && !mayRerun && !accepted.some(({ output }) => output === call.result))
        problem(`has the result ${call.result}, but ${accepted[0]!.output} was accepted`);
      break;
    case 'failed':
      if (!isRejected) problem(`failed: ${call.error.message}`);
      break;
    case 'timeout':
      // What a tool returns while its process stands still, or is slow, is read after the timer.
      if (!plan.faults.some(({ kind }) => kind === 'pause')) problem('timed out');
      break;
    case 'cancelled':
      if (run.state === 'completed') problem('is cancelled although the run has completed');
      break;
    default:
  }
  return problems;
}

function checkEffects(
  plan: Plan,
  seen: Observations,
  { run, calls }: StoredRun,
  planned: readonly (readonly [string, string])[],
): readonly string[] {
  return planned.flatMap(([tool, id]) => {
    const times = seen.effectsOf(tool, run.executionId, id).length;
    const call = calls.find((each) => each.id === id);
    const isRepeated = times > 1 && !KEYED.includes(tool);
    // A person may have said what the result is, or that there is none.
    const isDecided = seen.decisionsOn(run.executionId, id).some(({ decision }) => decision.kind !== 'approve');
    const isMissing = times === 0 && call?.state === 'completed' && !EFFECTLESS.has(tool) && !isDecided;
    const isNotRecorded = call === undefined && (times > 0 || run.state === 'completed');
    return [
      ...(isRepeated ? [`${tool} ${id} had its effect ${times} times`] : []),
      ...(isMissing ? [`${tool} ${id} had no effect, but has the result ${JSON.stringify(call)}`] : []),
      ...(isNotRecorded ? [`${tool} ${id} is not recorded, but had its effect ${times} times`] : []),
    ];
  });
}

/** The model was sent what is recorded, with each result once, in the request that its call names. */
function checkHistory(seen: Observations, run: RunRecord, calls: readonly ToolCall[]): readonly string[] {
  const problems: string[] = [];
  const { transcript } = run;
  const answers = transcript.flatMap((item, index) => {
    const id = answerAt(item);
    return id === undefined ? [] : [{ id, index }];
  });
  for (const { id, index } of answers) {
    const asked = seen.answers.get(id);
    if (asked === undefined) problems.push(`contains ${id}, which the model did not say`);
    else if (JSON.stringify(asked.input) !== JSON.stringify(transcript.slice(0, index)))
      problems.push(`${id} was the answer to ${asked.input.length} items, and follows ${index}, or others`);
  }
  for (const [id, { executionId, input, speaker }] of seen.answers) {
    if (executionId !== run.executionId) continue;
    const due = speakerIn(input);
    if (JSON.stringify(speaker) !== JSON.stringify(due))
      problems.push(`${id} was asked of ${JSON.stringify(speaker)} instead of ${JSON.stringify(due)}`);
    try {
      checkTranscript(input);
    } catch (error) {
      problems.push(`the request before ${id} is invalid: ${String(error)}`);
    }
  }
  if (run.state !== 'completed') return problems;
  if (answers.at(-1)?.id !== run.response?.id) problems.push(`ends with ${answers.at(-1)?.id ?? 'no answer'}`);
  const isInterrupted = seen.eventsOf(run.executionId).some(({ event }) => event.type === 'llm:interrupted');
  if (isInterrupted ? answers.length > run.iterations : answers.length !== run.iterations)
    problems.push(`has ${answers.length} answers of ${run.iterations} iterations`);
  const isTakenOver = seen.eventsOf(run.executionId).filter(({ event }) => event.type === 'run:started').length > 1;
  for (const { id, deliveredIn } of calls) {
    const results = transcript.flatMap((item, index) =>
      item.type === 'function_call_output' && item.call_id === id && item.status !== 'in_progress' ? [index] : [],
    );
    const later = answers.filter(({ index }) => index > (results[0] ?? Infinity)).map((answer) => answer.id);
    if (results.length !== 1) problems.push(`the result of ${id} is there ${results.length} times`);
    // Calls are written after the run. Of one whose mark was lost with its process, the next owner knows only that the
    // last answer came later than the result.
    else if (deliveredIn === undefined || !(isTakenOver ? later : later.slice(0, 1)).includes(deliveredIn))
      problems.push(`${id} was delivered in ${later[0] ?? 'none'}, and names ${deliveredIn ?? 'none'}`);
  }
  return problems;
}

/** Each message is delivered once. */
function checkMessages(
  { messages }: Plan,
  seen: Observations,
  { executionId, state, transcript }: RunRecord,
): readonly string[] {
  const texts = transcript.flatMap((item) =>
    item.type === 'message' && item.role === 'user' ? [textOfContent(item.content)] : [],
  );
  return messages.flatMap(({ id, run }) => {
    if (run !== executionId) return [];
    const times = texts.filter((text) => text === id).length;
    const isLost = times === 0 && state === 'completed' && seen.accepted.has(id);
    return times > 1 || isLost ? [`${id} is delivered ${times} times`] : [];
  });
}

/** Checks that each caller who waited for the run learned what is stored. */
function checkOutcomes(seen: Observations, { executionId, state, response, error }: RunRecord): readonly string[] {
  return seen.outcomes.flatMap(({ executionId: id, outcome }) => {
    if (id !== executionId) return [];
    if ('answer' in outcome)
      return state === 'completed' && outcome.answer === response?.id
        ? []
        : [`was reported as ${outcome.answer ?? ''}`];
    // The process shuts down, and the run continues in another one.
    if (outcome.code === 'overloaded') return [];
    return state !== 'completed' && outcome.code === error?.code ? [] : [`was reported as ${outcome.code}`];
  });
}

/** A confirmed cancellation takes effect with the next heartbeat of whoever has the run. */
function checkCancellations(plan: Plan, seen: Observations, { executionId, state }: RunRecord): readonly string[] {
  if (state !== 'completed' || isConfusing(plan)) return [];
  const events = seen.eventsOf(executionId);
  const end = events.find(({ event }) => event.type === 'run:completed');
  const lastStart = events.findLast(({ event }) => event.type === 'run:started');
  if (end === undefined || lastStart === undefined) return [];
  return seen.cancellations.flatMap(({ executionId: id, at, isStored }) => {
    // With its owner, a cancellation dies that the owner had not stored.
    if (id !== executionId || (!isStored && lastStart.at > at)) return [];
    const late = end.at - Math.max(at, lastStart.at);
    return late > CANCELLED_WITHIN ? [`has completed ${Math.round(late)} ms after it was cancelled`] : [];
  });
}
