/** How long a process that is asked to stop waits for what is in progress. */
import { LLMInvalidRequestError } from '../../business/ai/domain/errors/LLMErrors';

/** Milliseconds. With the time to hand runs over, less than the 30 seconds after which Kubernetes kills a container. */
export const DEFAULT_SHUTDOWN_GRACE_MS = 20_000;

const GRACE = 'SHUTDOWN_GRACE_SECONDS';
const NOTICE = 'SHUTDOWN_NOTICE_SECONDS';
const MAX_SECONDS = 3_600;

type ValueOf = (name: string) => string | undefined;

/**
 * Reads SHUTDOWN_GRACE_SECONDS.
 * @param valueOf returns the setting or variable with that name
 * @returns milliseconds; undefined if it is not set
 * @throws LLMInvalidRequestError
 */
export function readShutdownGrace(valueOf: ValueOf): number | undefined {
  return readSeconds(GRACE, valueOf(GRACE));
}

/** Reads SHUTDOWN_NOTICE_SECONDS, for which the process goes on before that. Returns and throws as above. */
export function readShutdownNotice(valueOf: ValueOf): number | undefined {
  return readSeconds(NOTICE, valueOf(NOTICE));
}

function readSeconds(name: string, given: string | undefined): number | undefined {
  if (given === undefined) return undefined;
  const seconds = Number(given);
  if (seconds >= 0 && seconds <= MAX_SECONDS) return seconds * 1_000;
  throw new LLMInvalidRequestError(
    `${name} must be a number of seconds from 0 to ${MAX_SECONDS}, but is "${given.slice(0, 100)}".`,
    { path: name },
  );
}
