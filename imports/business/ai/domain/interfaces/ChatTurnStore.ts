/** The messages of conversations that were accepted, until and after they are answered. All processes share them. */
import type { CallOrigin } from '../types/RequestRecords';
import type { PastMessage } from './ConversationStore';

/** A message, with all that any process needs to answer it. */
export interface ChatTurn {
  /** The id of the message, and of the run that answers it. */
  readonly id: string;
  readonly userId: string;
  readonly conversationId: string;
  readonly text: string;
  /** Milliseconds since the epoch. */
  readonly at: number;
  readonly model?: string;
  /** The conversation so far, if its client sent it. */
  readonly history?: readonly PastMessage[];
  readonly origin?: CallOrigin;
}

/** How a message was answered. */
export interface ChatOutcome {
  readonly text: string;
  /** Why the answer failed, in one line. */
  readonly failure?: string;
}

/** A message that some process answers, or died before it had. */
export interface LeasedTurn {
  readonly turn: ChatTurn;
  readonly owner: string;
}

export interface TurnState {
  readonly id: string;
  /** Absent while there is no answer. */
  readonly outcome?: ChatOutcome;
}

/** Answers are kept for a day, so that streams of every process have them. */
export interface ChatTurnStore {
  /** No other process shares the store. */
  readonly isExclusive: boolean;
  /** @param owner the process that will answer it @throws TooLargeToStoreError */
  add(turn: ChatTurn, owner: string): Promise<void>;
  find(id: string): Promise<TurnState | undefined>;
  /** Whose message it is, as long as it has no answer. */
  userOf(id: string): Promise<string | undefined>;
  /** The id of the conversation's oldest message without an answer. */
  next(userId: string, conversationId: string): Promise<string | undefined>;
  /** Messages without an answer, oldest first. @param except owners whose messages are left out */
  leased(limit: number, except?: readonly string[]): Promise<readonly LeasedTurn[]>;
  /** @returns false if the message has another owner by now, or an answer */
  claim(id: string, from: string, to: string): Promise<boolean>;
  /** Counts that a process which took the message over begins to answer it. @returns how many have */
  countAttempt(id: string): Promise<number>;
  /** Has no effect on a message that has an answer. */
  finish(id: string, outcome: ChatOutcome): Promise<void>;
  /**
   * The conversation's messages, oldest first.
   * @param from the id of the first one. If it is absent or unknown: the last one that has an answer
   */
  since(userId: string, conversationId: string, from?: string): Promise<readonly TurnState[]>;
}
