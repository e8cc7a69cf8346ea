/** The people and services that a run waits for: they look at its calls whenever one is written, and decide. */
import type { AgenticLoop } from '../../../imports/business/ai/application/services/AgenticLoop';
import type { ToolCall } from '../../../imports/business/ai/domain/entities/Tool';
import { isLLMError } from '../../../imports/business/ai/domain/errors/LLMErrors';
import type { RunStore } from '../../../imports/business/ai/domain/interfaces/RunStore';

/** Whether a call under review had its effect. */
export type WasDone = (executionId: string, call: ToolCall) => boolean | Promise<boolean>;

/** The store, and somebody who is told of each call that is written to it. */
export function watchCalls(store: RunStore, look: (executionId: string) => void): RunStore {
  return new Proxy(store, {
    get(target, name, receiver) {
      const value: unknown = Reflect.get(target, name, receiver);
      if (name !== 'addCall' && name !== 'saveCall')
        return typeof value === 'function' ? (value.bind(target) as unknown) : value;
      return async (...args: Parameters<RunStore['saveCall']>) => {
        const isWritten = await target[name](...args);
        setImmediate(() => look(args[0].executionId));
        return isWritten;
      };
    },
  });
}

/**
 * A call that has had its effect is told its result, another is run again; what asks for approval gets it. @throws
 * when the store can't be reached
 */
export async function attend(loop: AgenticLoop, store: RunStore, executionId: string, wasDone: WasDone): Promise<void> {
  const whole = await store.load(executionId);
  for (const call of whole?.calls ?? []) {
    try {
      if (call.state === 'awaiting_approval') await loop.approve(executionId, call.id);
      else if (call.state === 'needs_review') {
        if (await wasDone(executionId, call))
          await loop.submitToolResult(executionId, call.id, { output: 'it was done' });
        else await loop.approve(executionId, call.id);
      } else if (call.state === 'executing' && call.name === 'webhook')
        await loop.submitToolResult(executionId, call.id, { output: 'hooked' });
    } catch (error) {
      // Somebody was faster, or the call does not wait yet.
      if (!isLLMError(error) || error.retryable) throw error;
    }
  }
}
