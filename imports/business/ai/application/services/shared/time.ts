/** A wait that an abort ends at once. */

/**
 * The timer keeps the process alive, since somebody waits for the answer; no timer is left behind.
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
