/**
 * What `npm test` samples and `npm run test:soak` runs whole. The soak repeats those files of the other suites that
 * import this one, directly or not.
 */

/** Whether this is the soak. */
export const IS_SOAK = process.env['BOLIDE_SOAK'] !== undefined;

/** @param suite takes too long for `npm test` */
export function describeInSoak(title: string, suite: (this: Mocha.Suite) => void): void {
  if (IS_SOAK) describe(title, suite);
}

export function itInSoak(title: string, test: (this: Mocha.Context) => Promise<void> | void): void {
  if (IS_SOAK) it(title, test);
}

/** All items, or in `npm test` so many of them, evenly spread. */
export function allInSoak<T>(items: readonly T[], count: number): readonly T[] {
  if (IS_SOAK || items.length <= count) return items;
  return Array.from({ length: count }, (_, index) => items[Math.floor((index * items.length) / count)]!);
}
