/** The streams of background responses in a document collection, which all processes share. */
import { createHash } from 'node:crypto';
import { isLLMError } from '../../../domain/errors/LLMErrors';
import type { DocumentCollection, StoredDocument } from '../../../domain/interfaces/DocumentCollection';
import type { BackgroundRecord, ResponseEventStore, ResponseKey } from '../../../domain/interfaces/ResponseEventStore';
import type { DocumentDatabase } from '../databases/DocumentDatabase';

/** The record of a response, or some of its frames. */
export interface ResponseEventDocument extends StoredDocument {
  readonly userId: string;
  /** The `_id` of the record. */
  readonly recordId: string;
  readonly storedAt: Date;
  /** Of records. */
  readonly isStream?: boolean;
  readonly aliveAt?: Date;
  readonly isCancelled?: boolean;
  /** Of frames: the number of the last one. */
  readonly last?: number;
  /** JSON of the frames in order. */
  readonly frames?: string;
}

export const RESPONSE_EVENTS = 'ai_response_events';

/** 24 hours. */
const TTL_SECONDS = 24 * 3_600;

/** Creates the store and its indexes. */
export async function openResponseEvents(database: Pick<DocumentDatabase, 'collection'>): Promise<ResponseEventStore> {
  const events = database.collection<ResponseEventDocument>(RESPONSE_EVENTS);
  await events.ensureIndex({ storedAt: 1 }, { expireAfterSeconds: TTL_SECONDS });
  await events.ensureIndex({ userId: 1 });
  await events.ensureIndex({ recordId: 1, last: 1 });
  return new DocumentResponseEvents(events);
}

export class DocumentResponseEvents implements ResponseEventStore {
  private readonly events: DocumentCollection<ResponseEventDocument>;

  constructor(events: DocumentCollection<ResponseEventDocument>) {
    this.events = events;
  }

  async open(key: ResponseKey, isStream: boolean): Promise<void> {
    const _id = recordIdOf(key);
    const now = new Date();
    await this.events.insert({ _id, recordId: _id, userId: key.userId, isStream, aliveAt: now, storedAt: now });
  }

  async find(key: ResponseKey): Promise<BackgroundRecord | undefined> {
    const found = await this.events.findOne({ _id: recordIdOf(key) });
    // Databases remove expired documents with a delay.
    if (found === undefined || Date.now() - found.storedAt.getTime() >= TTL_SECONDS * 1_000) return undefined;
    return { isStream: found.isStream === true, aliveAt: found.aliveAt?.getTime() ?? 0 };
  }

  async append(key: ResponseKey, first: number, frames: readonly string[]): Promise<boolean> {
    const recordId = recordIdOf(key);
    const now = new Date();
    const _id = `${recordId}/${first}`;
    try {
      await this.events.insert({
        _id,
        recordId,
        userId: key.userId,
        last: first + frames.length - 1,
        frames: JSON.stringify(frames),
        storedAt: now,
      });
    } catch (error) {
      if (isLLMError(error) && error.code === 'conflict') return false;
      throw error;
    }
    // Checked after the insertion, so that a removal meanwhile leaves nothing behind.
    if ((await this.events.update({ _id: recordId }, { $set: { aliveAt: now } })) === 1) return true;
    await this.events.remove({ _id });
    return false;
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
    await this.events.update({ _id: ids }, { $set: { aliveAt: new Date() } }, { multi: true });
    const found = await this.events.find({ _id: ids }, { fields: { _id: 1, isCancelled: 1 } });
    const continuing = new Set(found.flatMap(({ _id, isCancelled }) => (isCancelled === true ? [] : [_id])));
    return keys.filter((key) => !continuing.has(recordIdOf(key)));
  }

  async cancel(key: ResponseKey): Promise<void> {
    await this.events.update({ _id: recordIdOf(key) }, { $set: { isCancelled: true } });
  }

  async remove(key: ResponseKey): Promise<void> {
    await this.events.remove({ recordId: recordIdOf(key) });
  }
}

/** Hashed, since ids come from clients and may have any length. */
function recordIdOf({ userId, id }: ResponseKey): string {
  return createHash('sha256')
    .update(JSON.stringify([userId, id]))
    .digest('base64url');
}
