/**
 * A logger on which an outage of the store is one matter: the store's circuit logs its beginning and its end, the host
 * that the store is lost, and what else fails because of it is logged at the level debug only.
 */
import { isStoreOutage } from '../business/ai/domain/errors/LLMErrors';
import { StoreLostError } from '../business/ai/domain/errors/StoreLostError';
import type { Logger } from '../business/ai/domain/interfaces/Logger';

export function withoutOutages(logger: Logger): Logger {
  const unless =
    (level: 'info' | 'warn' | 'error'): Logger['error'] =>
    (message, ...details) =>
      logger[details.some(isOfOutage) ? 'debug' : level](message, ...details);
  return {
    debug: (message, ...details) => logger.debug(message, ...details),
    info: unless('info'),
    warn: unless('warn'),
    error: unless('error'),
  };
}

/** How far causes are followed, which may be circular. */
const MAX_DEPTH = 8;

function isOfOutage(detail: unknown): boolean {
  let error = detail;
  for (let depth = 0; error instanceof Error && depth < MAX_DEPTH; depth += 1) {
    if (isStoreOutage(error) || error instanceof StoreLostError) return true;
    error = error.cause;
  }
  return false;
}
