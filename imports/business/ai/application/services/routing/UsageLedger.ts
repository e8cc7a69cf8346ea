/** What was used, by provider and user. Users that were not seen for long are summed up under nobody's name. */
import { NO_USAGE, addUsage } from '../../../domain/entities/Response';
import type { Usage } from '../../../domain/types/ResponsesAPITypes';
import type { UsageEntry } from '../../../domain/types/UsageRecords';
import { LruMap } from '../shared/LruMap';

export class UsageLedger {
  private readonly byUser: LruMap<string, UsageEntry>;
  private readonly forgotten = new Map<string, UsageEntry>();

  /** @param limit how many pairs of provider and user are kept apart */
  constructor(limit: number) {
    this.byUser = new LruMap(limit, (_key, { providerId, calls, usage }) => {
      this.forgotten.set(providerId, sum(this.forgotten.get(providerId), { providerId, calls, usage }));
    });
  }

  record(providerId: string, userId: string, usage: Usage): void {
    const key = JSON.stringify([providerId, userId]);
    this.byUser.set(key, sum(this.byUser.get(key), { providerId, userId, calls: 1, usage }));
  }

  entries(): readonly UsageEntry[] {
    return [...this.forgotten.values(), ...this.byUser.values()];
  }
}

function sum(known: UsageEntry | undefined, added: UsageEntry): UsageEntry {
  return { ...added, calls: (known?.calls ?? 0) + added.calls, usage: addUsage(known?.usage ?? NO_USAGE, added.usage) };
}
