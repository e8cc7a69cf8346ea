/**
 * The audit trail in a document collection. It is append-only: entries are inserted, get their outcome once, expire,
 * give way to newer ones where there are too many, and lose what identifies a user whose data is deleted. Nothing else
 * writes to the collection.
 */
import { createHmac, randomBytes } from 'node:crypto';
import type { AuditEnd, AuditFilter, AuditPage, AuditPageRequest, AuditReader, AuditStore } from '../domain/AuditStore';
import type { DocumentCollection, Selector, StoredDocument } from '../../../database/DocumentCollection';
import { omitUndefined } from '../../ai/domain/util/omitUndefined';
import type { AuditEntry } from '../../ai/domain/types/AuditEntries';
import { EntryBound } from '../../../database/bounds/EntryBound';
import type { DocumentDatabase } from '../../../database/DocumentDatabase';
import { findPage } from '../../../database/query/findPage';
import { searchSelector, searchWords } from '../../../database/searchWords';
import { insertNew } from '../../../database/insertNew';

export const AUDIT = 'ai_audit';
/** The key of the pseudonyms: whoever has it and a user id can find the user's entries. */
export const AUDIT_KEYS = 'ai_audit_keys';

interface AuditDocument extends AuditEntry {
  /** In lower case, for search. */
  readonly words: readonly string[];
  /** Absent: kept forever. */
  readonly expiresAt?: Date;
}

interface KeyDocument extends StoredDocument {
  readonly key: string;
}

export interface AuditLimits {
  /** Milliseconds after which entries expire. Default: a year; Infinity keeps them. */
  readonly retentionMs?: number;
  /** The most entries. Beyond it, the users with the most entries lose their oldest. Default: no bound. */
  readonly maxEntries?: number;
}

export interface AuditStoreHooks {
  /** Called after entries were removed because there were more than `maxEntries`. */
  readonly onRemoved?: (count: number) => void;
}

const DAY_MS = 86_400_000;
export const DEFAULT_AUDIT_RETENTION_MS = 365 * DAY_MS;

const KEY_ID = 'pseudonyms';
/** Entries per query. */
const BATCH_SIZE = 200;

/** Each filter, followed by the order of the list. */
const INDEXES: readonly Readonly<Record<string, 1 | -1>>[] = [
  { at: -1, _id: -1 },
  ...['userId', 'tokenId', 'action', 'subject.kind', 'subject.id', 'outcome', 'words'].map(
    (field): Readonly<Record<string, 1 | -1>> => ({ [field]: 1, at: -1, _id: -1 }),
  ),
  { 'subject.ownerId': 1 },
];

/** Everything but what serves the database. */
export const AUDIT_FIELDS = {
  _id: 1,
  at: 1,
  userId: 1,
  tokenId: 1,
  via: 1,
  action: 1,
  subject: 1,
  changed: 1,
  details: 1,
  address: 1,
  userAgent: 1,
  outcome: 1,
  error: 1,
} as const satisfies Record<keyof AuditEntry, 1>;

export class DocumentAuditStore implements AuditStore, AuditReader {
  private readonly entries: DocumentCollection<AuditDocument>;
  private readonly keys: DocumentCollection<KeyDocument>;
  private readonly retentionMs: number;
  private readonly bound: EntryBound<AuditDocument>;
  private readonly onRemoved: AuditStoreHooks['onRemoved'];

  constructor(
    database: Pick<DocumentDatabase, 'collection'>,
    { retentionMs = DEFAULT_AUDIT_RETENTION_MS, maxEntries = Infinity }: AuditLimits = {},
    { onRemoved }: AuditStoreHooks = {},
  ) {
    this.entries = database.collection(AUDIT);
    this.keys = database.collection(AUDIT_KEYS);
    this.retentionMs = retentionMs;
    this.bound = new EntryBound(this.entries, maxEntries, (ids) => this.entries.remove({ _id: { $in: ids } }));
    this.onRemoved = onRemoved;
  }

  /** Creates the indexes. Safe to call again. */
  async ready(): Promise<void> {
    for (const keys of INDEXES) await this.entries.ensureIndex(keys);
    await this.entries.ensureIndex({ expiresAt: 1 }, { expireAfterSeconds: 0 });
  }

  async insert(entry: AuditEntry): Promise<void> {
    await this.entries.insert({
      ...entry,
      words: wordsOf(entry),
      ...(Number.isFinite(this.retentionMs) ? { expiresAt: new Date(entry.at + this.retentionMs) } : {}),
    });
    const removed = await this.bound.add(1);
    if (removed > 0) this.onRemoved?.(removed);
  }

  async end(id: string, { outcome, error, subjectId }: AuditEnd): Promise<void> {
    const $set = omitUndefined({ outcome, error, 'subject.id': subjectId });
    const words = subjectId === undefined ? {} : { $addToSet: { words: subjectId.toLowerCase() } };
    await this.entries.update({ _id: id, outcome: 'begun' }, { $set, ...words });
  }

