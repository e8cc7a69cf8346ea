/** `upsertMany` for databases that have no command for it. */
import type { DocumentCollection, StoredDocument, Upsert } from './DocumentCollection';
import { insertNew } from './insertNew';

export async function upsertEach(
  collection: Pick<DocumentCollection<StoredDocument>, 'insert' | 'update'>,
  changes: readonly Upsert[],
): Promise<{ readonly written: number; readonly inserted: number }> {
  let [written, inserted] = [0, 0];
  for (const { _id, selector, modifier } of changes) {
    const isUpdated = (await collection.update({ ...selector, _id }, modifier)) > 0;
    if (isUpdated) written += 1;
    else if (await insertNew(collection, { ...modifier.$set, _id })) {
      written += 1;
      inserted += 1;
    }
  }
  return { written, inserted };
}
