/** Owners of vendor objects in a document collection, which all processes share. */
import { createHash } from 'node:crypto';
import { isLLMError } from '../../../domain/errors/LLMErrors';
import type { DocumentCollection, StoredDocument } from '../../../domain/interfaces/DocumentCollection';
import type { VendorObjectStore } from '../../../domain/interfaces/VendorObjectStore';
import type { DocumentDatabase } from '../databases/DocumentDatabase';

export interface VendorObjectDocument extends StoredDocument {
  readonly userId: string;
  readonly seenAt: Date;
}

export const VENDOR_OBJECTS = 'ai_vendor_objects';

/** 30 days. */
const TTL_SECONDS = 30 * 24 * 3_600;

/** Creates the store and its indexes. */
export async function openVendorObjects(database: Pick<DocumentDatabase, 'collection'>): Promise<VendorObjectStore> {
  const objects = database.collection<VendorObjectDocument>(VENDOR_OBJECTS);
  await objects.ensureIndex({ seenAt: 1 }, { expireAfterSeconds: TTL_SECONDS });
  await objects.ensureIndex({ userId: 1 });
  return new DocumentVendorObjects(objects);
}

export class DocumentVendorObjects implements VendorObjectStore {
  private readonly objects: DocumentCollection<VendorObjectDocument>;

  constructor(objects: DocumentCollection<VendorObjectDocument>) {
    this.objects = objects;
  }

  async record(userId: string, objectIds: readonly string[]): Promise<void> {
    await Promise.all([...new Set(objectIds)].map((objectId) => this.recordOne(userId, objectId)));
  }

  async isOwner(userId: string, objectId: string): Promise<boolean> {
    const found = await this.objects.findOne({ _id: keyOf(userId, objectId) });
    // Databases remove expired documents with a delay.
    return found !== undefined && Date.now() - found.seenAt.getTime() < TTL_SECONDS * 1_000;
  }

  private async recordOne(userId: string, objectId: string): Promise<void> {
    const _id = keyOf(userId, objectId);
    const seenAt = new Date();
    if ((await this.objects.update({ _id }, { $set: { seenAt } })) === 1) return;
    try {
      await this.objects.insert({ _id, userId, seenAt });
    } catch (error) {
      // Another process recorded it in the meantime.
      if (!isLLMError(error) || error.code !== 'conflict') throw error;
    }
  }
}

/** Hashed, since ids come from clients and may have any length. */
function keyOf(userId: string, objectId: string): string {
  return createHash('sha256')
    .update(JSON.stringify([userId, objectId]))
    .digest('base64url');
}
