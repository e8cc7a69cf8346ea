/** Where the frames of a stream go: a reader's pace is the pace of what is read for it. */

export interface FrameSink {
  /** Something went out, so that an error can't be an ordinary answer any more. */
  readonly hasBegun: boolean;
  /**
   * Each frame goes out in one piece.
   * @returns when there is room for more; nothing at all when there is already
   * @throws the signal's reason when the reader leaves while room is waited for
   */
  write(frame: string): Promise<void> | undefined;
  /** Says nothing, so that nobody between us and the reader takes the silence for the end. */
  keepAlive(): void;
  end(): void;
  /** The last frame told an error. */
  fail(): void;
}
