/** Waits for what has no event to wait for: looks again whenever the event loop has turned. */

/** Milliseconds after which it never comes. */
const LIMIT = 180_000;

/** Not one that a test has replaced. */
const realTimeout = setTimeout;

/** @throws Error when it never comes, so that nothing goes on looking after its test */
export async function until(isTrue: () => boolean | Promise<boolean>): Promise<void> {
  const end = performance.now() + LIMIT;
  while (!(await isTrue())) {
    if (performance.now() > end) throw new Error('what was waited for did not come');
    await new Promise((resolve) => realTimeout(resolve, 2));
  }
}
