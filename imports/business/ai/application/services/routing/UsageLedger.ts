/** Adds up token usage by provider and user. Users that were evicted are summed per provider. */
import { LRUCache } from 'lru-cache';
import { growingCapacity } from '../../../domain/util/growingCapacity';
import { NO_USAGE, addUsage } from '../../../domain/entities/Response';
import type { Usage } from '../../../domain/types/ResponsesAPITypes';
import type { UsageEntry } from '../../../domain/types/UsageRecords';
import type { Writable } from '../../../domain/types/Writable';

export class UsageLedger {
  private readonly byUser: LRUCache<string, Writable<UsageEntry>>;
  private readonly evicted = new Map<string, UsageEntry>();

  /** @param limit how many pairs of provider and user are tracked separately */
  constructor(limit: number) {
    this.byUser = new LRUCache<string, Writable<UsageEntry>>({
      ...growingCapacity(limit),
      dispose: ({ providerId, calls, usage }, _key, reason) => {
        if (reason !== 'evict') return;
        const before = this.evicted.get(providerId) ?? { calls: 0, usage: NO_USAGE };
        this.evicted.set(providerId, { providerId, calls: before.calls + calls, usage: addUsage(before.usage, usage) });
      },
    });
  }

  record(providerId: string, userId: string, usage: Usage): void {
    const key = JSON.stringify([providerId, userId]);
    let entry = this.byUser.get(key);
    if (entry === undefined) this.byUser.set(key, (entry = { providerId, userId, calls: 0, usage: NO_USAGE }));
    entry.calls += 1;
    entry.usage = addUsage(entry.usage, usage);
  }

  entries(): readonly UsageEntry[] {
    const byUser = [...this.byUser.rvalues()].filter((entry) => entry !== undefined);
    return [...this.evicted.values(), ...byUser.map((entry) => ({ ...entry }))];
  }
}
