/**
 * The keys that seal users' content: a random one for each user, stored sealed by the operator's keys. Without its key,
 * a user's content is unreadable wherever it still is.
 */
import { randomBytes } from 'node:crypto';
import type { DocumentCollection, StoredDocument } from '../../../database/DocumentCollection';
import { StoreError, UnreadableDocumentError } from '../../../database/databaseErrors';
import type { ContentKey, ContentKeys } from './ContentKeys';
import { insertNew } from '../../../database/insertNew';
import { SealError } from '../../providers/domain/interfaces/Sealer';
import type { Sealer } from '../../providers/domain/interfaces/Sealer';
import { KEY_BYTES, KeyRing } from '../../providers/infrastructure/sealing/KeyRing';
import { SealingService } from '../../providers/infrastructure/sealing/SealingService';

/** `_id` is the id of the key. */
export interface ContentKeyDocument extends StoredDocument {
  readonly userId: string;
  /** The key in base64, sealed by the operator's key `keyId`. */
  readonly sealed: string;
  readonly keyId: string;
  readonly createdAt: Date;
}

export interface UserContentKeysOptions {
  /** Milliseconds since the epoch. */
  readonly now?: () => number;
}

export const CONTENT_KEYS = 'ai_content_keys';

const ID_BYTES = 12;
/** Keys in memory. */
const MAX_CACHED = 1_000;
/** Milliseconds after which a key is read again: another process may have deleted it. */
const CACHE_MS = 60_000;

interface CachedKey {
  readonly key: ContentKey;
  readonly userId: string;
  readonly until: number;
}

export class UserContentKeys implements ContentKeys {
  private readonly documents: DocumentCollection<ContentKeyDocument>;
  private readonly ring: KeyRing;
  private readonly sealer: Sealer;
  private readonly now: () => number;
  /** The least recently read first. */
  private readonly cached = new Map<string, CachedKey>();
  private readonly idByUser = new Map<string, string>();

  /** @param ring the operator's keys */
  constructor(
    documents: DocumentCollection<ContentKeyDocument>,
    ring: KeyRing,
    { now = Date.now }: UserContentKeysOptions = {},
  ) {
    this.documents = documents;
    this.ring = ring;
    this.sealer = new SealingService(ring);
    this.now = now;
  }

  /**
   * Creates the index. Safe to call again.
   * @throws StoreError if the operator's keys do not open all keys of users
   */
  async ready(): Promise<void> {
    await this.documents.ensureIndex({ userId: 1 }, { unique: true });
    for (const { key, count } of await this.documents.aggregate({}, { by: { keyId: 'keyId' } })) {
      const keyId = String(key['keyId']);
      if (this.ring.find(keyId) === undefined)
        throw new StoreError(
          `The content of users is sealed with the key "${keyId}", which this server does not have. Add it to the sealing keys (AI_SECRET_KEYS). If it is lost, the content of ${count} users is, too: remove the documents with "keyId": "${keyId}" from ${CONTENT_KEYS}.`,
        );
    }
  }

  /** Whether content was ever sealed for a user who still has data. */
  async isUsed(): Promise<boolean> {
    return (await this.documents.findOne({}, { fields: { _id: 1 } })) !== undefined;
  }

  async ofUser(userId: string): Promise<ContentKey> {
    for (;;) {
      const known = this.fromCache(this.idByUser.get(userId));
      if (known !== undefined) return known;
      const found = await this.documents.findOne({ userId });
      if (found !== undefined) return this.load(found);
      await this.create(userId);
    }
  }

  async find(id: string): Promise<ContentKey | undefined> {
    const known = this.fromCache(id);
    if (known !== undefined) return known;
    const found = await this.documents.findOne({ _id: id });
    return found === undefined ? undefined : this.load(found);
  }

  /** @returns how many keys the user had */
  async removeOfUser(userId: string): Promise<number> {
    this.forget(this.idByUser.get(userId));
    const removed = await this.documents.remove({ userId });
    // It may have been read meanwhile.
    this.forget(this.idByUser.get(userId));
    return removed;
  }

