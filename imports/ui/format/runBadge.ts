/** The badge of a run: its state, or what it waits for from outside. */
import { runWaitOf } from '../../business/ai/domain/entities/runWaitOf';
import type { RunView, ToolCallView } from '../../business/ai/domain/types/RunViews';
import { runStyle } from './stateStyles';
import type { StateStyle } from './stateStyles';
import { runWaitingFor } from './waitingFor';

/** @param calls of the run */
export function runBadge(
  run: Pick<RunView, 'state' | 'parked' | 'awaitedTools'>,
  calls: readonly ToolCallView[],
): StateStyle {
  return runStyle(run.state, runWaitOf(run) ?? runWaitingFor(calls));
}
