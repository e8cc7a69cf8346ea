/** Batches at vendors in a document collection, so that any process can continue one. */
import type { BatchRecord } from '../../../domain/entities/BatchRecord';
import type { BatchStore } from '../../../domain/interfaces/BatchStore';
import type { DocumentCollection, StoredDocument } from '../../../../../database/DocumentCollection';
import type { DocumentDatabase } from '../../../../../database/DocumentDatabase';
import { hashedId } from '../../../../../database/hashedId';
import { insertNew } from '../../../../../database/insertNew';

export interface BatchDocument extends StoredDocument, Omit<BatchRecord, 'parts'> {
  /** JSON, since it is read and written as a whole. */
  readonly parts: string;
  readonly changedAt: Date;
}

export const BATCHES = 'ai_batches';

/** 30 days, for as long as vendors keep results. */
const TTL_SECONDS = 30 * 24 * 3_600;

export async function openBatchStore(database: Pick<DocumentDatabase, 'collection'>): Promise<DocumentBatchStore> {
  const batches = database.collection<BatchDocument>(BATCHES);
  await batches.ensureIndex({ changedAt: 1 }, { expireAfterSeconds: TTL_SECONDS });
  await batches.ensureIndex({ userId: 1 });
  return new DocumentBatchStore(batches);
}

export class DocumentBatchStore implements BatchStore {
  private readonly batches: DocumentCollection<BatchDocument>;

  constructor(batches: DocumentCollection<BatchDocument>) {
    this.batches = batches;
  }

  async find(userId: string, batchId: string): Promise<BatchRecord | undefined> {
    const found = await this.batches.findOne({ _id: keyOf({ userId, batchId }) });
    if (found === undefined) return undefined;
    const { _id, changedAt, parts, ...record } = found;
    // Boundary: this store has written it.
    return { ...record, parts: JSON.parse(parts) as BatchRecord['parts'] };
  }

  insert(record: BatchRecord): Promise<boolean> {
    return insertNew(this.batches, { _id: keyOf(record), ...toFields(record) });
  }

  async replace(record: BatchRecord, revision: number): Promise<boolean> {
    const replaced = await this.batches.update({ _id: keyOf(record), revision }, { $set: toFields(record) });
    return replaced === 1;
  }
}

function toFields(record: BatchRecord): Omit<BatchDocument, '_id'> {
  return { ...record, parts: JSON.stringify(record.parts), changedAt: new Date() };
}

function keyOf({ userId, batchId }: Pick<BatchRecord, 'userId' | 'batchId'>): string {
  return hashedId(userId, batchId);
}
