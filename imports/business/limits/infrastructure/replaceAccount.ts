/** Writes an account as `AccountStore.replace` does. */
import { randomInt } from 'node:crypto';
import type { DocumentCollection, StoredDocument } from '../../../database/DocumentCollection';
import { insertNew } from '../../../database/insertNew';

/** The greatest first revision. Leaves room for more changes than there can be. */
const LAST_RANDOM = 2 ** 47;

export async function replaceAccount<F extends object>(
  collection: DocumentCollection<F & StoredDocument & { readonly revision: number }>,
  _id: string,
  revision: number,
  fields: F,
): Promise<boolean> {
  if (revision === 0) return insertNew(collection, { ...fields, _id, revision: randomInt(1, LAST_RANDOM) });
  return (await collection.update({ _id, revision }, { $set: { ...fields, revision: revision + 1 } })) === 1;
}
