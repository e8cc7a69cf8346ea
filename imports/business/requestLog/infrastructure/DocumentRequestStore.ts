/** The request log in document collections: entries, and their bodies apart, since these expire sooner. */
import { LRUCache } from 'lru-cache';
import { growingCapacity } from '../../ai/domain/util/growingCapacity';
import { bucketOf } from '../../ai/domain/entities/latencyBuckets';
import { omitUndefined } from '../../ai/domain/util/omitUndefined';
import type { DocumentCollection, StoredDocument } from '../../../database/DocumentCollection';
import type { LoggedCall, RequestStore } from '../domain/RequestLog';
import type {
  RequestBodies,
  RequestBodiesView,
  RequestEntry,
  RequestView,
  VendorExchange,
  VendorExchangeView,
} from '../../ai/domain/types/RequestRecords';
import { documentBytes } from '../../../database/bounds/documentBytes';
import { EntryBound } from '../../../database/bounds/EntryBound';
import { DATABASE_BOUNDS } from '../../../database/bounds/StorageBounds';
import type { StorageBounds } from '../../../database/bounds/StorageBounds';
import { StoredBytes } from '../../../database/bounds/StoredBytes';
import type { DocumentDatabase } from '../../../database/DocumentDatabase';
import { searchWords } from '../../../database/searchWords';
import { timeOrderedUuid } from '../../../database/timeOrderedUuid';
import { loggedJson } from './loggedJson';

export const REQUESTS = 'ai_requests';
export const REQUEST_BODIES = 'ai_request_bodies';

export interface RequestDocument extends RequestView {
  /** In lower case, for search by their beginnings. The id is not among them. */
  readonly words: readonly string[];
  readonly expiresAt: Date;
}

export interface RequestBodiesDocument extends RequestBodiesView, StoredDocument {
  readonly userId: string;
  /** Undefined in documents of earlier versions, which expire soon. */
  readonly bytes?: number;
  readonly expiresAt: Date;
}

export interface RequestLogBounds {
  /** The most entries. Default: no bound. */
  readonly maxEntries?: number;
  readonly bodies?: StorageBounds;
}

/** Milliseconds after which entries and bodies expire. */
export interface RequestRetention {
  readonly entries: number;
  readonly bodies: number;
}

const DAY_MS = 86_400_000;
const MAX_REMEMBERED = 1_000;
export const DEFAULT_REQUEST_RETENTION: RequestRetention = { entries: 30 * DAY_MS, bodies: 7 * DAY_MS };

/**
 * An entry is written far more often than it is looked for, so there is an index only for what picks few entries of
 * many. The first one has all that the other filters and orders read, so that they scan it, and no entries.
 */
const INDEXES: readonly Readonly<Record<string, 1 | -1>>[] = [
  {
    at: -1,
    _id: -1,
    state: 1,
    source: 1,
    api: 1,
    providerId: 1,
    model: 1,
    requestedModel: 1,
    tokenId: 1,
    team: 1,
    cost: 1,
    duration: 1,
    'usage.total_tokens': 1,
  },
  ...['userId', 'executionId', 'words'].map((field): Readonly<Record<string, 1 | -1>> => ({
    [field]: 1,
    at: -1,
    _id: -1,
  })),
];

export class DocumentRequestStore implements RequestStore {
  private readonly entries: DocumentCollection<RequestDocument>;
  private readonly bodies: DocumentCollection<RequestBodiesDocument>;
  private readonly sealsContent: boolean;
  private readonly retention: RequestRetention;
  private readonly count: EntryBound<RequestDocument>;
  private readonly bytes: StoredBytes<RequestBodiesDocument>;
  /** By names that entries have in common: most of them are of a few users and models. */
  private readonly wordsOfNames = new LRUCache<string, readonly string[]>(growingCapacity(MAX_REMEMBERED));

