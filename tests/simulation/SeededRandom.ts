/** Random numbers that a seed determines (mulberry32). Streams of different names are independent of each other. */
export class SeededRandom {
  private state: number;

  constructor(seed: number) {
    this.state = seed >>> 0;
  }

  /** A stream for one purpose, so that what is drawn for another does not shift it. */
  static of(seed: number, name: string): SeededRandom {
    let hash = 0x811c9dc5 ^ Math.imul(seed, 0x9e3779b1);
    for (let index = 0; index < name.length; index += 1) hash = Math.imul(hash ^ name.charCodeAt(index), 0x01000193);
    return new SeededRandom(hash ^ (hash >>> 15));
  }

  /** At least 0, less than 1. */
  next(): number {
    this.state = (this.state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(this.state ^ (this.state >>> 15), this.state | 1);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  }

  /** An integer from 0 to `limit - 1`. */
  below(limit: number): number {
    return Math.floor(this.next() * limit);
  }

  /** An integer from `from` to `to - 1`. */
  between(from: number, to: number): number {
    return from + this.below(to - from);
  }

  chance(probability: number): boolean {
    return this.next() < probability;
  }

  /** @throws RangeError for an empty list */
  pick<T>(items: readonly T[]): T {
    if (items.length === 0) throw new RangeError('There is nothing to pick from.');
    return items[this.below(items.length)]!;
  }

  uuid(): string {
    const hex = Array.from({ length: 32 }, () => this.below(16).toString(16)).join('');
    return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-8${hex.slice(17, 20)}-${hex.slice(20)}`;
  }
}
