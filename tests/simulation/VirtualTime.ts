/** The one time line of a simulation: what happens next is what is due first, and time passes by nothing else. */

/** A process that events happen to. */
export interface Executor {
  /** Nothing happens to it any more. */
  readonly isDead: boolean;
  /** It stands still until then. */
  readonly pausedUntil: number;
  /** Whether what has arrived meanwhile is seen before the timers that are due: libuv does either. */
  readonly readsBeforeTimers: boolean;
}

export type EventKind = 'timer' | 'arrival';

interface Event {
  readonly at: number;
  /** Orders events that are due at one moment: the one that was pushed first happens first. */
  readonly order: number;
  readonly executor: Executor | undefined;
  readonly kind: EventKind;
  readonly run: () => void;
}

/** Milliseconds between the end of a pause and what comes second after it. */
const SECOND = 0.01;

export class VirtualTime {
  /** Milliseconds. */
  now = 0;
  /** How many events have happened. */
  events = 0;
  /** What events have thrown. */
  readonly errors: unknown[] = [];
  /** A binary heap. */
  private readonly heap: Event[] = [];
  private pushed = 0;

  /** @param executor absent: it happens whoever is dead or stands still */
  after(delay: number, run: () => void, executor?: Executor, kind: EventKind = 'arrival'): void {
    this.push(this.now + Math.max(0, delay), run, executor, kind);
  }

  /**
   * @param isDone asked before every event
   * @returns whether it was done before `limit`, and before nothing was left to happen
   */
  async until(isDone: () => boolean, limit: number): Promise<boolean> {
    for (;;) {
      if (isDone()) return true;
      const [next] = this.heap;
      if (next === undefined || next.at > limit) return false;
      this.pop();
      this.now = next.at;
      if (this.isPostponed(next)) continue;
      this.events += 1;
      try {
        next.run();
      } catch (error) {
        this.errors.push(error);
      }
      // Whatever follows from it in microtasks belongs to the same moment.
      await new Promise((resolve) => setImmediate(resolve));
    }
  }

  private isPostponed({ executor, kind, run }: Event): boolean {
    if (executor === undefined) return false;
    if (executor.isDead) return true;
    if (executor.pausedUntil <= this.now) return false;
    const isSecond = executor.readsBeforeTimers === (kind === 'timer');
    this.push(executor.pausedUntil + (isSecond ? SECOND : 0), run, executor, kind);
    return true;
  }

  private push(at: number, run: () => void, executor: Executor | undefined, kind: EventKind): void {
    const event: Event = { at, order: this.pushed, executor, kind, run };
    this.pushed += 1;
    const { heap } = this;
    let index = heap.push(event) - 1;
    while (index > 0) {
      const parent = (index - 1) >> 1;
      if (!isBefore(event, heap[parent]!)) break;
      heap[index] = heap[parent]!;
      index = parent;
    }
    heap[index] = event;
  }

  private pop(): void {
    const { heap } = this;
    const last = heap.pop();
    if (last === undefined || heap.length === 0) return;
    let index = 0;
    for (;;) {
      let child = 2 * index + 1;
      if (child >= heap.length) break;
      if (child + 1 < heap.length && isBefore(heap[child + 1]!, heap[child]!)) child += 1;
      if (isBefore(last, heap[child]!)) break;
      heap[index] = heap[child]!;
      index = child;
    }
    heap[index] = last;
  }
}

function isBefore(one: Event, other: Event): boolean {
  return one.at < other.at || (one.at === other.at && one.order < other.order);
}
