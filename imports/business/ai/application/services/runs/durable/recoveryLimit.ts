/** When a run that kills its owners is parked, so that it does not kill one process after another. */
import { isUncertain } from '../../../../domain/entities/Tool';
import type { ToolCall } from '../../../../domain/entities/Tool';
import type { RunSuspicion } from '../../../../domain/types/RunRecords';

/** The count of a run that was tried alone once is one higher, far above what others reach. */
export const ALONE = 1_000;

/**
 * How many owners die of a run that they try alone, before it makes progress, until it is parked. A model call that
 * returned, a call that settled, and having to wait only for others, all count as progress.
 */
export const MAX_LONE_DEATHS = 6;

/** How many processes may die before they start the run that answers a message, until the message is given up. */
export const MAX_MESSAGE_ATTEMPTS = 5;

/** How many owners died while they tried the run alone. */
export function loneDeaths({ takeovers }: RunSuspicion): number {
  return Math.max(0, takeovers - ALONE);
}

/** Why such a run is parked. Lists the calls of which it is not known whether they took effect. */
export function recoveryLimitReason(deaths: number, calls: readonly ToolCall[]): string {
  const uncertain = calls.filter(isUncertain).map(({ name, id }) => `${name} (${id})`);
  const reason = `The run was set aside because ${deaths} processes in a row died after taking it over, before it made any progress, while they tried no other run. Most likely the run itself is the cause.`;
  return uncertain.length === 0
    ? reason
    : `${reason} It is not known whether these calls took effect: ${uncertain.join(', ')}.`;
}
