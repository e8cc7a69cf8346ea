/** Waiting, and measuring time that has passed. */

/** Milliseconds. Timers towards a time of day are this short so that a clock that is set forward is noticed. */
export const MAX_TIMER_MS = 30_000;

/**
 * Waits without leaving a timer behind. The timer keeps the process alive, since a caller awaits the result.
 * @param duration milliseconds
 * @throws `signal.reason` as soon as the signal is aborted
 */
export async function sleep(duration: number, signal?: AbortSignal): Promise<void> {
  signal?.throwIfAborted();
  await new Promise<void>((resolve) => {
    const finish = (): void => {
      clearTimeout(timer);
      signal?.removeEventListener('abort', finish);
      resolve();
    };
    const timer = setTimeout(finish, duration);
    signal?.addEventListener('abort', finish);
  });
  signal?.throwIfAborted();
}

/**
 * Milliseconds since a stored moment. The moment may have been stored by another process, so the wall clock is the
 * only one that applies. A clock that was set back counts as no time passed, so that no wait gets longer than intended.
 * @param at milliseconds since the epoch
 * @param now the same
 */
export function elapsedSince(at: number, now = Date.now()): number {
  return Math.max(0, now - at);
}
