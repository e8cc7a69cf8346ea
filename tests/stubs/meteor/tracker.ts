/** Tracker on the server, where nothing is reactive. `tests/stubs/client/tracker.ts` is the browser's. */
import { refuse } from '../server/clientOnly';

interface Computation {
  readonly firstRun: boolean;
  readonly stopped: boolean;
  readonly invalidated: boolean;
  invalidate(): void;
  onInvalidate(callback: () => void): void;
  onStop(callback: () => void): void;
  stop(): void;
}

class Dependency {
  depend(): boolean {
    return false;
  }
  changed(): void {
    // No computation depends on it.
  }
}

export const Tracker = {
  active: false,
  currentComputation: null as Computation | null,
  Dependency,
  nonreactive: <Result>(run: () => Result): Result => run(),
  autorun: (_run: (computation: Computation) => void): Computation => refuse('Tracker.autorun'),
  onInvalidate: (_callback: () => void): void => refuse('Tracker.onInvalidate'),
  afterFlush: (_callback: () => void): void => refuse('Tracker.afterFlush'),
  flush: (): void => refuse('Tracker.flush'),
};
