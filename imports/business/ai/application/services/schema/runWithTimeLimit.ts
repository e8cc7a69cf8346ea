/**
 * Runs synchronous code that somebody else's data may make endless (a regular expression, a recursive schema) and
 * stops it in time.
 */
import { Script, createContext } from 'node:vm';

const context: { run?: () => void } = {};
const script = new Script('run()');

/**
 * Runs `work` in place. V8 interrupts it wherever it is, inside a regular expression too, so `work` must own what
 * it changes.
 * @param limit milliseconds
 * @returns whether `work` came to its end; what it throws is thrown
 */
export function finishesWithin(limit: number, work: () => void): boolean {
  context.run = work;
  try {
    script.runInContext(createContext(context), { timeout: limit });
    return true;
  } catch (error) {
    if (isTimeout(error)) return false;
    throw error;
  } finally {
    delete context.run;
  }
}

/** Made in the other context, this error is no instance of this one's `Error`. */
function isTimeout(error: unknown): boolean {
  return (
    typeof error === 'object' && error !== null && 'code' in error && error.code === 'ERR_SCRIPT_EXECUTION_TIMEOUT'
  );
}
