/** A map that forgets what was used longest ago, so that what is kept for convenience can't fill the memory. */
export class LruMap<K, V> {
  private readonly entries = new Map<K, V>();
  private readonly limit: number;
  private readonly onEvict: (key: K, value: V) => void;

  /** @param onEvict is told what is forgotten */
  constructor(limit: number, onEvict: (key: K, value: V) => void = () => undefined) {
    this.limit = limit;
    this.onEvict = onEvict;
  }

  get size(): number {
    return this.entries.size;
  }

  /** Reading counts as use. */
  get(key: K): V | undefined {
    const value = this.entries.get(key);
    if (value !== undefined) {
      this.entries.delete(key);
      this.entries.set(key, value);
    }
    return value;
  }

  set(key: K, value: V): void {
    this.entries.delete(key);
    this.entries.set(key, value);
    for (const [oldest, forgotten] of this.entries) {
      if (this.entries.size <= this.limit) break;
      this.entries.delete(oldest);
      this.onEvict(oldest, forgotten);
    }
  }

  delete(key: K): void {
    this.entries.delete(key);
  }

  /** From the one used longest ago to the last used. */
  values(): readonly V[] {
    return [...this.entries.values()];
  }
}
