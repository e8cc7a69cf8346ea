/** Owners of vendor objects in this process's memory. Of the user who has most, the least recently used go first. */
import { FairLruMap } from '../../../domain/util/FairLruMap';
import type { VendorObjectFacts, VendorObjectStore } from '../../../domain/interfaces/VendorObjectStore';

const MAX_OBJECTS = 100_000;

export class MemoryVendorObjects implements VendorObjectStore {
  private readonly objects = new FairLruMap<VendorObjectFacts>({ entries: MAX_OBJECTS });

  record(userId: string, objectIds: readonly string[], facts: VendorObjectFacts = {}): Promise<void> {
    for (const objectId of objectIds)
      this.objects.set(userId, objectId, { ...this.objects.get(userId, objectId), ...facts });
    return Promise.resolve();
  }

  isOwner(userId: string, objectId: string): Promise<boolean> {
    return Promise.resolve(this.objects.get(userId, objectId) !== undefined);
  }

  find(userId: string, objectId: string): Promise<VendorObjectFacts | undefined> {
    return Promise.resolve(this.objects.get(userId, objectId));
  }

  ownedAmong(userId: string, objectIds: readonly string[]): Promise<ReadonlySet<string>> {
    return Promise.resolve(new Set(objectIds.filter((objectId) => this.objects.get(userId, objectId) !== undefined)));
  }

  remove(userId: string, objectIds: readonly string[]): Promise<void> {
    for (const objectId of objectIds) this.objects.delete(userId, objectId);
    return Promise.resolve();
  }
}
