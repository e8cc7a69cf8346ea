/** Checks that the store has a state, once it has confirmed that. */
import { isFinished } from '../../../imports/business/ai/domain/entities/Run';
import { isSettled } from '../../../imports/business/ai/domain/entities/Tool';
import { isCalling } from '../../../imports/business/ai/domain/run/ActiveRun';
import type { ActiveRun } from '../../../imports/business/ai/domain/run/ActiveRun';
import type { Item } from '../../../imports/business/ai/domain/types/ResponsesAPITypes';
import type { Barrier } from '../../../imports/business/ai/domain/run/RunEvent';
import type { MachineStore } from './MachineStore';
import type { ProcessState } from './SimulatedProcess';
import { ensure } from './Violation';

/** A run as a process has it. */
export interface HeldRun {
  readonly process: Pick<ProcessState, 'name'>;
  readonly writer: { readonly fence: number };
  readonly state: ActiveRun;
  /** Something has shown that the run does not kill its owners. */
  readonly hasProgressed: boolean;
}

/** The start of a tool, which the run itself does not decide on. */
type StartBarrier = { readonly before: 'tool'; readonly callId: string };

/** @param asked the state for which the barrier was */
export function checkStored(
  store: MachineStore,
  session: HeldRun,
  asked: ActiveRun,
  barrier: Barrier | StartBarrier,
): void {
  const { process, writer, state } = session;
  ensure(
    store.owner === process.name && store.fence >= writer.fence,
    () => `${process.name} goes on before ${barrier.before}, but the run is ${store.owner}'s.`,
  );
  if (barrier.before === 'call' && state.rules.durability !== 'step') return;
  if (barrier.before === 'tool') {
    const call = state.calls.get(barrier.callId);
    const stored = store.call(barrier.callId);
    ensure(
      call?.state !== 'executing' || (stored?.state === 'executing' && stored.startTime === call.startTime),
      () => `The start of ${barrier.callId} is not stored.`,
    );
  }
  if (state === asked) checkRunStored(store, session);
}

/** The run as it is, and its open calls. */
export function checkRunStored(store: MachineStore, { state, hasProgressed }: HeldRun): void {
  const { run } = store;
  const is = (holds: boolean, what: string): void => ensure(holds, () => `The store has other ${what}.`);
  is(state.transcript === undefined || areSame(run.transcript, state.transcript), 'items');
  is(run.turnStart === state.turnStart, 'turnStart');
  is(run.response === state.response, 'response');
  is(run.usage === state.totals.usage, 'usage');
  is(run.iterations === state.iterations, 'iterations');
  is((run.deliveries ?? 0) === state.deliveries, 'deliveries');
  is((run.countedFrom ?? 0) === state.countedFrom, 'countedFrom');
  is(run.failedTurns === state.failedTurns, 'failedTurns');
  is(run.takeovers === state.takeovers, 'takeovers');
  is(!hasProgressed || run.takeovers === 0, 'takeovers than none after progress');
  is(run.compaction === state.compaction, 'compaction');
  is(run.error?.code === state.error?.code, 'error');
  is(run.isCalling === isCalling(state), 'isCalling');
  is(run.state === state.status || isFinished(state.status), 'state');
  for (const call of state.calls)
    if (!isSettled(call)) {
      const stored = store.call(call.id);
      is(stored?.state === call.state, `state of ${call.id}`);
    }
}

/** Items are only added, and never made anew. */
export function areSame(some: readonly Item[], others: readonly Item[]): boolean {
  return some.length === others.length && some.at(-1) === others.at(-1);
}
