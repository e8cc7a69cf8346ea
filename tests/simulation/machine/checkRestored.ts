/** Checks that a run goes on from what the store has of it. */
import { isDeliverable, isSettled } from '../../../imports/business/ai/domain/entities/Tool';
import type { ToolCall } from '../../../imports/business/ai/domain/entities/Tool';
import type { StoredRun } from '../../../imports/business/ai/domain/interfaces/RunStore';
import { isCalling } from '../../../imports/business/ai/domain/run/ActiveRun';
import type { ActiveRun } from '../../../imports/business/ai/domain/run/ActiveRun';
import type { RestoredRun } from '../../../imports/business/ai/application/services/runs/durable/restoreRun';
import { readTranscript } from './readTranscript';
import { ensure } from './Violation';

/** What there was before. */
export interface Before {
  readonly sessions: readonly { readonly order: { readonly last: number } }[];
  /** The state with which the store has been written last. */
  readonly applied: ActiveRun | undefined;
}

export function checkRestored(
  before: Before,
  { run, calls }: StoredRun,
  { state, hasInterruptedModelCall }: RestoredRun,
): void {
  const is = (holds: boolean, what: string): void => ensure(holds, () => `The restored run has other ${what}.`);
  for (const { order } of before.sessions)
    ensure(state.seq >= order.last, () => `Events go on after ${state.seq}, but ${order.last} was the last.`);
  is(state.transcript?.length === run.transcript.length, 'items');
  const inTranscript = readTranscript(run.transcript).calls;
  for (const call of calls) {
    const restored = state.calls.get(call.id);
    is(restored !== undefined, `calls than ${call.id}`);
    is(!isSettled(call) || restored!.state === call.state, `state of ${call.id}`);
    const { call_id, name, arguments: text, createdAt } = restored!;
    const isSame = call_id === call.call_id && name === call.name && text === call.arguments;
    is(isSame && createdAt === call.createdAt, `fields of ${call.id}`);
    const there = inTranscript.get(call.id);
    if (there === undefined || there.results === 0) continue;
    is(there.state === restored!.state, `state of ${call.id}, whose result is there`);
    is(restored!.state !== 'completed' || restored!.result === there.output, `result of ${call.id}`);
    const isDelivered = call.deliveredIn !== undefined && there.resultAt < run.turnStart;
    is(!isDelivered || restored!.deliveredIn === call.deliveredIn, `delivery of ${call.id}`);
  }
  const late = calls.filter((call) => {
    const there = inTranscript.get(call.id);
    return isDeliverable(call) && there?.isAcknowledged === true && there.results === 0;
  });
  is(sameIds(state.lateResults, new Set(late.map(({ id }) => id))), 'late results');
  const ends = state.lateResults.map((id) => endOf(state.calls.get(id)!));
  is(
    ends.every((end, at) => at === 0 || end >= ends[at - 1]!),
    'order of late results',
  );
  for (const [id, { results, isAcknowledged }] of inTranscript) {
    const call = state.calls.get(id);
    const isAwaited = isAcknowledged && call !== undefined && !isSettled(call) && call.blocking;
    ensure(!isAwaited, () => `${id} blocks the run that is restored, but its turn went on without it.`);
    is(results === 0 || (call !== undefined && isSettled(call)), `state of ${id}, whose result is there`);
  }
  const { applied } = before;
  if (applied === undefined || applied.error !== undefined) return;
  is(state.turnStart === applied.turnStart, 'turnStart');
  is(state.response === applied.response, 'response');
  is(state.deliveries === applied.deliveries, 'deliveries');
  is(state.countedFrom === applied.countedFrom, 'countedFrom');
  is(state.failedTurns === applied.failedTurns, 'failedTurns');
  is(state.compaction === applied.compaction, 'compaction');
  is(state.totals.usage === applied.totals.usage, 'usage');
  is(state.iterations === applied.iterations - (isCalling(applied) ? 1 : 0), 'iterations');
  is(hasInterruptedModelCall === isCalling(applied), 'interrupted call');
  is(sameIds(state.acknowledged, new Set(applied.acknowledged)), 'acknowledged calls');
  is(sameIds(state.undelivered, new Set(applied.undelivered)), 'undelivered results');
  is(sameIds(state.lateUndelivered, new Set(applied.lateUndelivered)), 'undelivered late results');
  if (applied.response === undefined) return;
  is(state.isAfterAnswer === applied.isAfterAnswer, 'isAfterAnswer');
  if (applied.response.output.length > 1)
    is(
      state.turn?.length === applied.turn?.length &&
        state.turn?.every(({ id }, at) => id === applied.turn?.[at]?.id) !== false,
      'calls of the turn',
    );
}

function endOf(call: ToolCall): number {
  return 'endTime' in call ? call.endTime : 0;
}

function sameIds(ids: readonly string[], others: ReadonlySet<string>): boolean {
  return ids.length === others.size && ids.every((id) => others.has(id));
}
