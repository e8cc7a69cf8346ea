/**
 * Takes the bytes of a relayed stream directly, without an event per message, for a client that uses the vendor's wire.
 * Only messages that differ from the one before them in nothing but their text are written so; all others are
 * `wire.message` events. The text of those messages is in no event and is missing in the completed response, except
 * where the wire's last message repeats it.
 */
export interface RelayTarget {
  /** The last `wire.message` reached the client unchanged, so that messages like it need no change either. */
  readonly isOpen: boolean;
  /** Length of the texts that were written. */
  readonly characters: number;
  /** @returns undefined if more can be written at once, otherwise a promise that resolves when it can */
  write(run: MessageRun): Promise<void> | undefined;
}

/** Complete messages in a row. */
export interface MessageRun {
  readonly bytes: Uint8Array;
  readonly count: number;
  /** Length of their texts. */
  readonly characters: number;
}
