/** Receives the answers of one conversation, piece by piece, on behalf of its listeners. */
export interface OutputChannel {
  /**
   * Starts the answer to a message. Answers are written one after another, in the order in which they were started.
   * @param id the message's, the same in all processes
   */
  begin(id?: string): AnswerOutput;
}

/** The pieces of one answer. It ends once, with `done` or `fail`. */
export interface AnswerOutput {
  send(text: string): void;
  /** Another answer takes the place of what was sent: a process died, and the next one has called the model again. */
  restart?(): void;
  /** Sends what the listeners lack of the entire text, or all of it after a restart if they have another beginning. */
  complete?(text: string): void;
  /**
   * Like `complete`, for a beginning of the text. Nothing is sent while it is shorter than what the listeners have.
   * @returns whether they have this text now, and no more
   */
  catchUp?(text: string): boolean;
  /** Another process writes the rest. */
  handOver?(): void;
  done(): void;
  /** @param message one line for the people who read the answer, without keys and stacks */
  fail(message: string): void;
}

/** The channel of a user's conversation. */
export type OutputChannels = (userId: string, conversationId: string) => OutputChannel;