  constructor(
    database: Pick<DocumentDatabase, 'collection' | 'sealsContent'>,
    retention: Partial<RequestRetention> = {},
    { maxEntries = Infinity, bodies: bounds = DATABASE_BOUNDS }: RequestLogBounds = {},
  ) {
    this.sealsContent = database.sealsContent ?? false;
    this.entries = database.collection(REQUESTS);
    this.bodies = database.collection(REQUEST_BODIES);
    this.count = new EntryBound(this.entries, maxEntries, async (ids) => {
      await this.bodies.remove({ _id: { $in: ids } });
      await this.entries.remove({ _id: { $in: ids } });
    });
    this.bytes = new StoredBytes(this.bodies, bounds, {
      order: 'expiresAt',
      maxDocuments: Infinity,
      remove: (ids) => this.bodies.remove({ _id: { $in: ids } }),
    });
    this.retention = { ...DEFAULT_REQUEST_RETENTION, ...retention };
  }

  /** Creates the indexes. Safe to call again. */
  async ready(): Promise<void> {
    for (const keys of INDEXES) await this.entries.ensureIndex(keys);
    await this.bytes.ready();
    for (const collection of [this.entries, this.bodies])
      await collection.ensureIndex({ expiresAt: 1 }, { expireAfterSeconds: 0 });
  }

  async save(calls: readonly LoggedCall[]): Promise<void> {
    const rows = calls.map(({ entry, bodies }) => ({ document: this.toDocument(entry, bodies !== undefined), bodies }));
    const bodies = rows.flatMap((row) => (row.bodies === undefined ? [] : [this.toBodies(row.document, row.bodies)]));
    // Entries refer to their bodies, so these come first.
    if (bodies.length > 0) await this.bodies.insertMany(bodies);
    await this.entries.insertMany(rows.map(({ document }) => document));
    for (const { userId, _id, bytes } of bodies) await this.bytes.add(userId, _id, bytes);
    await this.count.add(rows.length);
  }

  private toDocument(entry: RequestEntry, hasBodies: boolean): RequestDocument {
    const { timeToFirstToken } = entry;
    const _id = timeOrderedUuid();
    return omitUndefined({
      _id,
      ...entry,
      durationBucket: bucketOf(entry.duration),
      timeToFirstTokenBucket: timeToFirstToken === undefined ? undefined : bucketOf(timeToFirstToken),
      hasBodies: hasBodies || undefined,
      words: this.wordsOf(entry),
      expiresAt: new Date(entry.at + this.retention.entries),
    });
  }

  /** Ids are found by their beginning, names and messages also by each of their words. */
  private wordsOf(entry: RequestEntry): readonly string[] {
    const { executionId, httpRequestId, vendorRequestId, responseId } = entry;
    const ids = [executionId, httpRequestId, vendorRequestId, responseId].filter((each) => each !== undefined);
    const { userId, tokenName, providerId, model, requestedModel, error } = entry;
    const names = [userId, tokenName, providerId, model, requestedModel];
    return [
      ...ids.map((each) => each.toLowerCase().slice(0, MAX_ID_LENGTH)),
      ...(error === undefined
        ? this.wordsOfAll(names)
        : distinctWords([...names, error.code, this.sealsContent ? undefined : error.message])),
    ];
  }

  private wordsOfAll(names: readonly (string | undefined)[]): readonly string[] {
    const key = JSON.stringify(names);
    const known = this.wordsOfNames.get(key) ?? distinctWords(names);
    this.wordsOfNames.set(key, known);
    return known;
  }

  private toBodies(
    { _id, at, userId }: RequestDocument,
    { request, response, exchanges }: RequestBodies,
  ): RequestBodiesDocument & { readonly bytes: number } {
    const logged = omitUndefined({
      request: loggedJson(request),
      response: response && loggedJson(response),
      exchanges: exchanges?.map(toExchangeView),
    });
    const texts = [logged, ...(logged.exchanges ?? [])].flatMap((one) => [one.request, one.response ?? '']);
    return {
      _id,
      userId,
      ...logged,
      bytes: documentBytes(texts),
      expiresAt: new Date(at + this.retention.bodies),
    };
  }
}

function toExchangeView({ providerId, wire, status, request, response }: VendorExchange): VendorExchangeView {
  return omitUndefined({
    providerId,
    wire,
    status,
    request: loggedJson(request),
    response: response === undefined ? undefined : loggedJson(response),
  });
}

/** Without words that another one begins with, since these would find nothing more. */
function distinctWords(texts: readonly (string | undefined)[]): readonly string[] {
  const words = searchWords(texts);
  return words.filter((word) => !words.some((other) => other !== word && other.startsWith(word)));
}

const MAX_ID_LENGTH = 128;
