/** Owners of vendor objects in this process's memory; the least recently used are forgotten first. */
import type { VendorObjectFacts, VendorObjectStore } from '../../../domain/interfaces/VendorObjectStore';

const MAX_OBJECTS = 100_000;

export class MemoryVendorObjects implements VendorObjectStore {
  /** Least recently used first. */
  private readonly objects = new Map<string, VendorObjectFacts>();

  record(userId: string, objectIds: readonly string[], facts: VendorObjectFacts = {}): Promise<void> {
    for (const objectId of objectIds) {
      const key = keyOf(userId, objectId);
      const known = this.objects.get(key);
      this.objects.delete(key);
      this.objects.set(key, { ...known, ...facts });
    }
    for (const oldest of this.objects.keys()) {
      if (this.objects.size <= MAX_OBJECTS) break;
      this.objects.delete(oldest);
    }
    return Promise.resolve();
  }

  isOwner(userId: string, objectId: string): Promise<boolean> {
    return Promise.resolve(this.objects.has(keyOf(userId, objectId)));
  }

  find(userId: string, objectId: string): Promise<VendorObjectFacts | undefined> {
    return Promise.resolve(this.objects.get(keyOf(userId, objectId)));
  }

  ownedAmong(userId: string, objectIds: readonly string[]): Promise<ReadonlySet<string>> {
    return Promise.resolve(new Set(objectIds.filter((objectId) => this.objects.has(keyOf(userId, objectId)))));
  }

  remove(userId: string, objectIds: readonly string[]): Promise<void> {
    for (const objectId of objectIds) this.objects.delete(keyOf(userId, objectId));
    return Promise.resolve();
  }
}

function keyOf(userId: string, objectId: string): string {
  return JSON.stringify([userId, objectId]);
}
