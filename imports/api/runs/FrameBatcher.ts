/**
 * Frames for one reader: the first goes out at once, and those that follow closely go out together, since a hundred
 * writes cost a hundred times one.
 */

/** Milliseconds. */
const BATCH_DELAY_MS = 50;
/** UTF-16 units that are worth a write of their own. */
const MAX_BATCH_LENGTH = 64 * 1024;

export class FrameBatcher {
  private readonly send: (frames: string) => void;
  private buffered = '';
  private timer: ReturnType<typeof setTimeout> | undefined;

  constructor(send: (frames: string) => void) {
    this.send = send;
  }

  /** UTF-16 units that have not been sent. */
  get bufferedLength(): number {
    return this.buffered.length;
  }

  add(frame: string): void {
    this.buffered += frame;
    if (this.timer === undefined || this.buffered.length >= MAX_BATCH_LENGTH) this.flush();
  }

  /** Sends what waits, now. */
  flush(): void {
    clearTimeout(this.timer);
    this.timer = undefined;
    if (this.buffered === '') return;
    const frames = this.buffered;
    this.buffered = '';
    this.timer = setTimeout(() => this.flush(), BATCH_DELAY_MS);
    this.send(frames);
  }

  /** Nothing is sent any more. */
  stop(): void {
    clearTimeout(this.timer);
    this.timer = undefined;
    this.buffered = '';
  }
}
