/** `upsertMany` for databases that have no command for it. */
import { ConflictError } from '../business/ai/domain/errors/LLMErrors';
import type { DocumentCollection, StoredDocument, Upsert } from './DocumentCollection';

export async function upsertEach(
  collection: Pick<DocumentCollection<StoredDocument>, 'insert' | 'update'>,
  changes: readonly Upsert[],
): Promise<{ readonly written: number; readonly inserted: number }> {
  let [written, inserted] = [0, 0];
  for (const { _id, selector, modifier } of changes) {
    const isUpdated = (await collection.update({ ...selector, _id }, modifier)) > 0;
    if (isUpdated) written += 1;
    else if (await insertMissing(collection, { ...modifier.$set, _id })) {
      written += 1;
      inserted += 1;
    }
  }
  return { written, inserted };
}

async function insertMissing(
  collection: Pick<DocumentCollection<StoredDocument>, 'insert'>,
  document: StoredDocument,
): Promise<boolean> {
  try {
    await collection.insert(document);
    return true;
  } catch (error) {
    if (error instanceof ConflictError) return false;
    throw error;
  }
}
