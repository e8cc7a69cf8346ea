/**
 * Milliseconds since a moment that was written down, perhaps by another process: nothing but the wall clock
 * outlives one. A clock that was put back counts as no time, so that no wait becomes longer than it was meant to
 * be.
 * @param at milliseconds since the epoch
 */
export function elapsedSince(at: number): number {
  return Math.max(0, Date.now() - at);
}
