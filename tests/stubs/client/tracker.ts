/** Tracker (packages/tracker): computations, their invalidation, and the flush that runs them again. */
type Callback = (computation: Computation) => void;

let current: Computation | null = null;
let isFlushing = false;
let isFlushScheduled = false;
let isComputing = false;
const pending: Computation[] = [];
const afterFlush: (() => void)[] = [];
let nextId = 1;

class Computation {
  readonly id = nextId++;
  firstRun = true;
  stopped = false;
  invalidated = false;
  private readonly run: Callback;
  private invalidateCallbacks: Callback[] = [];
  private stopCallbacks: Callback[] = [];
  private isRecomputing = false;

  constructor(run: Callback) {
    this.run = run;
    let hasFailed = true;
    try {
      this.compute();
      hasFailed = false;
    } finally {
      this.firstRun = false;
      if (hasFailed) this.stop();
    }
  }

  onInvalidate(callback: Callback): void {
    if (this.invalidated) Tracker.nonreactive(() => callback(this));
    else this.invalidateCallbacks.push(callback);
  }

  onStop(callback: Callback): void {
    if (this.stopped) Tracker.nonreactive(() => callback(this));
    else this.stopCallbacks.push(callback);
  }

  invalidate(): void {
    if (this.invalidated) return;
    if (!this.isRecomputing && !this.stopped) {
      scheduleFlush();
      pending.push(this);
    }
    this.invalidated = true;
    for (const callback of this.invalidateCallbacks.splice(0)) Tracker.nonreactive(() => callback(this));
  }

  stop(): void {
    if (this.stopped) return;
    this.stopped = true;
    this.invalidate();
    for (const callback of this.stopCallbacks.splice(0)) Tracker.nonreactive(() => callback(this));
  }

  /** An error of a rerun is logged; it does not stop the computation. */
  recompute(): void {
    this.isRecomputing = true;
    try {
      while (this.invalidated && !this.stopped) {
        try {
          this.compute();
        } catch (error) {
          console.error('Exception from Tracker recompute function:', error);
        }
      }
    } finally {
      this.isRecomputing = false;
    }
  }

  private compute(): void {
    this.invalidated = false;
    const wasComputing = isComputing;
    isComputing = true;
    try {
      withComputation(this, () => this.run(this));
    } finally {
      isComputing = wasComputing;
    }
  }
}

class Dependency {
  private readonly dependents = new Map<number, Computation>();

  depend(computation: Computation | null = current): boolean {
    if (computation === null || this.dependents.has(computation.id)) return false;
    this.dependents.set(computation.id, computation);
    computation.onInvalidate(() => this.dependents.delete(computation.id));
    return true;
  }

  changed(): void {
    for (const computation of [...this.dependents.values()]) computation.invalidate();
  }

  hasDependents(): boolean {
    return this.dependents.size > 0;
  }
}

export const Tracker = {
  get active(): boolean {
    return current !== null;
  },
  get currentComputation(): Computation | null {
    return current;
  },
  Dependency,

  autorun(run: Callback): Computation {
    const outer = current;
    const computation = new Computation(run);
    outer?.onInvalidate(() => computation.stop());
    return computation;
  },

  nonreactive: <Result>(run: () => Result): Result => withComputation(null, run),

  onInvalidate(callback: Callback): void {
    if (current === null) throw new Error('Tracker.onInvalidate requires a currentComputation');
    current.onInvalidate(callback);
  },

  afterFlush(callback: () => void): void {
    afterFlush.push(callback);
    scheduleFlush();
  },

  flush(): void {
    if (isFlushing) throw new Error("Can't call Tracker.flush while flushing");
    if (isComputing) throw new Error("Can't flush inside Tracker.autorun");
    isFlushing = true;
    isFlushScheduled = true;
    try {
      while (pending.length > 0 || afterFlush.length > 0) {
        const computation = pending.shift();
        if (computation === undefined) afterFlush.shift()?.();
        else computation.recompute();
      }
    } finally {
      isFlushing = false;
      isFlushScheduled = false;
    }
  },
};

function scheduleFlush(): void {
  if (isFlushScheduled) return;
  isFlushScheduled = true;
  setTimeout(() => Tracker.flush(), 0);
}

function withComputation<Result>(computation: Computation | null, run: () => Result): Result {
  const outer = current;
  current = computation;
  try {
    return run();
  } finally {
    current = outer;
  }
}
