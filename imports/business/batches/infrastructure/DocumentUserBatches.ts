/** Batches of users in document collections, which all processes share: each with a document for each request. */
import type { UserBatch, UserBatchRequest, UserBatchResult, UserBatchState } from '../domain/UserBatch';
import { invalid } from '../../ai/domain/util/arguments';
import { omitUndefined } from '../../ai/domain/util/omitUndefined';
import type { DocumentCollection, Selector, StoredDocument } from '../../../database/DocumentCollection';
import type { LeasedBatch, UserBatchPage, UserBatchStore } from '../domain/UserBatchStore';
import type { DocumentDatabase } from '../../../database/DocumentDatabase';
import { hashedId } from '../../../database/hashedId';
import { insertNew } from '../../../database/insertNew';

export const USER_BATCHES = 'ai_user_batches';
export const BATCH_REQUESTS = 'ai_batch_requests';

interface BatchDocument extends StoredDocument {
  readonly id: string;
  readonly userId: string;
  readonly batchId: string;
  readonly providerId: string;
  /** JSON. */
  readonly origin: string;
  readonly state: UserBatchState;
  readonly total: number;
  readonly succeeded: number;
  readonly failed: number;
  readonly createdAt: number;
  readonly endedAt?: number;
  /** JSON. */
  readonly error?: string;
  /** Until the end. */
  readonly owner?: string;
  readonly expiresAt: Date;
}

interface RequestDocument extends StoredDocument {
  /** The batch's `id`. */
  readonly batch: string;
  readonly userId: string;
  readonly index: number;
  /** JSON. */
  readonly request: string;
  readonly result?: string;
  readonly expiresAt: Date;
}

/** 30 days, for as long as vendors keep results. */
const LIFETIME_MS = 30 * 24 * 3_600_000;
const UNENDED: readonly UserBatchState[] = ['running', 'cancelling'];

/** Creates the store and its indexes. */
export async function openUserBatches(database: Pick<DocumentDatabase, 'collection'>): Promise<UserBatchStore> {
  const batches = database.collection<BatchDocument>(USER_BATCHES);
  const requests = database.collection<RequestDocument>(BATCH_REQUESTS);
  await batches.ensureIndex({ userId: 1, createdAt: -1, _id: -1 });
  await batches.ensureIndex({ owner: 1 }, { sparse: true });
  await batches.ensureIndex({ expiresAt: 1 }, { expireAfterSeconds: 0 });
  await requests.ensureIndex({ batch: 1, index: 1 });
  await requests.ensureIndex({ userId: 1 });
  await requests.ensureIndex({ expiresAt: 1 }, { expireAfterSeconds: 0 });
  return new DocumentUserBatches(batches, requests);
}

class DocumentUserBatches implements UserBatchStore {
  private readonly batches: DocumentCollection<BatchDocument>;
  private readonly items: DocumentCollection<RequestDocument>;

  constructor(batches: DocumentCollection<BatchDocument>, items: DocumentCollection<RequestDocument>) {
    this.batches = batches;
    this.items = items;
  }

  /** The requests come first: no process finds a batch without them. */
  async insert(batch: UserBatch, requests: readonly UserBatchRequest[], owner: string): Promise<boolean> {
    const { id, userId, origin, counts, error: _, ...fields } = batch;
    const expiresAt = new Date(batch.createdAt + LIFETIME_MS);
    await this.items.insertMany(
      requests.map((request, index) => ({
        _id: `${id}:${index}`,
        ...{ batch: id, userId, index, expiresAt },
        request: JSON.stringify(request),
      })),
    );
    const isNew = await insertNew(this.batches, {
      _id: keyOf(batch),
      ...fields,
      ...{ id, userId, owner, expiresAt },
      origin: JSON.stringify(origin),
      ...counts,
    });
    if (!isNew) await this.items.remove({ batch: id, userId });
    return isNew;
  }

  async find(userId: string, batchId: string): Promise<UserBatch | undefined> {
    const found = await this.batches.findOne({ _id: keyOf({ userId, batchId }) });
    return found === undefined ? undefined : toBatch(found);
  }

