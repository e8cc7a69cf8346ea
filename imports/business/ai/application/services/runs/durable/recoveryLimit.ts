/**
 * A run may be what kills the processes that have it: a tool that ends its process, more than the memory holds. How
 * often a run is taken over is counted in the store, from zero again whenever it gets on, so that it does not go on
 * killing one after another.
 */
import type { ToolCall } from '../../../../domain/entities/Tool';
import { MaxTakeoversError } from '../../../../domain/errors/LLMErrors';
import type { HeldRun } from '../../../../domain/types/RunRecords';

/**
 * So often a run is taken over without getting on: a model call that came back, a call that settled, nothing to do
 * but wait for others.
 */
export const MAX_TAKEOVERS = 5;
/**
 * From so many on it is suspected, and tried with no other suspect beside it, so that it takes none with it that
 * has done nothing.
 */
const SUSPECTED_FROM = 2;

export function isQuarantined({ takeovers }: Pick<HeldRun, 'takeovers'>): boolean {
  return takeovers >= SUSPECTED_FROM;
}

/** Why the run is ended. Its calls of which nobody knows whether they were carried out are named. */
export function recoveryLimitError(takeovers: number, calls: readonly ToolCall[]): MaxTakeoversError {
  const unknown = calls
    .filter(({ state }) => state === 'executing' || state === 'needs_review')
    .map(({ name, id }) => `${name} (${id})`);
  const times = `${takeovers} times`;
  const ended = `The run was ended because each process that took it over came to its end, ${times} in a row, before the run got any further; most likely by what the run does.`;
  return new MaxTakeoversError(
    unknown.length === 0
      ? ended
      : `${ended} It is not known whether these calls were carried out: ${unknown.join(', ')}.`,
  );
}
