/** Receives the frames of a stream, with backpressure: a slow client slows down the vendor's stream. */

export interface FrameSink {
  /** Something was sent, so an error can no longer be an ordinary response. */
  readonly hasStarted: boolean;
  /**
   * Sends complete frames.
   * @returns undefined if more can be written at once, otherwise a promise that resolves when it can
   * @throws the signal's reason if the client disconnects meanwhile
   */
  write(frames: readonly string[]): Promise<void> | undefined;
  /** Sends an empty message, so that no proxy closes an idle connection. */
  keepAlive(): void;
  end(): void;
  /** Ends the stream after a frame that reported an error. */
  fail(): void;
}
