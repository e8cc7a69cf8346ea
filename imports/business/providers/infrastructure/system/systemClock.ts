/** The machine's wall clock and monotonic clock. */
import type { Clock } from '../../domain/interfaces/Clock';

export const systemClock: Clock = {
  now: () => Date.now(),
  elapsed: () => performance.now(),
  sleep: (milliseconds) =>
    new Promise((resolve) => {
      setTimeout(resolve, milliseconds);
    }),
};
