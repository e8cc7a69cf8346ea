/**
 * Counts the changes of credentials that users may notice, in one document. Every process observes the document, rather
 * than all credentials, of which there is one per user and provider and which are written at every token refresh.
 */
import type { DocumentCollection, StoredDocument } from '../../../../database/DocumentCollection';
import { insertNew } from '../../../../database/insertNew';

export interface ChangeDocument extends StoredDocument {
  readonly revision: number;
}

export const CREDENTIAL_CHANGES_ID = 'credentials';

export function createChangeCounter(collection: DocumentCollection<ChangeDocument>): () => Promise<void> {
  const increment = (): Promise<number> => collection.update({ _id: CREDENTIAL_CHANGES_ID }, { $inc: { revision: 1 } });
  return async () => {
    if ((await increment()) === 1) return;
    // If not, another process has inserted it.
    if (!(await insertNew(collection, { _id: CREDENTIAL_CHANGES_ID, revision: 1 }))) await increment();
  };
}
