/**
 * Batches frames for one client, since every write has a cost: the first is sent at once, and those that follow closely
 * are sent together.
 */

/** Milliseconds. */
const BATCH_DELAY_MS = 50;
/** UTF-16 code units at which a batch is sent early. */
const MAX_BATCH_LENGTH = 64 * 1024;

export class FrameBatcher {
  private readonly send: (frames: string) => void;
  private buffered = '';
  private timer: ReturnType<typeof setTimeout> | undefined;

  constructor(send: (frames: string) => void) {
    this.send = send;
  }

  /** UTF-16 code units that have not been sent. */
  get bufferedLength(): number {
    return this.buffered.length;
  }

  add(frame: string): void {
    this.buffered += frame;
    if (this.timer === undefined || this.buffered.length >= MAX_BATCH_LENGTH) this.flush();
  }

  /** Sends the current batch at once. */
  flush(): void {
    clearTimeout(this.timer);
    this.timer = undefined;
    if (this.buffered === '') return;
    const frames = this.buffered;
    this.buffered = '';
    this.timer = setTimeout(() => this.flush(), BATCH_DELAY_MS);
    this.send(frames);
  }

  /** Discards the current batch. */
  stop(): void {
    clearTimeout(this.timer);
    this.timer = undefined;
    this.buffered = '';
  }
}
