/** Where the answers of one conversation go, piece by piece, whoever listens. */
export interface OutputChannel {
  /** Begins the answer to a message; answers are written one after another, in the order in which they were begun. */
  begin(): AnswerOutput;
}

/** One answer's pieces; it ends once, well or not. */
export interface AnswerOutput {
  send(text: string): void;
  done(): void;
  /** @param message one line for the people who read the answer: no keys, no stacks */
  fail(message: string): void;
}

/** The channel of a user's conversation. */
export type OutputChannels = (userId: string, conversationId: string) => OutputChannel;
