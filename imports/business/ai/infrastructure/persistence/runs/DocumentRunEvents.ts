/** Events of runs that other processes show, in a document collection, which all processes share. */
import { LRUCache } from 'lru-cache';
import { growingCapacity } from '../../../domain/util/growingCapacity';
import { createHash } from 'node:crypto';
import type { DocumentCollection, Selector, StoredDocument } from '../../../../../database/DocumentCollection';
import { MAX_SEGMENTS, PUBLISHED_MS, WATCH_MS } from '../../../domain/interfaces/RunEventStore';
import type {
  EventSegment,
  OriginEvent,
  ReadPosition,
  RunEventStore,
  WatchedBy,
  WatchedUsers,
} from '../../../domain/interfaces/RunEventStore';
import { omitUndefined } from '../../../domain/util/omitUndefined';
import type { DocumentDatabase } from '../../../../../database/DocumentDatabase';

export const RUN_EVENTS = 'ai_run_events';
export const RUN_EVENT_WATCHERS = 'ai_run_event_watchers';

export interface RunEventsDocument extends StoredDocument {
  readonly origin: string;
  readonly batch: number;
  readonly userId: string;
  readonly after: number;
  readonly upTo: number;
  /** JSON of `OriginEvent[]`. */
  readonly events: string;
  readonly hasGap?: true;
  readonly createdAt: Date;
}

export interface WatcherDocument extends StoredDocument {
  /** Hashes of their ids, since nothing else of the document is of a user. Absent: the runs of everyone are watched. */
  readonly users?: readonly string[];
  readonly expiresAt: Date;
}

/** Creates the indexes, too. */
export async function openRunEvents(
  database: Pick<DocumentDatabase, 'collection' | 'onChange'>,
): Promise<RunEventStore> {
  const events = database.collection<RunEventsDocument>(RUN_EVENTS);
  const watchers = database.collection<WatcherDocument>(RUN_EVENT_WATCHERS);
  await events.ensureIndex({ createdAt: 1 }, { expireAfterSeconds: PUBLISHED_MS / 1_000 });
  await events.ensureIndex({ origin: 1, batch: 1 });
  await watchers.ensureIndex({ expiresAt: 1 }, { expireAfterSeconds: 0 });
  return new DocumentRunEvents(database, { events, watchers });
}

const MAX_HASHES = 10_000;

interface Collections {
  readonly events: DocumentCollection<RunEventsDocument>;
  readonly watchers: DocumentCollection<WatcherDocument>;
}

class DocumentRunEvents implements RunEventStore {
  private readonly database: Pick<DocumentDatabase, 'onChange'>;
  private readonly stored: Collections;
  /** By user. */
  private readonly hashes = new LRUCache<string, string>(growingCapacity(MAX_HASHES));

  constructor(database: Pick<DocumentDatabase, 'onChange'>, stored: Collections) {
    this.database = database;
    this.stored = stored;
  }

  async publish(segments: readonly EventSegment[]): Promise<void> {
    const createdAt = new Date();
    // An attempt that seemed to fail may have succeeded, so segments have the ids that they had.
    await this.stored.events.upsertMany(
      segments.map(({ events, ...segment }) => ({
        _id: `${segment.origin}:${segment.batch}:${segment.userId}`,
        selector: {},
        modifier: { $set: { ...segment, events: JSON.stringify(events), createdAt } },
      })),
    );
  }

  async read(
    users: WatchedUsers,
    self: string,
    after: ReadonlyMap<string, ReadPosition>,
  ): Promise<readonly EventSegment[]> {
    const origins = [...after].flatMap(([origin, { batch, users: read }]): Selector[] => [
      { origin, batch: { $gt: batch } },
      { origin, batch, userId: { $nin: [...read] } },
    ]);
    const found = await this.stored.events.find(
      {
        ...(users === 'all' ? {} : { userId: { $in: [...users] } }),
        $or: [...origins, { origin: { $nin: [self, ...after.keys()] } }],
      },
      { sort: { origin: 1, batch: 1 }, limit: MAX_SEGMENTS },
    );
    return found.map(({ origin, batch, userId, after, upTo, events, hasGap }) => ({
      origin,
      batch,
      userId,
      after,
      upTo,
      // This store wrote the field.
      events: JSON.parse(events) as readonly OriginEvent[],
      ...omitUndefined({ hasGap }),
    }));
  }

  async watch(origin: string, users: WatchedUsers): Promise<void> {
    const expiresAt = new Date(Date.now() + WATCH_MS);
    await this.stored.watchers.upsertMany([
      {
        _id: origin,
        selector: {},
        modifier:
          users === 'all'
            ? { $set: { expiresAt }, $unset: { users: true } }
            : { $set: { expiresAt, users: [...users].map((userId) => this.hashOf(userId)) } },
      },
    ]);
  }

  async watched(self: string): Promise<WatchedBy> {
    const found = await this.stored.watchers.find({ expiresAt: { $gt: new Date() } });
    const others = found.filter(({ _id }) => _id !== self);
    if (others.some(({ users }) => users === undefined)) return 'all';
    const hashes = new Set(others.flatMap(({ users }) => users ?? []));
    return { has: (userId) => hashes.size > 0 && hashes.has(this.hashOf(userId)) };
  }

  async onChange(callback: (change: 'published' | 'watched') => void): Promise<(() => void) | undefined> {
    return this.database.onChange?.([RUN_EVENTS, RUN_EVENT_WATCHERS], (name) =>
      callback(name === RUN_EVENTS ? 'published' : 'watched'),
    );
  }

  private hashOf(userId: string): string {
    const known = this.hashes.get(userId);
    if (known !== undefined) return known;
    const hash = createHash('sha256').update(userId).digest('base64url');
    this.hashes.set(userId, hash);
    return hash;
  }
}
