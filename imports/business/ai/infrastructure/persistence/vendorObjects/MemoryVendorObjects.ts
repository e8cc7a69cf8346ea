/** Owners of vendor objects in this process's memory; the least recently used are forgotten first. */
import type { VendorObjectStore } from '../../../domain/interfaces/VendorObjectStore';

const MAX_OBJECTS = 100_000;

export class MemoryVendorObjects implements VendorObjectStore {
  /** Least recently used first. */
  private readonly objects = new Set<string>();

  record(userId: string, objectIds: readonly string[]): Promise<void> {
    for (const objectId of objectIds) {
      const key = JSON.stringify([userId, objectId]);
      this.objects.delete(key);
      this.objects.add(key);
    }
    for (const oldest of this.objects) {
      if (this.objects.size <= MAX_OBJECTS) break;
      this.objects.delete(oldest);
    }
    return Promise.resolve();
  }

  isOwner(userId: string, objectId: string): Promise<boolean> {
    return Promise.resolve(this.objects.has(JSON.stringify([userId, objectId])));
  }
}
