/** When a run that kills its owners is parked, so that it does not kill one process after another. */
import { isUncertain } from '../../../../domain/entities/Tool';
import type { ToolCall } from '../../../../domain/entities/Tool';

/**
 * How often at least a run is taken over without making progress before it is parked. A model call that returned, a
 * call that settled, and having to wait only for others, all count as progress.
 */
export const MAX_TAKEOVERS = 5;

/** Why such a run is parked. Lists the calls of which it is not known whether they took effect. */
export function recoveryLimitReason(takeovers: number, calls: readonly ToolCall[]): string {
  const uncertain = calls.filter(isUncertain).map(({ name, id }) => `${name} (${id})`);
  const reason = `The run was set aside because ${takeovers} processes in a row died after taking it over, before it made any progress, the last of them while no other run was tried. Most likely the run itself is the cause.`;
  return uncertain.length === 0
    ? reason
    : `${reason} It is not known whether these calls took effect: ${uncertain.join(', ')}.`;
}
