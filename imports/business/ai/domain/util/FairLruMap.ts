/**
 * A map of limited size that users share. A user beyond the share of one user loses entries of their own; when the map
 * is full, the user who holds most does. So nobody who holds less than others loses anything to them.
 */
export interface FairLimits {
  readonly entries: number;
  /** Default: as many as of all users, as long as others need no place. */
  readonly entriesPerUser?: number;
  /** In the unit of `sizeOf`. Default: not limited. */
  readonly size?: number;
  readonly sizePerUser?: number;
}

export interface FairMapOptions<V> {
  /** Read whenever the entry is set. Default: 0. */
  readonly sizeOf?: (value: V) => number;
  /** Default: every entry may be evicted. */
  readonly canEvict?: (value: V) => boolean;
  /** Called after an entry was evicted, but not after one was deleted. */
  readonly onEvict?: (value: V) => void;
}

interface Entry<V> {
  readonly value: V;
  readonly size: number;
}

interface Share<V> {
  /** The least recently used first. */
  readonly entries: Map<string, Entry<V>>;
  size: number;
}

export class FairLruMap<V> {
  private readonly shares = new Map<string, Share<V>>();
  private readonly limits: Required<FairLimits>;
  private readonly sizeOf: (value: V) => number;
  private readonly canEvict: (value: V) => boolean;
  private readonly onEvict: (value: V) => void;
  private entries = 0;
  private total = 0;

  constructor(
    limits: FairLimits,
    { sizeOf = () => 0, canEvict = () => true, onEvict = () => undefined }: FairMapOptions<V> = {},
  ) {
    const { entries, entriesPerUser = entries, size = Infinity, sizePerUser = size } = limits;
    this.limits = { entries, entriesPerUser, size, sizePerUser };
    this.sizeOf = sizeOf;
    this.canEvict = canEvict;
    this.onEvict = onEvict;
  }

  /** The number of entries. */
  get size(): number {
    return this.entries;
  }

  /** Marks the entry as used. */
  get(userId: string, key: string): V | undefined {
    const entries = this.shares.get(userId)?.entries;
    const entry = entries?.get(key);
    if (entries === undefined || entry === undefined) return undefined;
    entries.delete(key);
    entries.set(key, entry);
    return entry.value;
  }

  /** Replaces the entry, whose size may have changed. It is evicted last of all. */
  set(userId: string, key: string, value: V): void {
    this.delete(userId, key);
    const share = this.shares.get(userId) ?? { entries: new Map(), size: 0 };
    this.shares.set(userId, share);
    const size = this.sizeOf(value);
    const added = { value, size };
    share.entries.set(key, added);
    share.size += size;
    this.total += size;
    this.entries += 1;
    const { entries, entriesPerUser, size: most, sizePerUser } = this.limits;
    while (share.entries.size > entriesPerUser || share.size > sizePerUser)
      if (!this.evictFrom(userId, share, added)) break;
    while (this.entries > entries || this.total > most) {
      const [heaviest, its] = this.heaviest() ?? [userId, share];
      if (!this.evictFrom(heaviest, its, added)) break;
    }
  }

  delete(userId: string, key: string): boolean {
    const share = this.shares.get(userId);
    const entry = share?.entries.get(key);
    if (share === undefined || entry === undefined) return false;
    share.entries.delete(key);
    share.size -= entry.size;
    this.total -= entry.size;
    this.entries -= 1;
    if (share.entries.size === 0) this.shares.delete(userId);
    return true;
  }

  /** Removes all entries of a user. */
  forget(userId: string): void {
    for (const key of [...(this.shares.get(userId)?.entries.keys() ?? [])]) this.delete(userId, key);
  }

  /** @returns whether the user had an entry to evict, besides the one that was just set */
  private evictFrom(userId: string, share: Share<V>, added: Entry<V>): boolean {
    for (const [key, entry] of share.entries) {
      if (entry === added || !this.canEvict(entry.value)) continue;
      this.delete(userId, key);
      this.onEvict(entry.value);
      return true;
    }
    return false;
  }

  private heaviest(): readonly [userId: string, share: Share<V>] | undefined {
    const { entries, size } = this.limits;
    const weightOf = (share: Share<V>): number => Math.max(share.entries.size / entries, share.size / size);
    let found: readonly [string, Share<V>] | undefined;
    let most = -1;
    for (const entry of this.shares) {
      const weight = weightOf(entry[1]);
      if (weight <= most) continue;
      most = weight;
      found = entry;
    }
    return found;
  }
}
