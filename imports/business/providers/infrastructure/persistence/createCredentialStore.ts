/** Credentials in a document collection, as documents with flat fields. */
import { randomUUID } from 'node:crypto';
import type { DocumentCollection, Modifier, StoredDocument } from '../../../../database/DocumentCollection';
import { insertNew } from '../../../../database/insertNew';
import { credentialKey } from '../../domain/entities/StoredCredential';
import type { CredentialId, RefreshLease, StoredCredential } from '../../domain/entities/StoredCredential';
import type { Clock } from '../../domain/interfaces/Clock';
import type { CredentialChange, CredentialStore, NewCredential } from '../../domain/interfaces/CredentialStore';

export interface CredentialDocument extends Omit<StoredCredential, 'lease'>, StoredDocument {
  readonly leasePhase?: RefreshLease['phase'];
  readonly leaseUntil?: number;
}

const OPTIONAL_FIELDS: readonly (keyof CredentialDocument)[] = [
  'expiresAt',
  'scopes',
  'leasePhase',
  'leaseUntil',
  'reconnectReason',
  'isUnanswered',
];

export type CredentialCollection = DocumentCollection<CredentialDocument>;

export function createCredentialStore(collection: CredentialCollection, clock: Clock): CredentialStore {
  const toNewDocument = (credential: NewCredential): CredentialDocument => ({
    ...credential,
    _id: credentialKey(credential),
    grantId: randomUUID(),
    generation: 0,
    updatedAt: clock.now(),
    version: 1,
  });

  /** @returns false if the row exists already */
  const insert = (credential: NewCredential): Promise<boolean> => insertNew(collection, toNewDocument(credential));

  /** One atomic update. A process that holds a lease on the old grant finds another grant id afterwards. */
  const replace = async (credential: NewCredential): Promise<boolean> => {
    const { _id, version: _version, ...fields } = toNewDocument(credential);
    const optional = OPTIONAL_FIELDS.filter((name) => !(name in fields));
    const $unset = Object.fromEntries(optional.map((name) => [name, true as const]));
    return (await collection.update({ _id }, { $set: fields, $unset, $inc: { version: 1 } })) === 1;
  };

  const find = async (selector: Readonly<Record<string, unknown>>): Promise<readonly StoredCredential[]> =>
    (await collection.find(selector)).map(fromDocument);

  return {
    async find(id) {
      const found = await collection.findOne({ _id: credentialKey(id) });
      return found === undefined ? undefined : fromDocument(found);
    },
    async put(credential) {
      // Retried because another process may insert or remove the row between the two.
      while (!(await replace(credential)) && !(await insert(credential)));
    },
    async add(credential) {
      await insert(credential);
    },
    async change({ _id, grantId, version }, change) {
      const changed = await collection.update({ _id, grantId, version }, modifierOf(change, clock.now()));
      return changed === 1 ? version + 1 : undefined;
    },
    async reseal({ _id, sealed }, box) {
      return (await collection.update({ _id, sealed }, { $set: { ...box } })) === 1;
    },
    async take(id: CredentialId) {
      const _id = credentialKey(id);
      for (;;) {
        const found = await collection.findOne({ _id });
        if (found === undefined) return undefined;
        // Removes only the version that was read, so the returned row is the removed one.
        if ((await collection.remove({ _id, version: found.version })) === 1) return fromDocument(found);
      }
    },
    ofProvider: (providerId) => find({ providerId }),
    ofUser: (userId) => find({ userId: { $in: [userId, null] } }),
    notSealedWith: (keyId) => find({ keyId: { $ne: keyId } }),
  };
}

/** Creates the collection's indexes. Idempotent. */
export async function indexCredentials(collection: CredentialCollection): Promise<void> {
  await collection.ensureIndex({ providerId: 1 });
  await collection.ensureIndex({ userId: 1 });
}

function fromDocument({ leasePhase, leaseUntil, ...row }: CredentialDocument): StoredCredential {
  return leasePhase === undefined || leaseUntil === undefined
    ? row
    : { ...row, lease: { phase: leasePhase, until: leaseUntil } };
}

function modifierOf({ box, lease, ...others }: CredentialChange, now: number): Modifier {
  const fields: Record<string, unknown> = {
    ...box,
    ...others,
    ...(lease === undefined ? {} : { leasePhase: lease?.phase ?? null, leaseUntil: lease?.until ?? null }),
  };
  const $set: Record<string, unknown> = { updatedAt: now };
  const $unset: Record<string, true> = {};
  for (const [name, value] of Object.entries(fields)) {
    if (value === null) $unset[name] = true;
    else if (value !== undefined) $set[name] = value;
  }
  return { $set, $unset, $inc: { version: 1 } };
}
