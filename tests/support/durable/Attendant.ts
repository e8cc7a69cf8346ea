/** Simulates the people and services that a run waits for: they check its calls after every write, and decide. */
import type { AgenticLoop } from '../../../imports/business/ai/application/services/AgenticLoop';
import type { ToolCall } from '../../../imports/business/ai/domain/entities/Tool';
import { isLLMError } from '../../../imports/business/ai/domain/errors/LLMErrors';
import type { RunStore } from '../../../imports/business/ai/domain/interfaces/RunStore';

/** Whether a call under review had its effect. */
export type HadEffect = (executionId: string, call: ToolCall) => boolean | Promise<boolean>;

/** Wraps the store and reports every write of a call. */
export function watchCalls(store: RunStore, onWrite: (executionId: string) => void): RunStore {
  return new Proxy(store, {
    get(target, name, receiver) {
      const value: unknown = Reflect.get(target, name, receiver);
      if (name !== 'saveCalls') return typeof value === 'function' ? (value.bind(target) as unknown) : value;
      return async (...args: Parameters<RunStore['saveCalls']>) => {
        const isWritten = await target[name](...args);
        setImmediate(() => onWrite(args[0].executionId));
        return isWritten;
      };
    },
  });
}

/**
 * Approves calls, submits external results, and settles reviews: a call that had its effect gets a result, any other is
 * run again.
 * @throws when the store cannot be reached
 */
export async function attend(
  loop: AgenticLoop,
  store: RunStore,
  executionId: string,
  hadEffect: HadEffect,
): Promise<void> {
  const stored = await store.load(executionId);
  for (const call of stored?.calls ?? []) {
    try {
      if (call.state === 'awaiting_approval') await loop.approve(executionId, call.id);
      else if (call.state === 'needs_review') {
        if (await hadEffect(executionId, call))
          await loop.submitToolResult(executionId, call.id, { output: 'it was done' });
        else await loop.rerun(executionId, call.id, call.startTime);
      } else if (call.state === 'executing' && call.name === 'webhook')
        await loop.submitToolResult(executionId, call.id, { output: 'hooked' });
    } catch (error) {
      // Another process was faster, or the call does not wait yet.
      if (!isLLMError(error) || error.retryable) throw error;
    }
  }
}
