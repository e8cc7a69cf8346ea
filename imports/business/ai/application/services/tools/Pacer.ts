/**
 * Lets work begin in slices, so that the event loop serves others between them. Work that never waits, such as calls of
 * tools that return at once, would otherwise run in a single task, however much of it there is.
 */

/** Tool calls that may begin in one task. */
export const SLICE = 64;

export class Pacer {
  /** How many may begin before the next task. */
  private left = SLICE;
  private waiting: (() => void)[] | undefined;

  /** @returns undefined for work that may begin at once; otherwise resolves when it may, in the order of the calls */
  begin(): Promise<void> | undefined {
    if (this.left === 0) return new Promise((resolve) => (this.waiting ??= []).push(resolve));
    this.left -= 1;
    if (this.left === 0) setImmediate(() => this.nextSlice());
    return undefined;
  }

  private nextSlice(): void {
    const next = this.waiting?.splice(0, SLICE) ?? [];
    this.left = SLICE - next.length;
    if (this.left === 0) setImmediate(() => this.nextSlice());
    for (const resolve of next) resolve();
  }
}
