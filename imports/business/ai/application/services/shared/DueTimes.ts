/**
 * Times of day for which any number of calls wait, with one timer for all of them: a call that waits for days holds an
 * entry here and nothing else. The timer keeps the process alive, since somebody awaits what is due.
 */
import { runDetached } from './runDetached';
import { MAX_TIMER_MS } from './time';

export interface DueListener {
  /** Called once, in nobody's async context, when the time has come by the clock. */
  onDue(): void;
}

export interface DueTime {
  /** Has no effect once it was due. */
  cancel(): void;
}

export class DueTimes {
  /** A binary heap: each entry is due no later than the two at twice its place. */
  private readonly entries: Entry[] = [];
  private timer: ReturnType<typeof setTimeout> | undefined;
  /** When the timer fires. */
  private timerAt = Infinity;

  get size(): number {
    return this.entries.length;
  }

  /** @param at in milliseconds since the epoch; what has passed is due at once, but not before this returns */
  add(at: number, listener: DueListener): DueTime {
    const entry = new Entry(at, listener, this, this.entries.length);
    this.entries.push(entry);
    this.rise(entry);
    if (this.entries[0] === entry) this.schedule();
    return entry;
  }

  /** For its entries. */
  remove(entry: Entry): void {
    if (this.entries[entry.index] !== entry) return;
    const last = this.entries.pop();
    if (last !== undefined && last !== entry) {
      last.index = entry.index;
      this.entries[entry.index] = last;
      this.rise(last);
      this.sink(last);
    }
    if (this.entries.length === 0) this.stop();
  }

  private schedule(): void {
    const [first] = this.entries;
    if (first === undefined) return;
    const delay = Math.max(0, Math.min(first.at - Date.now(), MAX_TIMER_MS));
    const timerAt = Date.now() + delay;
    if (this.timer !== undefined && this.timerAt <= timerAt) return;
    clearTimeout(this.timer);
    this.timerAt = timerAt;
    this.timer = runDetached(() => setTimeout(() => this.callBack(), delay));
  }

  private stop(): void {
    clearTimeout(this.timer);
    this.timer = undefined;
  }

  private callBack(): void {
    this.timer = undefined;
    try {
      const now = Date.now();
      for (let [first] = this.entries; first !== undefined && first.at <= now; [first] = this.entries) {
        this.remove(first);
        first.listener.onDue();
      }
    } finally {
      this.schedule();
    }
  }

  private rise(entry: Entry): void {
    while (entry.index > 0) {
      const above = this.entries[(entry.index - 1) >> 1];
      if (above === undefined || above.at <= entry.at) return;
      this.swap(above, entry);
    }
  }

  private sink(entry: Entry): void {
    for (;;) {
      const left = this.entries[2 * entry.index + 1];
      const right = this.entries[2 * entry.index + 2];
      const next = right !== undefined && left !== undefined && right.at < left.at ? right : left;
      if (next === undefined || next.at >= entry.at) return;
      this.swap(entry, next);
    }
  }

  private swap(one: Entry, other: Entry): void {
    [one.index, other.index] = [other.index, one.index];
    this.entries[one.index] = one;
    this.entries[other.index] = other;
  }
}

class Entry implements DueTime {
  readonly at: number;
  readonly listener: DueListener;
  /** The entry's place in the heap. */
  index: number;
  private readonly queue: DueTimes;

  constructor(at: number, listener: DueListener, queue: DueTimes, index: number) {
    this.at = at;
    this.listener = listener;
    this.queue = queue;
    this.index = index;
  }

  cancel(): void {
    this.queue.remove(this);
  }
}
