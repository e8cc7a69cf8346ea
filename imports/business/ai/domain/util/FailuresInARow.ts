/**
 * Counts consecutive failures, by user. One user's may be caused by that user's requests: they count for that user, and
 * about half of those that count for everyone are of the same user at most.
 */
export class FailuresInARow {
  private readonly threshold: number;
  private readonly byUser = new Map<string, number>();

  /** @param threshold failures in a row after which something is taken to fail; of at least two users for everyone */
  constructor(threshold: number) {
    this.threshold = threshold;
  }

  /** Counts a failure of the user's. */
  add(userId: string): void {
    // Bounds the users that are counted.
    if (!this.isReachedForAll) this.byUser.set(userId, (this.byUser.get(userId) ?? 0) + 1);
  }

  clear(): void {
    this.byUser.clear();
  }

  isReachedFor(userId: string): boolean {
    return (this.byUser.get(userId) ?? 0) >= this.threshold;
  }

  get isReachedForAll(): boolean {
    const needed = Math.max(2, this.threshold);
    const most = Math.ceil(needed / 2);
    let counted = 0;
    for (const failures of this.byUser.values()) counted += Math.min(failures, most);
    return counted >= needed;
  }
}
