/** A map of limited size that evicts the least recently used entry. */
export class LruMap<K, V> {
  private readonly entries = new Map<K, V>();
  private readonly limit: number;
  private readonly onEvict: (key: K, value: V) => void;
  /** Used last: it is in its place. */
  private newest: K | undefined;

  /** @param onEvict called with every evicted entry */
  constructor(limit: number, onEvict: (key: K, value: V) => void = () => undefined) {
    this.limit = limit;
    this.onEvict = onEvict;
  }

  get size(): number {
    return this.entries.size;
  }

  /** Marks the entry as used. */
  get(key: K): V | undefined {
    const value = this.entries.get(key);
    if (value !== undefined && key !== this.newest) {
      this.entries.delete(key);
      this.entries.set(key, value);
      this.newest = key;
    }
    return value;
  }

  set(key: K, value: V): void {
    this.entries.delete(key);
    this.entries.set(key, value);
    this.newest = key;
    for (const [oldest, evicted] of this.entries) {
      if (this.entries.size <= this.limit) break;
      this.entries.delete(oldest);
      this.onEvict(oldest, evicted);
    }
  }

  delete(key: K): void {
    this.entries.delete(key);
  }

  /** From the least to the most recently used. */
  values(): readonly V[] {
    return [...this.entries.values()];
  }
}
