/** The queues of messages that were sent to runs. */
import type { RunLease } from '../types/RunRecords';
import type { RunMessage, StoredMessages } from '../types/RunMessages';

export interface RunMessageStore {
  /**
   * Adds a message to the queue of a run that has not ended, in the order of arrival. Whoever then stores that the run
   * has completed is refused: see `RunStore.saveRun`.
   * @returns `repeated` if the run was sent a message with this id before, `full` if it was sent `MAX_MESSAGES`
   */
  add(executionId: string, message: RunMessage): Promise<'accepted' | 'repeated' | 'full' | 'ended' | 'unknown'>;
  /**
   * Replaces a message that waits, in its place. @param message undefined: withdraws it
   * @returns false if the run has taken it, or there is none with this id
   */
  replace(executionId: string, messageId: string, message: RunMessage | undefined): Promise<boolean>;
  /** The messages that no request has delivered, in order. */
  list(executionId: string): Promise<readonly QueuedMessage[]>;
  /**
   * Gives the run's process the messages that are due, together with those it was given before and has not delivered.
   * They can no longer be replaced.
   * @param isAfterAnswer whether messages for after the answer are due, of which the first is taken
   * @returns undefined if the lease is not the run's
   */
  take(lease: Pick<RunLease, 'executionId' | 'fence'>, isAfterAnswer: boolean): Promise<StoredMessages | undefined>;
  /**
   * Completes a run that is not stored, unless it was sent more messages than it has seen. Absent where `saveRun` does.
   * @returns false if it was
   */
  end?(executionId: string, sent: number): boolean;
}

export interface QueuedMessage extends RunMessage {
  /** The run has taken it. */
  readonly isTaken: boolean;
}

/** How many messages one run may be sent in all. */
export const MAX_MESSAGES = 1_000;
