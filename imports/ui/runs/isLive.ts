/** Whether a run can still change its state. */
import { RUN_TRANSITIONS } from '../../business/ai/domain/entities/Run';
import type { RunState } from '../../business/ai/domain/entities/Run';

export function isLive(state: RunState): boolean {
  return RUN_TRANSITIONS[state].length > 0;
}
