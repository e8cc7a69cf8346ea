/**
 * Runs synchronous code that untrusted data may make endless (a regular expression, a recursive schema), and stops it
 * in time.
 */
import { Script, createContext } from 'node:vm';

const context: { run?: () => void } = {};
const script = new Script('run()');

/**
 * Runs `work` in place. V8 interrupts it anywhere, even within a regular expression, so `work` must own what it
 * changes.
 * @param limit milliseconds
 * @returns whether `work` finished; its errors are thrown
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

/** An error of the other context is no instance of this one's `Error`. */
function isTimeout(error: unknown): boolean {
  return (
    typeof error === 'object' && error !== null && 'code' in error && error.code === 'ERR_SCRIPT_EXECUTION_TIMEOUT'
  );
}
