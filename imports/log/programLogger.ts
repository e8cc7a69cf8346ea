/** The logger that a program has passed in, made safe: what it logs must never fail what it logs about. */
import type { Logger } from '../business/ai/domain/interfaces/Logger';
import { consoleLogger } from './consoleLogger';

/** The loggers that are safe. */
const safe = new WeakSet<Logger>([consoleLogger]);

/**
 * Returns a logger that never throws. Levels that the program's logger lacks are left out, and what it throws is
 * reported on the console, once.
 * @param logger default: the console
 */
export function programLogger(logger: Logger = consoleLogger): Logger {
  if (safe.has(logger)) return logger;
  let hasThrown = false;
  const onThrown = (error: unknown): void => {
    if (!hasThrown) consoleLogger.error('The logger threw, and may have lost lines.', error);
    hasThrown = true;
  };
  const at =
    (level: keyof Logger): Logger['error'] =>
    (message, ...details) => {
      try {
        // Boundary: a logger without types may lack a level, or return a promise that rejects.
        const logged: unknown = (logger as Partial<Logger>)[level]?.(message, ...details);
        if (logged instanceof Promise) logged.catch(onThrown);
      } catch (error) {
        onThrown(error);
      }
    };
  const wrapped = { debug: at('debug'), info: at('info'), warn: at('warn'), error: at('error') };
  safe.add(wrapped);
  return wrapped;
}
