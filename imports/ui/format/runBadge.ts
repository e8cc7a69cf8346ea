/** The badge of a run: its state, or what it waits for from outside. */
import type { RunView, ToolCallView } from '../../business/ai/domain/types/RunViews';
import { runStyle } from './stateStyles';
import type { StateStyle } from './stateStyles';
import { runWaitingFor } from './waitingFor';

/** @param calls of the run */
export function runBadge(run: Pick<RunView, 'state' | 'parked'>, calls: readonly ToolCallView[]): StateStyle {
  return runStyle(run.state, run.parked === undefined ? runWaitingFor(calls) : 'parked');
}
