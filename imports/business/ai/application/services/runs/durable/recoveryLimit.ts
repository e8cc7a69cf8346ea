/**
 * Limits how often a run is recovered. A run may itself be what kills its owners: a tool that ends the process, a
 * transcript that does not fit into memory. The store counts the takeovers since the run last made progress, so that
 * such a run does not kill one process after another.
 */
import { isUncertain } from '../../../../domain/entities/Tool';
import type { ToolCall } from '../../../../domain/entities/Tool';
import { MaxTakeoversError } from '../../../../domain/errors/LLMErrors';
import type { LeasedRun } from '../../../../domain/types/RunRecords';

/**
 * How often a run may be taken over without making progress. A model call that returned, a call that settled, and
 * having to wait only for others, all count as progress.
 */
export const MAX_TAKEOVERS = 5;
/**
 * From this many takeovers on, a run is quarantined: recovered one at a time, so that it takes no other run with
 * it.
 */
const QUARANTINE_THRESHOLD = 2;

export function isQuarantined({ takeovers }: Pick<LeasedRun, 'takeovers'>): boolean {
  return takeovers >= QUARANTINE_THRESHOLD;
}

/** The error that ends such a run. It lists the calls of which it is not known whether they took effect. */
export function recoveryLimitError(takeovers: number, calls: readonly ToolCall[]): MaxTakeoversError {
  const uncertain = calls.filter(isUncertain).map(({ name, id }) => `${name} (${id})`);
  const reason = `The run was ended because ${takeovers} processes in a row died after taking it over, before it made any progress. Most likely the run itself is the cause.`;
  return new MaxTakeoversError(
    uncertain.length === 0
      ? reason
      : `${reason} It is not known whether these calls took effect: ${uncertain.join(', ')}.`,
  );
}
