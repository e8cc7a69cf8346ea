/** Puts sealing in front of a database, where it is on or has ever been. */
import type { DocumentDatabase } from '../../database/DocumentDatabase';
import { SealedDatabase } from './infrastructure/SealedDatabase';
import type { KeyRing } from '../providers/infrastructure/sealing/KeyRing';
import type { StoredCollection } from '../../database/StoredCollection';
import { CONTENT_KEYS, UserContentKeys } from './infrastructure/UserContentKeys';

export interface Sealing {
  readonly database: SealedDatabase;
  readonly keys: UserContentKeys;
}

/**
 * @param collections those of the database
 * @param isSealing false only opens what was sealed earlier
 * @returns undefined if nothing is sealed, so that the database can be used as it is
 */
export async function openSealing(
  database: DocumentDatabase,
  collections: readonly StoredCollection[],
  ring: KeyRing,
  isSealing: boolean,
): Promise<Sealing | undefined> {
  const keys = new UserContentKeys(database.collection(CONTENT_KEYS), ring);
  if (!isSealing && !(await keys.isUsed())) return undefined;
  await keys.ready();
  return { database: new SealedDatabase(database, { collections, keys, isSealing }), keys };
}
