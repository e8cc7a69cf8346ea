/** Pending authorizations in a document collection, which deletes them when they expire. */
import type { DocumentCollection, StoredDocument } from '../../../../database/DocumentCollection';
import type { PendingAuthorization } from '../../domain/entities/PendingAuthorization';
import type { AuthorizationStore } from '../../domain/interfaces/AuthorizationStore';

export interface AuthorizationDocument extends Omit<PendingAuthorization, 'expiresAt' | 'box'>, StoredDocument {
  /** A date, as expiring indexes require. */
  readonly expiresAt: Date;
  readonly sealed?: string;
  readonly keyId?: string;
}

export type AuthorizationCollection = DocumentCollection<AuthorizationDocument>;

/** How long expired rows stay, so that a late or repeated callback can be distinguished from a forged one. */
const RETENTION_SECONDS = 3_600;

export function createAuthorizationStore(collection: AuthorizationCollection): AuthorizationStore {
  return {
    async insert({ box, expiresAt, ...pending }) {
      await collection.insert({ ...pending, expiresAt: new Date(expiresAt), ...box });
    },
    async find(id) {
      const found = await collection.findOne({ _id: id });
      return found === undefined ? undefined : fromDocument(found);
    },
    async use(id, now) {
      return (
        (await collection.update(
          { _id: id, usedAt: { $exists: false } },
          { $set: { usedAt: now }, $unset: { sealed: true, keyId: true } },
        )) === 1
      );
    },
    async removeOfProvider(providerId) {
      await collection.remove({ providerId });
    },
    removeOfUser: (userId) => collection.remove({ userId }),
  };
}

/** Creates the collection's index. Idempotent. */
export async function indexAuthorizations(collection: AuthorizationCollection): Promise<void> {
  await collection.ensureIndex({ expiresAt: 1 }, { expireAfterSeconds: RETENTION_SECONDS });
}

function fromDocument({ sealed, keyId, expiresAt, ...pending }: AuthorizationDocument): PendingAuthorization {
  return {
    ...pending,
    expiresAt: expiresAt.getTime(),
    ...(sealed === undefined || keyId === undefined ? {} : { box: { sealed, keyId } }),
  };
}
