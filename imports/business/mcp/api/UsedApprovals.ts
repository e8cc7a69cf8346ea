/** Which approvals were used: each counts for one call. */

export interface UsedApprovals {
  /**
   * @param id of the call that was approved
   * @param expiresAt when the approval counts no more in any case, in milliseconds since the epoch
   * @returns true for the first call only
   */
  use(id: string, expiresAt: number): Promise<boolean>;
}

/** For one process. */
export class MemoryUsedApprovals implements UsedApprovals {
  /** By id, in the order of their use. */
  private readonly expiries = new Map<string, number>();

  use(id: string, expiresAt: number): Promise<boolean> {
    for (const [known, expiry] of this.expiries) {
      if (expiry > Date.now()) break;
      this.expiries.delete(known);
    }
    if (this.expiries.has(id)) return Promise.resolve(false);
    this.expiries.set(id, expiresAt);
    return Promise.resolve(true);
  }
}