  async page(filter: AuditFilter, { order, limit, after, count = true }: AuditPageRequest): Promise<AuditPage> {
    const selector = auditSelector(filter);
    const [total, { rows, next }] = await Promise.all([
      count ? this.entries.count(selector) : undefined,
      findPage(this.entries, selector, {
        sort: 'at',
        order,
        limit,
        fields: AUDIT_FIELDS,
        after,
      }),
    ]);
    return omitUndefined({ entries: rows, total, next });
  }

  /**
   * Removes what identifies the user from the entries of their acts, and of the acts of others on what is theirs. The
   * acts stay, under a pseudonym that is the same for each of them. Safe to repeat.
   * @returns the number of changed entries
   */
  async pseudonymize(userId: string): Promise<number> {
    const ofUser: Selector = { $or: [{ userId }, { 'subject.ownerId': userId }] };
    let changed = 0;
    for (;;) {
      const found = await this.entries.find(ofUser, { limit: BATCH_SIZE, fields: AUDIT_FIELDS });
      if (found.length === 0) return changed;
      const key = await this.pseudonymKey();
      for (const entry of found) {
        const {
          expiresAt: _expiresAt,
          words,
          ...anonymous
        } = withoutUser(entry, userId, (text) => pseudonymOf(key, text));
        await this.entries.update(
          { _id: entry._id },
          {
            $set: { userId: anonymous.userId, subject: anonymous.subject, words },
            $unset: { details: true, ...(entry.userId === userId ? { address: true, userAgent: true } : {}) },
          },
        );
        changed += 1;
      }
    }
  }

  /** Created once for all processes. */
  private async pseudonymKey(): Promise<Buffer> {
    const stored = await this.keys.findOne({ _id: KEY_ID });
    if (stored !== undefined) return Buffer.from(stored.key, 'base64');
    // Another process may be faster.
    await insertNew(this.keys, { _id: KEY_ID, key: randomBytes(32).toString('base64') });
    return this.pseudonymKey();
  }
}

function withoutUser(entry: AuditEntry, deletedId: string, pseudonym: (text: string) => string): AuditDocument {
  const { userId, subject } = entry;
  const { details: _details, ...kept } = entry;
  const isOwned = subject.ownerId === deletedId;
  const anonymous: AuditEntry = {
    ...kept,
    userId: userId === deletedId ? pseudonym(deletedId) : userId,
    subject: isOwned
      ? omitUndefined({
          kind: subject.kind,
          id: subject.id === undefined ? undefined : pseudonym(subject.id),
          ownerId: pseudonym(deletedId),
        })
      : subject,
  };
  const { address: _address, ...withoutAddress } = anonymous;
  return { ...anonymous, words: wordsOf(userId === deletedId ? withoutAddress : anonymous) };
}

/** The same text always has the same one, and nobody without the key can tell which text it is of. */
function pseudonymOf(key: Buffer, text: string): string {
  return `deleted-${createHmac('sha256', key).update(text).digest('hex').slice(0, 16)}`;
}

function auditSelector(filter: AuditFilter): Selector {
  const {
    userId,
    tokenId,
    actions,
    kind,
    subjectId,
    via,
    outcomes,
    search = '',
    searchedUsers = [],
    from,
    to,
  } = filter;
  const named = Object.entries({ userId, tokenId, via, 'subject.kind': kind, 'subject.id': subjectId });
  const conditions: readonly Selector[] = [
    ...named.flatMap(([field, value]) => (value === undefined ? [] : [{ [field]: value }])),
    ...oneOf('action', actions),
    ...oneOf('outcome', outcomes),
    ...(from === undefined && to === undefined ? [] : [{ at: omitUndefined({ $gte: from, $lte: to }) }]),
    foundBy(search, searchedUsers),
  ].filter((condition) => Object.keys(condition).length > 0);
  return conditions.length <= 1 ? (conditions[0] ?? {}) : { $and: conditions };
}

function foundBy(search: string, userIds: readonly string[]): Selector {
  const byWords = searchSelector(search, ['words']);
  if (userIds.length === 0) return byWords;
  return { $or: [byWords, { userId: { $in: userIds } }, { 'subject.id': { $in: userIds } }] };
}

function oneOf(field: string, values: readonly string[] | undefined): readonly Selector[] {
  if (values === undefined) return [];
  return [{ [field]: values.length === 1 ? values[0] : { $in: values } }];
}

/** Ids are found by their beginning, names also by each of their words. Owners are not for everyone to find. */
function wordsOf({ userId, tokenId, action, subject, details = {}, address }: AuditEntry): readonly string[] {
  const ids = [tokenId, subject.id, address].filter((id) => id !== undefined).map((id) => id.toLowerCase());
  const texts = Object.values(details).filter((value) => typeof value === 'string');
  return [...new Set([...ids, ...searchWords([userId, action, subject.id, ...texts])])];
}
