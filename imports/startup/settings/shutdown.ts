/** How long a process that is asked to stop waits for what is in progress. */
import { LLMInvalidRequestError } from '../../business/ai/domain/errors/LLMErrors';

/** Milliseconds. With the time to hand runs over, less than the 30 seconds after which Kubernetes kills a container. */
export const DEFAULT_SHUTDOWN_GRACE_MS = 20_000;

const NAME = 'SHUTDOWN_GRACE_SECONDS';
const MAX_SECONDS = 3_600;

/**
 * Reads SHUTDOWN_GRACE_SECONDS.
 * @param valueOf returns the setting or variable with that name
 * @returns milliseconds; undefined if it is not set
 * @throws LLMInvalidRequestError
 */
export function readShutdownGrace(valueOf: (name: string) => string | undefined): number | undefined {
  const given = valueOf(NAME);
  if (given === undefined) return undefined;
  const seconds = Number(given);
  if (seconds >= 0 && seconds <= MAX_SECONDS) return seconds * 1_000;
  throw new LLMInvalidRequestError(
    `${NAME} must be a number of seconds from 0 to ${MAX_SECONDS}, but is "${given.slice(0, 100)}".`,
    { path: NAME },
  );
}
