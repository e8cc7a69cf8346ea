/** The label, icon and colour of every state of runs and tool calls. */
import type { RunState } from '../../business/ai/domain/entities/Run';
import type { ToolCallState } from '../../business/ai/domain/entities/Tool';
import type { RunWait } from '../../business/ai/domain/types/RunViews';
import type { IconName } from '../components/Icon';

export interface StateStyle {
  readonly label: string;
  readonly icon: IconName;
  /** The class `tone-…` of the style sheet. */
  readonly tone: 'blue' | 'violet' | 'grey' | 'green' | 'red' | 'orange' | 'amber' | 'pink';
  /** Not final: the state can still change. */
  readonly isLive: boolean;
}

export const RUN_STATE_STYLES = {
  queued: { label: 'Queued', icon: 'clock', tone: 'grey', isLive: true },
  running: { label: 'Running', icon: 'spinner', tone: 'blue', isLive: true },
  waiting: { label: 'Waiting', icon: 'hourglass', tone: 'violet', isLive: true },
  completed: { label: 'Completed', icon: 'check', tone: 'green', isLive: false },
  failed: { label: 'Failed', icon: 'cross', tone: 'red', isLive: false },
  cancelled: { label: 'Cancelled', icon: 'stop', tone: 'grey', isLive: false },
} as const satisfies Record<RunState, StateStyle>;

/** What a run waits for from outside, in place of its state. */
export const WAIT_STYLES = {
  approval: { label: 'Waiting for approval', icon: 'hand', tone: 'amber', isLive: true },
  review: { label: 'Waiting for review', icon: 'eye', tone: 'pink', isLive: true },
  external: { label: 'Waiting for a result', icon: 'hourglass', tone: 'violet', isLive: true },
  tools: { label: 'Waiting for a tool', icon: 'hourglass', tone: 'orange', isLive: true },
  parked: { label: 'Parked', icon: 'hand', tone: 'orange', isLive: true },
} as const satisfies Record<RunWait, StateStyle>;

/** @param waitingFor what the run waits for; ignored once the run has ended */
export function runStyle(state: RunState, waitingFor: RunWait | undefined): StateStyle {
  const style = RUN_STATE_STYLES[state];
  return waitingFor !== undefined && style.isLive ? WAIT_STYLES[waitingFor] : style;
}

export const CALL_STATE_STYLES: Readonly<Record<ToolCallState, StateStyle>> = {
  pending: { label: 'Pending', icon: 'clock', tone: 'grey', isLive: true },
  awaiting_approval: { label: 'Needs approval', icon: 'hand', tone: 'amber', isLive: true },
  executing: { label: 'Executing', icon: 'spinner', tone: 'blue', isLive: true },
  needs_review: { label: 'Needs review', icon: 'eye', tone: 'pink', isLive: true },
  completed: { label: 'Completed', icon: 'check', tone: 'green', isLive: false },
  failed: { label: 'Failed', icon: 'cross', tone: 'red', isLive: false },
  timeout: { label: 'Timed out', icon: 'timer', tone: 'orange', isLive: false },
  cancelled: { label: 'Cancelled', icon: 'stop', tone: 'grey', isLive: false },
};
