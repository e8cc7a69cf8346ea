/** A map of limited size that evicts the least recently used entry. */
export class LruMap<K, V> {
  private readonly entries = new Map<K, V>();
  private readonly limit: number;
  private readonly onEvict: (key: K, value: V) => void;

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
    if (value !== undefined) {
      this.entries.delete(key);
      this.entries.set(key, value);
    }
    return value;
  }

  set(key: K, value: V): void {
    this.entries.delete(key);
    this.entries.set(key, value);
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
