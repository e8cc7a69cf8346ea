/** Adds up token usage by provider and user. Users that were evicted are summed per provider. */
import { LRUCache } from 'lru-cache';
import { growingCapacity } from '../../../domain/util/growingCapacity';
import { NO_USAGE, addUsage } from '../../../domain/entities/Response';
import type { Usage } from '../../../domain/types/ResponsesAPITypes';
import type { UsageEntry } from '../../../domain/types/UsageRecords';

export class UsageLedger {
  private readonly byUser: LRUCache<string, UsageEntry>;
  private readonly evicted = new Map<string, UsageEntry>();

  /** @param limit how many pairs of provider and user are tracked separately */
  constructor(limit: number) {
    this.byUser = new LRUCache<string, UsageEntry>({
      ...growingCapacity(limit),
      dispose: ({ providerId, calls, usage }, _key, reason) => {
        if (reason === 'evict')
          this.evicted.set(providerId, sum(this.evicted.get(providerId), { providerId, calls, usage }));
      },
    });
  }

  record(providerId: string, userId: string, usage: Usage): void {
    const key = JSON.stringify([providerId, userId]);
    this.byUser.set(key, sum(this.byUser.get(key), { providerId, userId, calls: 1, usage }));
  }

  entries(): readonly UsageEntry[] {
    return [...this.evicted.values(), ...[...this.byUser.rvalues()].filter((entry) => entry !== undefined)];
  }
}

function sum(previous: UsageEntry | undefined, added: UsageEntry): UsageEntry {
  return {
    ...added,
    calls: (previous?.calls ?? 0) + added.calls,
    usage: addUsage(previous?.usage ?? NO_USAGE, added.usage),
  };
}
