/** A callback with which a program watches what happens: what it throws is logged, and fails nothing. */
import type { Logger } from '../interfaces/Logger';

/** @returns a function that neither throws nor waits for what the callback does */
export function watching<A extends readonly unknown[]>(
  name: string,
  callback: (...args: A) => unknown,
  logger: Pick<Logger, 'error'>,
): (...args: A) => void {
  const report = (error: unknown): void => logger.error(`The callback "${name}" threw.`, error);
  return (...args) => {
    try {
      const result = callback(...args);
      // An async function is assignable to one without a result.
      if (result instanceof Promise) result.catch(report);
    } catch (error) {
      report(error);
    }
  };
}
