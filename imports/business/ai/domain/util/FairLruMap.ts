/**
 * A map of limited size that users share. A user beyond the share of one user loses entries of their own; when the map
 * is full, the user who holds most does. So nobody who holds less than others loses anything to them.
 */
import { MaxHeap } from './MaxHeap';
import type { HeapElement } from './MaxHeap';

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

/** An entry in a list by use. A `Map` keeps places of what it has deleted, so that its first entry is slow to find. */
interface Entry<V> {
  readonly key: string;
  readonly value: V;
  readonly size: number;
  older: Entry<V> | undefined;
  newer: Entry<V> | undefined;
}

interface Share<V> extends HeapElement {
  readonly userId: string;
  readonly entries: Map<string, Entry<V>>;
  /** The least recently used one. */
  oldest: Entry<V> | undefined;
  newest: Entry<V> | undefined;
  /** Grows with every share that begins: of two that hold as much, the older one gives way. */
  number: number;
  size: number;
}

export class FairLruMap<V> {
  private readonly shares = new Map<string, Share<V>>();
  private readonly limits: Required<FairLimits>;
  private readonly sizeOf: (value: V) => number;
  private readonly canEvict: (value: V) => boolean;
  private readonly onEvict: (value: V) => void;
  /** The one who holds most comes first. */
  private readonly heaviest: MaxHeap<Share<V>>;
  private entries = 0;
  private total = 0;
  private opened = 0;

  constructor(
    limits: FairLimits,
    { sizeOf = () => 0, canEvict = () => true, onEvict = () => undefined }: FairMapOptions<V> = {},
  ) {
    const { entries, entriesPerUser = entries, size = Infinity, sizePerUser = size } = limits;
    this.limits = { entries, entriesPerUser, size, sizePerUser };
    this.sizeOf = sizeOf;
    this.canEvict = canEvict;
    this.onEvict = onEvict;
    const weightOf = (share: Share<V>): number => Math.max(share.entries.size / entries, share.size / size);
    this.heaviest = new MaxHeap((left, right) => {
      const more = weightOf(left) - weightOf(right);
      return more > 0 || (more === 0 && left.number < right.number);
    });
  }

  get size(): number {
    return this.entries;
  }

  /** Marks the entry as used. */
  get(userId: string, key: string): V | undefined {
    const share = this.shares.get(userId);
    const entry = share?.entries.get(key);
    if (share === undefined || entry === undefined) return undefined;
    unlink(share, entry);
    append(share, entry);
    return entry.value;
  }

  /** Replaces the entry, whose size may have changed. It is evicted last of all. */
  set(userId: string, key: string, value: V): void {
    const share = this.shares.get(userId) ?? this.open(userId);
    const before = share.entries.get(key);
    if (before !== undefined) this.remove(share, before);
    if (share.entries.size === 0) share.number = this.opened += 1;
    const size = this.sizeOf(value);
    const added: Entry<V> = { key, value, size, older: undefined, newer: undefined };
    share.entries.set(key, added);
    append(share, added);
    share.size += size;
    this.total += size;
    this.entries += 1;
    this.heaviest.update(share);
    const { entries, entriesPerUser, size: most, sizePerUser } = this.limits;
    while (share.entries.size > entriesPerUser || share.size > sizePerUser) if (!this.evictFrom(share, added)) break;
    while (this.entries > entries || this.total > most) if (!this.evictFrom(this.heaviest.first ?? share, added)) break;
  }

  delete(userId: string, key: string): boolean {
    const share = this.shares.get(userId);
    const entry = share?.entries.get(key);
    if (share === undefined || entry === undefined) return false;
    this.remove(share, entry);
    if (share.entries.size > 0) this.heaviest.update(share);
    else {
      this.heaviest.remove(share);
      this.shares.delete(userId);
    }
    return true;
  }

  private open(userId: string): Share<V> {
    const share: Share<V> = {
      userId,
      entries: new Map(),
      oldest: undefined,
      newest: undefined,
      number: Infinity,
      size: 0,
      at: 0,
    };
    this.shares.set(userId, share);
    this.heaviest.add(share);
    return share;
  }

  private remove(share: Share<V>, entry: Entry<V>): void {
    share.entries.delete(entry.key);
    unlink(share, entry);
    share.size -= entry.size;
    this.total -= entry.size;
    this.entries -= 1;
  }

  /** Removes all entries of a user. */
  forget(userId: string): void {
    for (const key of [...(this.shares.get(userId)?.entries.keys() ?? [])]) this.delete(userId, key);
  }

  /** @returns whether the user had an entry to evict, besides the one that was just set */
  private evictFrom(share: Share<V>, added: Entry<V>): boolean {
    for (let entry = share.oldest; entry !== undefined; entry = entry.newer) {
      if (entry === added || !this.canEvict(entry.value)) continue;
      this.delete(share.userId, entry.key);
      this.onEvict(entry.value);
      return true;
    }
    return false;
  }
}

function append<V>(share: Share<V>, entry: Entry<V>): void {
  entry.older = share.newest;
  entry.newer = undefined;
  if (share.newest === undefined) share.oldest = entry;
  else share.newest.newer = entry;
  share.newest = entry;
}

function unlink<V>(share: Share<V>, { older, newer }: Entry<V>): void {
  if (older === undefined) share.oldest = newer;
  else older.newer = newer;
  if (newer === undefined) share.newest = older;
  else newer.older = older;
}
