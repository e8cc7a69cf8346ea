/**
 * The streams of background responses in a document collection, which all processes share. Bounded in bytes and age.
 */
import type { DocumentCollection, StoredDocument } from '../../../../../database/DocumentCollection';
import type {
  BackgroundRecord,
  LeasedResponse,
  ResponseEventStore,
  ResponseKey,
} from '../../../domain/interfaces/ResponseEventStore';
import { omitUndefined } from '../../../domain/util/omitUndefined';
import { documentBytes, MAX_DOCUMENT_BYTES } from '../../../../../database/bounds/documentBytes';
import { DATABASE_BOUNDS } from '../../../../../database/bounds/StorageBounds';
import type { StorageBounds } from '../../../../../database/bounds/StorageBounds';
import { StoredBytes } from '../../../../../database/bounds/StoredBytes';
import type { DocumentDatabase } from '../../../../../database/DocumentDatabase';
import { hashedId } from '../../../../../database/hashedId';
import { insertNew } from '../../../../../database/insertNew';

/** The record of a response, or some of its frames. */
export interface ResponseEventDocument extends StoredDocument {
  readonly userId: string;
  /** The `_id` of the record. */
  readonly recordId: string;
  readonly storedAt: Date;
  /** Whether the response is a stream. Only records have this field and those up to `bytes`. */
  readonly isStream?: boolean;
  readonly aliveAt?: Date;
  readonly isCancelled?: boolean;
  readonly responseId?: string;
  /** Until the response has ended. */
  readonly owner?: string;
  /** Until the response has ended. */
  readonly request?: string;
  readonly requestBytes?: number;
  readonly claims?: number;
  /** With all its frames. Undefined in documents of earlier versions. */
  readonly bytes?: number;
  /** The number of the last frame. Records have no frames. */
  readonly last?: number;
  /** JSON of the frames in order. */
  readonly frames?: string;
}

export const RESPONSE_EVENTS = 'ai_response_events';

/** The most bytes of one record with its frames. Further frames are not stored. */
const MAX_RECORD_BYTES = 32 * 1_024 ** 2;
/** The most records of one user. */
const MAX_RECORDS = 2_000;
/** Milliseconds without a sign of life after which a response has ended, so that its record may go. */
const ENDED_AFTER_MS = 60_000;
/** 24 hours. */
const TTL_SECONDS = 24 * 3_600;

/** Creates the store and its indexes. */
export async function openResponseEvents(
  database: Pick<DocumentDatabase, 'collection'>,
  options?: DocumentResponseEventsOptions,
): Promise<ResponseEventStore> {
  const events = database.collection<ResponseEventDocument>(RESPONSE_EVENTS);
  await events.ensureIndex({ storedAt: 1 }, { expireAfterSeconds: TTL_SECONDS });
  await events.ensureIndex({ userId: 1 });
  await events.ensureIndex({ recordId: 1, last: 1 });
  await events.ensureIndex({ owner: 1 }, { sparse: true });
  const store = new DocumentResponseEvents(events, options);
  await store.ready();
  return store;
}

export interface DocumentResponseEventsOptions {
  /** Default: 200 MB per user, 20,000 MB in total. */
  readonly bounds?: StorageBounds;
  /** Milliseconds since the epoch. */
  readonly now?: () => number;
}

export class DocumentResponseEvents implements ResponseEventStore {
  private readonly events: DocumentCollection<ResponseEventDocument>;

  private readonly bytes: StoredBytes<ResponseEventDocument>;
  private readonly maxBytes: number;
  /** The most bytes that the frames in one document may take. */
  private readonly maxFrameBytes: number;
  private readonly now: () => number;

  constructor(
    events: DocumentCollection<ResponseEventDocument>,
    { bounds = DATABASE_BOUNDS, now = Date.now }: DocumentResponseEventsOptions = {},
  ) {
    this.events = events;
    this.now = now;
    this.maxFrameBytes = bounds.perDocument ?? MAX_DOCUMENT_BYTES;
    this.maxBytes = Math.min(MAX_RECORD_BYTES, bounds.perUser, bounds.total);
    this.bytes = new StoredBytes(events, bounds, {
      order: 'storedAt',
      maxDocuments: MAX_RECORDS,
      where: { bytes: { $exists: true } },
      remove: (ids) => this.removeEnded(ids),
    });
  }

  /** Creates the index that the bounds need. Safe to call again. */
  async ready(): Promise<void> {
    await this.bytes.ready();
  }

  async open(
    key: ResponseKey,
    isStream: boolean,
    work?: { readonly owner: string; readonly request: string },
  ): Promise<void> {
    const _id = recordIdOf(key);
    const now = new Date(this.now());
    const { userId, id: responseId } = key;
    const needed = documentBytes([work?.request ?? '']);
    const isStored = work !== undefined && needed <= Math.min(this.maxFrameBytes, this.maxBytes / 2);
    const requestBytes = isStored ? needed : 0;
    await this.events.insert({
      _id,
      recordId: _id,
      userId,
      isStream,
      bytes: requestBytes,
      aliveAt: now,
      storedAt: now,
      ...(work === undefined ? {} : { responseId, owner: work.owner, requestBytes }),
      ...(isStored ? { request: work.request } : {}),
    });
    await this.bytes.add(userId, _id, requestBytes);
  }

