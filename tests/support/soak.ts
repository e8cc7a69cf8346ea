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

/** The items in lists of at most so many, each for a test of its own. */
export function inParts<T>(items: readonly T[], length: number): readonly (readonly T[])[] {
  return Array.from({ length: Math.ceil(items.length / length) }, (_, at) =>
    items.slice(at * length, (at + 1) * length),
  );
}

/**
 * All items, or in `npm test` a few in which everything occurs that `aspectsOf` tells of them: of a table, every row
 * and every column. `BOLIDE_SEED` decides which of them; without it, they are always the same.
 * @param aspectsOf by position, such as `[vendor, method]`
 */
export function sampled<T>(items: readonly T[], aspectsOf: (item: T) => readonly unknown[]): readonly T[] {
  if (IS_SOAK) return items;
  const seen: Set<unknown>[] = [];
  const chosen = new Set<T>();
  const isNew = (aspect: unknown, at: number): boolean => !(seen[at] ??= new Set()).has(aspect);
  const random = randomFrom(Number(process.env['BOLIDE_SEED'] ?? 0));
  const mixed = items.map((item) => ({ item, aspects: aspectsOf(item), at: random() })).toSorted((a, b) => a.at - b.at);
  // Items that are new in every respect come first.
  for (const isWanted of [Array.prototype.every, Array.prototype.some])
    for (const { item, aspects } of mixed)
      if (isWanted.call(aspects, isNew)) {
        chosen.add(item);
        for (const [at, aspect] of aspects.entries()) seen[at]!.add(aspect);
      }
  return items.filter((item) => chosen.has(item));
}

/** A linear congruential generator, as good as a sample needs. */
function randomFrom(seed: number): () => number {
  let state = seed >>> 0;
  return () => (state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0) / 2 ** 32;
}
