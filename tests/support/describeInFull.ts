/** @param suite takes too long for `npm test`, so that only `npm run test:full` runs it */
export function describeInFull(title: string, suite: (this: Mocha.Suite) => void): void {
  if (process.env['BOLIDE_FULL'] !== undefined) describe(title, suite);
}

/** All items, or in `npm test` so many of them, evenly spread. */
export function allInFull<T>(items: readonly T[], count: number): readonly T[] {
  if (process.env['BOLIDE_FULL'] !== undefined || items.length <= count) return items;
  return Array.from({ length: count }, (_, index) => items[Math.floor((index * items.length) / count)]!);
}

export function itInFull(title: string, test: (this: Mocha.Context) => Promise<void> | void): void {
  if (process.env['BOLIDE_FULL'] !== undefined) it(title, test);
}
