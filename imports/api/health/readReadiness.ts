/** Whether the server can do what is asked of it, for load balancers and orchestrators. */
import { StoreUnavailableError } from '../../business/ai/domain/errors/LLMErrors';
import type { RouteHandler } from '../http/RequestContext';

/** An outage of the database, while it lasts. */
export interface DatabaseOutage {
  /** Milliseconds since the epoch. */
  readonly since: number;
}

/** Milliseconds until it is worth asking again. */
const RETRY_AFTER_MS = 5_000;

/** @throws StoreUnavailableError, from the handler, during an outage */
export function readReadiness(outage: () => DatabaseOutage | undefined): RouteHandler {
  return ({ response }) => {
    const current = outage();
    if (current !== undefined)
      throw new StoreUnavailableError(
        `The database cannot be reached since ${new Date(current.since).toISOString()}.`,
        { retryAfterMs: RETRY_AFTER_MS },
      );
    response.json({ status: 'ready' });
    return Promise.resolve();
  };
}
