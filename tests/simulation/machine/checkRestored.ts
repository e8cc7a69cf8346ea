/** Checks that a run goes on from what the store has of it. */
import { isDeliverable, isSettled } from '../../../imports/business/ai/domain/entities/Tool';
import type { StoredRun } from '../../../imports/business/ai/domain/interfaces/RunStore';
import { isCalling } from '../../../imports/business/ai/domain/run/ActiveRun';
import type { RestoredRun } from '../../../imports/business/ai/application/services/runs/durable/restoreRun';
import { readTranscript } from './readTranscript';
import { ensure } from './Violation';
import type { World } from './World';

export function checkRestored(
  world: World,
  { run, calls }: StoredRun,
  { state, hasInterruptedModelCall }: RestoredRun,
) {
  const is = (holds: boolean, what: string): void => ensure(holds, () => `The restored run has other ${what}.`);
  for (const { order } of world.sessions)
    ensure(state.seq >= order.last, () => `Events go on after ${state.seq}, but ${order.last} was the last.`);
  is(state.transcript?.length === run.transcript.length, 'items');
  const inTranscript = readTranscript(run.transcript).calls;
  for (const call of calls) {
    const restored = state.calls.get(call.id);
    is(restored !== undefined, `calls than ${call.id}`);
    is(!isSettled(call) || restored!.state === call.state, `state of ${call.id}`);
  }
  const late = calls.filter((call) => {
    const there = inTranscript.get(call.id);
    return isDeliverable(call) && there?.isAcknowledged === true && there.results === 0;
  });
  is(sameIds(state.lateResults, new Set(late.map(({ id }) => id))), 'late results');
  for (const [id, { results, isAcknowledged }] of inTranscript) {
    const call = state.calls.get(id);
    const isAwaited = isAcknowledged && call !== undefined && !isSettled(call) && call.blocking;
    ensure(!isAwaited, () => `${id} blocks the run that is restored, but its turn went on without it.`);
    is(results === 0 || (call !== undefined && isSettled(call)), `state of ${id}, whose result is there`);
  }
  const before = world.applied;
  if (before === undefined || before.error !== undefined) return;
  is(state.turnStart === before.turnStart, 'turnStart');
  is(state.response === before.response, 'response');
  is(state.deliveries === before.deliveries, 'deliveries');
  is(state.failedTurns === before.failedTurns, 'failedTurns');
  is(state.compaction === before.compaction, 'compaction');
  is(state.totals.usage === before.totals.usage, 'usage');
  is(state.iterations === before.iterations - (isCalling(before) ? 1 : 0), 'iterations');
  is(hasInterruptedModelCall === isCalling(before), 'interrupted call');
  is(sameIds([...state.acknowledged], before.acknowledged), 'acknowledged calls');
  is(sameIds(state.undelivered, new Set(before.undelivered)), 'undelivered results');
  is(sameIds(state.lateUndelivered, new Set(before.lateUndelivered)), 'undelivered late results');
  if (before.response === undefined) return;
  is(state.isAfterAnswer === before.isAfterAnswer, 'isAfterAnswer');
  if (before.response.output.length > 1)
    is(
      state.turn?.length === before.turn?.length &&
        state.turn?.every(({ id }, at) => id === before.turn?.[at]?.id) !== false,
      'calls of the turn',
    );
}

function sameIds(ids: readonly string[], others: ReadonlySet<string>): boolean {
  return ids.length === others.size && ids.every((id) => others.has(id));
}
