/** Owners of vendor objects in a document collection, which all processes share. */
import type { DocumentCollection, StoredDocument } from '../../../../../database/DocumentCollection';
import type { VendorObjectFacts, VendorObjectStore } from '../../../domain/interfaces/VendorObjectStore';
import { omitUndefined } from '../../../domain/util/omitUndefined';
import type { DocumentDatabase } from '../../../../../database/DocumentDatabase';
import { hashedId } from '../../../../../database/hashedId';
import { insertNew } from '../../../../../database/insertNew';

export interface VendorObjectDocument extends StoredDocument {
  readonly userId: string;
  /** Absent: the entry does not expire. */
  readonly seenAt?: Date;
  readonly providerId?: string;
}

export const VENDOR_OBJECTS = 'ai_vendor_objects';

/** 30 days. */
const TTL_SECONDS = 30 * 24 * 3_600;

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

  async record(userId: string, objectIds: readonly string[], facts: VendorObjectFacts = {}): Promise<void> {
    await Promise.all([...new Set(objectIds)].map((objectId) => this.recordOne(userId, objectId, facts)));
  }

  async isOwner(userId: string, objectId: string): Promise<boolean> {
    return (await this.find(userId, objectId)) !== undefined;
  }

  async find(userId: string, objectId: string): Promise<VendorObjectFacts | undefined> {
    const found = await this.objects.findOne({ _id: hashedId(userId, objectId) });
    if (found === undefined || hasExpired(found)) return undefined;
    const { providerId, seenAt } = found;
    return omitUndefined({ isKept: seenAt === undefined, providerId });
  }

  async ownedAmong(userId: string, objectIds: readonly string[]): Promise<ReadonlySet<string>> {
    const ids = new Map(objectIds.map((objectId) => [hashedId(userId, objectId), objectId]));
    const found = await this.objects.find({ _id: { $in: [...ids.keys()] } });
    return new Set(
      found
        .filter((each) => !hasExpired(each))
        .map(({ _id }) => ids.get(_id))
        .filter((id) => id !== undefined),
    );
  }

  async remove(userId: string, objectIds: readonly string[]): Promise<void> {
    await this.objects.remove({ _id: { $in: objectIds.map((objectId) => hashedId(userId, objectId)) } });
  }

  private async recordOne(userId: string, objectId: string, { providerId, isKept }: VendorObjectFacts): Promise<void> {
    const _id = hashedId(userId, objectId);
    const known = await this.objects.findOne({ _id });
    const provider = providerId === undefined ? {} : { providerId };
    const seenAt = isKept === true ? {} : { seenAt: new Date() };
    if (known !== undefined) {
      const changes = { ...provider, ...(known.seenAt === undefined ? {} : seenAt) };
      const kept = isKept === true ? { $unset: { seenAt: true as const } } : {};
      const set = Object.keys(changes).length === 0 ? {} : { $set: changes };
      if (Object.keys({ ...set, ...kept }).length === 0) return;
      if ((await this.objects.update({ _id }, { ...set, ...kept })) === 1) return;
    }
    // Another process may have recorded it in the meantime.
    await insertNew(this.objects, { _id, userId, ...seenAt, ...provider });
  }
}

/** Databases remove expired documents with a delay. */
function hasExpired({ seenAt }: VendorObjectDocument): boolean {
  return seenAt !== undefined && Date.now() - seenAt.getTime() >= TTL_SECONDS * 1_000;
}
