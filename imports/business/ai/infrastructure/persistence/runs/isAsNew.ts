/** Which of two writes of a call counts: its own, or that of its run. See `OpenCalls`. */
import { inputOf, isSettled } from '../../../domain/entities/Tool';
import type { ToolCall } from '../../../domain/entities/Tool';

/** Whether a stored call is not older than what the run has recorded of it: it may have progressed since. */
export function isAsNew(stored: ToolCall, open: ToolCall | undefined): boolean {
  if (isSettled(stored) || open === undefined) return true;
  const startOf = (call: ToolCall): number | undefined => ('startTime' in call ? call.startTime : undefined);
  return (
    stored.state === open.state &&
    startOf(stored) === startOf(open) &&
    stored.checkpoint === open.checkpoint &&
    inputOf(stored)?.id === inputOf(open)?.id &&
    stored.answers?.at(-1)?.input.id === open.answers?.at(-1)?.input.id
  );
}