  async list(
    userId: string,
    { limit, after }: { readonly limit: number; readonly after?: string | undefined },
  ): Promise<UserBatchPage> {
    const found = await this.batches.find(
      { userId, ...(after === undefined ? {} : olderThan(after)) },
      { sort: { createdAt: -1, _id: -1 }, limit: limit + 1 },
    );
    const shown = found.slice(0, limit);
    const batches = shown.map(toBatch);
    const last = shown.at(-1);
    return found.length > limit && last !== undefined
      ? { batches, next: `${last.createdAt}:${last._id}` }
      : { batches };
  }

  async requests({ id, userId }: UserBatch): Promise<readonly UserBatchRequest[]> {
    const found = await this.items.find({ batch: id, userId }, { sort: { index: 1 } });
    // Boundary: this store has written it.
    return found.map(({ request }) => JSON.parse(request) as UserBatchRequest);
  }

  async results(
    { id, userId }: UserBatch,
    from: number,
    limit: number,
  ): Promise<readonly (UserBatchResult | undefined)[]> {
    const found = await this.items.find(
      { batch: id, userId, index: { $gte: from, $lt: from + limit } },
      { sort: { index: 1 } },
    );
    return found.map(({ result }) => (result === undefined ? undefined : (JSON.parse(result) as UserBatchResult)));
  }

  async requestCancellation(userId: string, batchId: string): Promise<void> {
    const _id = keyOf({ userId, batchId });
    await this.batches.update({ _id, userId, state: 'running' }, { $set: { state: 'cancelling' } });
  }

  async isOwner(batch: UserBatch, owner: string): Promise<boolean> {
    return (await this.batches.findOne({ _id: keyOf(batch), id: batch.id, owner })) !== undefined;
  }

  async end(
    batch: UserBatch,
    owner: string,
    { state, counts, error }: Pick<UserBatch, 'state' | 'counts' | 'error'>,
    results: readonly UserBatchResult[],
  ): Promise<void> {
    if (!(await this.isOwner(batch, owner))) return;
    const { id, userId } = batch;
    for (const [index, result] of results.entries())
      await this.items.update({ _id: `${id}:${index}`, userId }, { $set: { result: JSON.stringify(result) } });
    await this.batches.update(
      { _id: keyOf(batch), userId, owner, state: { $in: UNENDED } },
      {
        $set: omitUndefined({ state, ...counts, endedAt: Date.now(), error: error && JSON.stringify(error) }),
        $unset: { owner: true },
      },
    );
  }

  async leased(limit: number, except: readonly string[] = []): Promise<readonly LeasedBatch[]> {
    const found = await this.batches.find(
      { owner: { $exists: true, $nin: except } },
      { sort: { createdAt: 1 }, limit },
    );
    return found.map((document) => ({ batch: toBatch(document), owner: document.owner ?? '' }));
  }

  async claim(batch: UserBatch, from: string, to: string): Promise<boolean> {
    const { userId } = batch;
    return (await this.batches.update({ _id: keyOf(batch), userId, owner: from }, { $set: { owner: to } })) === 1;
  }
}

/** @throws LLMInvalidRequestError */
function olderThan(after: string): Selector {
  const [, time, _id] = /^(\d{1,16}):([\w-]+)$/.exec(after) ?? [];
  if (time === undefined || _id === undefined) throw invalid('after', 'must be the "next" of a page');
  const createdAt = Number(time);
  return { $or: [{ createdAt: { $lt: createdAt } }, { createdAt, _id: { $lt: _id } }] };
}

function toBatch(document: BatchDocument): UserBatch {
  const { id, userId, batchId, providerId, origin, state, createdAt, endedAt, error } = document;
  const { total, succeeded, failed } = document;
  return omitUndefined({
    ...{ id, userId, batchId, providerId, state, createdAt },
    // Boundary: this store has written both.
    origin: JSON.parse(origin) as UserBatch['origin'],
    counts: { total, succeeded, failed },
    endedAt,
    error: error === undefined ? undefined : (JSON.parse(error) as NonNullable<UserBatch['error']>),
  });
}

function keyOf({ userId, batchId }: Pick<UserBatch, 'userId' | 'batchId'>): string {
  return hashedId(userId, batchId);
}
