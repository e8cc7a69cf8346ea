/** The messages to a run that is under way: those that wait, and what can be done about them. */
import type { LLMInput } from '../../business/ai/domain/types/LLMTypes';
import type { MessageTime } from '../../business/ai/domain/types/RunMessages';
import type { ArgumentOf, ResultOf } from '../data/operations';
import { DashboardError } from '../data/DashboardData';
import type { RunData } from '../data/DashboardData';
import { newRequestId } from './newRequestId';

export type QueuedMessage = ResultOf<'ai.runs.messages'>['messages'][number];

export interface RunMessages {
  /** What the model has not received yet, in the order in which it was sent. */
  readonly queue: readonly QueuedMessage[];
  /**
   * Sends a message to the run: with its next request (`next`, the default), at once (`interrupt`) or once it has
   * answered (`after`). Rejects with a `DashboardError`, as the others do.
   * @param messageId the same for repetitions, which change nothing; default: a new one
   */
  readonly send: (message: LLMInput, when?: MessageTime, messageId?: string) => Promise<void>;
  /** Changes a message that the run has not taken. */
  readonly editMessage: (
    messageId: string,
    change: { readonly message?: LLMInput; readonly when?: MessageTime },
  ) => Promise<void>;
  readonly withdrawMessage: (messageId: string) => Promise<void>;
}

export function createRunMessages(
  { call }: Pick<RunData, 'call'>,
  executionId: string | undefined,
): Omit<RunMessages, 'queue'> {
  const run = (): Pick<ArgumentOf<'ai.runs.send'>, 'executionId'> => {
    if (executionId === undefined) throw new DashboardError('not-found', 'No run has been started yet.');
    return { executionId };
  };
  return {
    send: async (message, when, messageId = newRequestId()) => {
      await call('ai.runs.send', { ...run(), message, when, messageId });
    },
    editMessage: async (messageId, change) => {
      await call('ai.runs.editMessage', { ...run(), messageId, ...change });
    },
    withdrawMessage: async (messageId) => {
      await call('ai.runs.withdrawMessage', { ...run(), messageId });
    },
  };
}
