/** Frames for one reader: the first goes out at once, and those that follow closely go out together, since a hundred writes cost a hundred times one. */

/** Milliseconds. */
const GATHER = 50;
/** UTF-16 units that are worth a write of their own. */
const ENOUGH = 64 * 1024;

export class FrameGatherer {
  readonly #send: (frames: string) => void;
  #waiting = '';
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(send: (frames: string) => void) {
    this.#send = send;
  }

  /** UTF-16 units that have not been sent. */
  get waiting(): number {
    return this.#waiting.length;
  }

  add(frame: string): void {
    this.#waiting += frame;
    if (this.#timer === undefined || this.#waiting.length >= ENOUGH) this.flush();
  }

  /** Sends what waits, now. */
  flush(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    if (this.#waiting === '') return;
    const frames = this.#waiting;
    this.#waiting = '';
    this.#timer = setTimeout(() => this.flush(), GATHER);
    this.#send(frames);
  }

  /** Nothing is sent any more. */
  stop(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#waiting = '';
  }
}