  async find(key: ResponseKey): Promise<BackgroundRecord | undefined> {
    const fields = { _id: 1, isStream: 1, aliveAt: 1, storedAt: 1, owner: 1 } as const;
    const found = await this.events.findOne({ _id: recordIdOf(key) }, { fields });
    // Databases remove expired documents with a delay.
    if (found === undefined || this.now() - found.storedAt.getTime() >= TTL_SECONDS * 1_000) return undefined;
    const { isStream = false, aliveAt, owner } = found;
    return omitUndefined({ isStream, aliveAt: aliveAt?.getTime() ?? 0, owner });
  }

  async append(key: ResponseKey, first: number, frames: readonly string[], owner?: string): Promise<boolean> {
    const recordId = recordIdOf(key);
    const now = new Date(this.now());
    const _id = `${recordId}/${first}`;
    const text = JSON.stringify(frames);
    const bytes = documentBytes([text]);
    if (bytes > this.maxFrameBytes) return false;
    const last = first + frames.length - 1;
    const added = { _id, recordId, userId: key.userId, last, frames: text, storedAt: now };
    if (!(await insertNew(this.events, added))) return false;
    // Checked after the insertion, so that a removal meanwhile leaves nothing behind.
    const record = omitUndefined({ _id: recordId, bytes: { $lte: this.maxBytes - bytes }, owner });
    if ((await this.events.update(record, { $set: { aliveAt: now }, $inc: { bytes } })) === 0) {
      await this.events.remove({ _id });
      return false;
    }
    await this.bytes.add(key.userId, recordId, bytes);
    return true;
  }

  async read(key: ResponseKey, after: number): Promise<readonly string[]> {
    const found = await this.events.find({ recordId: recordIdOf(key), last: { $gt: after } }, { sort: { last: 1 } });
    const frames: string[] = [];
    for (const { last = 0, frames: stored = '[]' } of found) {
      // This store wrote the field.
      const batch = JSON.parse(stored) as string[];
      const first = last - batch.length + 1;
      frames.push(...batch.slice(Math.max(0, after + 1 - first)));
    }
    return frames;
  }

  async confirm(keys: readonly ResponseKey[]): Promise<readonly ResponseKey[]> {
    const ids = { $in: keys.map(recordIdOf) };
    await this.events.update({ _id: ids }, { $set: { aliveAt: new Date(this.now()) } }, { multi: true });
    const found = await this.events.find({ _id: ids }, { fields: { _id: 1, isCancelled: 1 } });
    const continuing = new Set(found.flatMap(({ _id, isCancelled }) => (isCancelled === true ? [] : [_id])));
    return keys.filter((key) => !continuing.has(recordIdOf(key)));
  }

  async cancel(key: ResponseKey): Promise<void> {
    await this.events.update({ _id: recordIdOf(key) }, { $set: { isCancelled: true } });
  }

  private async removeEnded(ids: readonly string[]): Promise<void> {
    const aliveAt = { $lt: new Date(this.now() - ENDED_AFTER_MS) };
    const ended = await this.events.find({ _id: { $in: ids }, aliveAt }, { fields: { _id: 1 } });
    if (ended.length > 0) await this.events.remove({ recordId: { $in: ended.map(({ _id }) => _id) } });
  }

  async remove(key: ResponseKey): Promise<void> {
    await this.events.remove({ recordId: recordIdOf(key) });
  }

  async leased(limit: number, except: readonly string[] = []): Promise<readonly LeasedResponse[]> {
    const found = await this.events.find({ owner: { $exists: true, $nin: except } }, { sort: { storedAt: 1 }, limit });
    return found.map(({ userId, responseId: id = '', owner = '', request, isCancelled = false, claims = 0 }) =>
      omitUndefined({
        key: { userId, id },
        owner,
        isCancelled,
        claims,
        request,
      }),
    );
  }

  async claim(key: ResponseKey, from: string, to: string): Promise<boolean> {
    const change = { $set: { owner: to, aliveAt: new Date(this.now()) }, $inc: { claims: 1 } };
    return (await this.events.update({ _id: recordIdOf(key), owner: from }, change)) === 1;
  }

  async release(key: ResponseKey, owner: string): Promise<void> {
    const _id = recordIdOf(key);
    const record = await this.events.findOne({ _id }, { fields: { _id: 1, requestBytes: 1 } });
    await this.events.update(
      { _id, owner },
      {
        $inc: { bytes: -(record?.requestBytes ?? 0) },
        $unset: { owner: true, request: true, requestBytes: true },
      },
    );
  }
}

function recordIdOf({ userId, id }: ResponseKey): string {
  return hashedId(userId, id);
}
