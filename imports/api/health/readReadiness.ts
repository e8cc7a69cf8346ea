/** Whether the server can do what is asked of it, for load balancers and orchestrators. */
import { LLMOverloadedError, StorageFullError, StoreUnavailableError } from '../../business/ai/domain/errors/LLMErrors';
import type { RouteHandler } from '../http/RequestContext';

/** An outage of the database, while it lasts. */
export interface DatabaseOutage {
  /** Milliseconds since the epoch. */
  readonly since: number;
}

export interface ReadinessPorts {
  /** Undefined unless the database is known to be unreachable. */
  readonly outage?: () => DatabaseOutage | undefined;
  /** @throws StorageFullError while nothing can be stored. Default: everything can. */
  readonly checkRoom?: () => Promise<void>;
  /** Whether the leases of this process's runs are renewed in time. Default: there are none. */
  readonly isLeaseCurrent?: () => boolean;
  /** Whether the server is about to shut down. */
  readonly isLeaving?: () => boolean;
  /** Whether this process takes queued runs. Default: it has no queue. */
  readonly isQueueRunning?: () => boolean;
}

/** Milliseconds until it is worth asking again. */
const RETRY_AFTER_MS = 5_000;

/** @throws StoreUnavailableError, from the handler, during an outage; LLMOverloadedError for what does not run */
export function readReadiness({
  outage,
  checkRoom,
  isLeaseCurrent,
  isLeaving,
  isQueueRunning,
}: ReadinessPorts): RouteHandler {
  return async ({ response }) => {
    if (isLeaving?.() === true) throw new LLMOverloadedError('The server is shutting down.');
    const current = outage?.();
    if (current !== undefined)
      throw new StoreUnavailableError(
        `The database cannot be reached since ${new Date(current.since).toISOString()}.`,
        { retryAfterMs: RETRY_AFTER_MS },
      );
    await checkRoom?.().catch((error: unknown) => {
      if (!(error instanceof StorageFullError)) throw error;
      throw new LLMOverloadedError('The disk is full, so nothing can be stored.', { retryAfterMs: RETRY_AFTER_MS });
    });
    if (isLeaseCurrent?.() === false)
      throw new LLMOverloadedError(
        'The leases of runs are not renewed in time: the process or its database is too slow.',
        { retryAfterMs: RETRY_AFTER_MS },
      );
    if (isQueueRunning?.() === false)
      throw new LLMOverloadedError('The queue of runs does not run in this process.', {
        retryAfterMs: RETRY_AFTER_MS,
      });
    response.json({ status: 'ready' });
  };
}
