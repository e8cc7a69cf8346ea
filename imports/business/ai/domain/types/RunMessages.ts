/** Messages that are sent to a run which has not ended. Each waits in the run's queue until the run takes it. */
import type { MessageItem } from './ResponsesAPITypes';

/**
 * When the model receives a message:
 * - `next`: with the next request, beside the results of this turn; at once if the run only waits for others;
 * - `interrupt`: at once. The model call in progress is aborted, and the turn goes on without the tools that still run;
 * - `after`: as the next turn, once the model has answered and no call is open.
 */
export type MessageTime = (typeof MESSAGE_TIMES)[number];

export const MESSAGE_TIMES = ['next', 'interrupt', 'after'] as const;

export interface RunMessage {
  /** Unique within its run. A message that is sent again under the same id is the same message. */
  readonly messageId: string;
  readonly when: MessageTime;
  /** What is added to the transcript. */
  readonly item: MessageItem;
  /** When it was sent, in milliseconds since the epoch. */
  readonly at: number;
}

/** Whether messages wait for the next request, and for the end of the turn. */
export interface QueueHint {
  readonly now: boolean;
  readonly after: boolean;
}

/** Where a message is in the transcript. */
export interface DeliveredMessage {
  readonly messageId: string;
  readonly index: number;
}

/** The queue of a run, as whoever continues the run finds it. */
export interface StoredMessages {
  /** Taken by the run, and not in its transcript yet. In the order in which they were sent, as all lists of them. */
  readonly taken: readonly RunMessage[];
  readonly waiting: QueueHint;
  /** How many the run was sent in all. */
  readonly sent: number;
  readonly delivered: readonly DeliveredMessage[];
}

export const NO_MESSAGES: QueueHint = { now: false, after: false };

/** Which of the messages that wait are taken: all that are due now; without any, the first for after the answer. */
export function dueMessages(waiting: readonly RunMessage[], isAfterAnswer: boolean): readonly RunMessage[] {
  const due = waiting.filter(({ when }) => when !== 'after');
  return due.length > 0 || !isAfterAnswer ? due : waiting.slice(0, 1);
}

export function waitingAmong(messages: readonly RunMessage[]): QueueHint {
  return {
    now: messages.some(({ when }) => when !== 'after'),
    after: messages.some(({ when }) => when === 'after'),
  };
}
