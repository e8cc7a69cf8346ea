/** Long work in slices: a generator that yields after each, so that one piece of code serves both ways to run it. */
import { ownTurn } from './ownTurn';

export type Slices<T> = Generator<undefined, T, undefined>;

/** Items that one slice handles. Each takes a few microseconds. */
export const SLICE = 2_000;

/** Others have their turn between the slices. @returns the result at once if there is only one slice */
export function inTurns<T>(work: Slices<T>): T | Promise<T> {
  const first = work.next();
  return first.done === true ? first.value : rest(work);
}

async function rest<T>(work: Slices<T>): Promise<T> {
  for (;;) {
    await ownTurn();
    const slice = work.next();
    if (slice.done === true) return slice.value;
  }
}

export function atOnce<T>(work: Slices<T>): T {
  for (;;) {
    const slice = work.next();
    if (slice.done === true) return slice.value;
  }
}
