/** Ends runs that kill their owners, so that they do not kill one process after another. See `recoveryPlan.ts`. */
import { isUncertain } from '../../../../domain/entities/Tool';
import type { ToolCall } from '../../../../domain/entities/Tool';
import { MaxTakeoversError } from '../../../../domain/errors/LLMErrors';

/**
 * How often at least a run is taken over without making progress before it is ended. A model call that returned, a call
 * that settled, and having to wait only for others, all count as progress.
 */
export const MAX_TAKEOVERS = 5;
/** The error that ends such a run. It lists the calls of which it is not known whether they took effect. */
export function recoveryLimitError(takeovers: number, calls: readonly ToolCall[]): MaxTakeoversError {
  const uncertain = calls.filter(isUncertain).map(({ name, id }) => `${name} (${id})`);
  const reason = `The run was ended because ${takeovers} processes in a row died after taking it over, before it made any progress, the last of them while no other run was tried. Most likely the run itself is the cause.`;
  return new MaxTakeoversError(
    uncertain.length === 0
      ? reason
      : `${reason} It is not known whether these calls took effect: ${uncertain.join(', ')}.`,
  );
}