  /** Seals anew with the operator's current key what another one has sealed. */
  async reseal(): Promise<{ readonly resealed: number; readonly unopened: number }> {
    let [resealed, unopened] = [0, 0];
    for (const document of await this.documents.find({ keyId: { $ne: this.sealer.currentKeyId } })) {
      const secret = this.tryOpen(document);
      if (secret instanceof SealError) unopened += 1;
      else if (await this.replaceSeal(document, secret)) resealed += 1;
    }
    return { resealed, unopened };
  }

  private async create(userId: string): Promise<void> {
    const _id = randomBytes(ID_BYTES).toString('base64url');
    const box = this.sealer.seal(randomBytes(KEY_BYTES).toString('base64'), bindingOf({ _id, userId }));
    // Another call may have created the user's key.
    await insertNew(this.documents, { _id, userId, ...box, createdAt: new Date(this.now()) });
  }

  private async load(document: ContentKeyDocument): Promise<ContentKey> {
    const secret = this.tryOpen(document);
    if (secret instanceof SealError) throw unusableKey(document, secret);
    if (document.keyId !== this.sealer.currentKeyId) await this.replaceSeal(document, secret);
    const key = contentKey(document._id, secret);
    this.remember(document._id, { key, userId: document.userId, until: this.now() + CACHE_MS });
    return key;
  }

  private replaceSeal(document: ContentKeyDocument, secret: string): Promise<boolean> {
    const { _id, sealed } = document;
    const $set = { ...this.sealer.seal(secret, bindingOf(document)) };
    return this.documents.update({ _id, sealed }, { $set }).then((changed) => changed === 1);
  }

  private tryOpen(document: ContentKeyDocument): string | SealError {
    try {
      return this.sealer.open(document, bindingOf(document));
    } catch (error) {
      if (error instanceof SealError) return error;
      throw error;
    }
  }

  private fromCache(id: string | undefined): ContentKey | undefined {
    const found = id === undefined ? undefined : this.cached.get(id);
    if (id === undefined || found === undefined) return undefined;
    if (found.until > this.now()) return found.key;
    this.forget(id);
    return undefined;
  }

  private remember(id: string, entry: CachedKey): void {
    this.forget(id);
    this.cached.set(id, entry);
    this.idByUser.set(entry.userId, id);
    for (const oldest of this.cached.keys()) {
      if (this.cached.size <= MAX_CACHED) return;
      this.forget(oldest);
    }
  }

  private forget(id: string | undefined): void {
    const entry = id === undefined ? undefined : this.cached.get(id);
    if (id === undefined || entry === undefined) return;
    this.cached.delete(id);
    if (this.idByUser.get(entry.userId) === id) this.idByUser.delete(entry.userId);
  }
}

/** @param secret the key in base64 */
function contentKey(id: string, secret: string): ContentKey {
  const sealer = new SealingService(KeyRing.parse(`${id}:${secret}`, CONTENT_KEYS));
  return {
    id,
    seal: (text, binding) => sealer.seal(text, binding).sealed,
    open(sealed, binding) {
      try {
        return sealer.open({ sealed, keyId: id }, binding);
      } catch (cause) {
        const [collection, documentId, field] = binding;
        throw new UnreadableDocumentError(
          `"${field}" of the document ${documentId} of ${collection} does not open: it was altered, or belongs elsewhere.`,
          { cause },
        );
      }
    },
  };
}

function bindingOf({ _id, userId }: Pick<ContentKeyDocument, '_id' | 'userId'>): readonly string[] {
  return ['content-key', _id, userId];
}

function unusableKey({ _id, keyId }: ContentKeyDocument, cause: SealError): UnreadableDocumentError {
  const problem =
    cause.reason === 'unknown-key'
      ? `is sealed with the key "${keyId}", which this server does not have. Add it to the sealing keys (AI_SECRET_KEYS)`
      : 'was altered. Restore it from a backup';
  return new UnreadableDocumentError(`The content key ${_id} of a user ${problem}.`, { cause });
}
