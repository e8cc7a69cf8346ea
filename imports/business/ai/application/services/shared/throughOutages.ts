/** Waits for a store that cannot be reached, for work that would fail otherwise although nothing is wrong with it. */
import { isStoreOutage } from '../../../domain/errors/LLMErrors';
import { sleep } from './time';

/** Milliseconds between two attempts. */
const RETRY_MS = 1_000;

/**
 * Repeats an operation until the store can be reached.
 * @param isWanted false ends the waiting
 * @throws whatever else the operation throws; StoreUnavailableError once it is no longer wanted
 */
export async function throughOutages<T>(operation: () => Promise<T>, isWanted: () => boolean): Promise<T> {
  for (;;) {
    try {
      return await operation();
    } catch (error) {
      if (!isStoreOutage(error) || !isWanted()) throw error;
    }
    await sleep(RETRY_MS);
  }
}
