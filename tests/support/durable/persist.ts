/** Repeats an action, as a client would, while the store cannot be reached. */
import { isLLMError } from '../../../imports/business/ai/domain/errors/LLMErrors';

export async function retryUntilStored(action: () => Promise<void>): Promise<void> {
  for (;;) {
    try {
      await action();
      return;
    } catch (error) {
      if (!isLLMError(error) || !error.retryable) throw error;
      await new Promise((resolve) => setImmediate(resolve));
    }
  }
}
