/** What people and services do that want something of a run: they ask again, while the store can't be reached. */
import { isLLMError } from '../../../imports/business/ai/domain/errors/LLMErrors';

export async function persist(wanted: () => Promise<void>): Promise<void> {
  for (;;) {
    try {
      await wanted();
      return;
    } catch (error) {
      if (!isLLMError(error) || !error.retryable) throw error;
      await new Promise((resolve) => setImmediate(resolve));
    }
  }
}
