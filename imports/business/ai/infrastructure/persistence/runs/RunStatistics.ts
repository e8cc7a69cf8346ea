/**
 * `ai_stats`: how many runs are in each state, by user, provider and day. Updated when a run changes state, so that
 * runs are never scanned.
 */
import type { RunState } from '../../../domain/entities/Run';
import type { DocumentCollection, StoredDocument } from '../../../../../database/DocumentCollection';
import { insertNew } from '../../../../../database/insertNew';
import type { RunCountReader, RunFilter } from '../../../domain/interfaces/RunViewReader';
import { omitUndefined } from '../../../domain/util/omitUndefined';
import type { RunCountView } from '../../../domain/types/RunViews';

export interface RunCountDocument extends RunCountView, StoredDocument {
  readonly _id: string;
  /** The start of the day, for expiry. */
  readonly date: Date;
}

export const STATS_COLLECTION = 'ai_stats';

/** The published fields. */
export const COUNT_FIELDS = { _id: 1, userId: 1, day: 1, providerId: 1, state: 1, count: 1 } as const satisfies Record<
  keyof RunCountView,
  1
>;

const TTL_SECONDS = 90 * 24 * 60 * 60;

export interface CountedRun {
  readonly userId: string;
  readonly providerId: string;
  /** Milliseconds since the epoch. The run counts under this day throughout its life. */
  readonly createdAt: number;
}

export class RunStatistics implements RunCountReader {
  private readonly collection: DocumentCollection<RunCountDocument>;

  constructor(collection: DocumentCollection<RunCountDocument>) {
    this.collection = collection;
  }

  /** Safe to call again. */
  async ready(): Promise<void> {
    await this.collection.ensureIndex({ date: 1 }, { expireAfterSeconds: TTL_SECONDS });
    await this.collection.ensureIndex({ day: -1 });
    await this.collection.ensureIndex({ userId: 1, day: -1 });
  }

  /** @param from undefined for a new run */
  async move(run: CountedRun, from: RunState | undefined, to: RunState): Promise<void> {
    if (from === to) return;
    if (from !== undefined) await this.add(run, from, -1);
    await this.add(run, to, 1);
  }

  /** Takes back the counts of a run that was removed, with its user's counts, while it was being counted. */
  async discard(run: CountedRun, states: readonly RunState[]): Promise<void> {
    const ids = states.map((state) => idOf(run, state));
    await this.collection.remove({ _id: { $in: ids }, count: { $lte: 1 } });
  }

  counts({ userId }: Pick<RunFilter, 'userId'>, limit: number): Promise<readonly RunCountView[]> {
    return this.collection.find(omitUndefined({ count: { $gt: 0 }, userId }), {
      sort: { day: -1, _id: 1 },
      limit,
      fields: COUNT_FIELDS,
    });
  }

  private async add({ userId, providerId, createdAt }: CountedRun, state: RunState, by: 1 | -1): Promise<void> {
    const day = dayOf(createdAt);
    const _id = idOf({ userId, providerId, createdAt }, state);
    const count = (): Promise<number> => this.collection.update({ _id }, { $inc: { count: by } });
    if ((await count()) === 1) return;
    const first = { _id, userId, day, providerId, state, count: by, date: new Date(`${day}T00:00:00Z`) };
    // If not, another process has inserted it in the meantime.
    if (!(await insertNew(this.collection, first))) await count();
  }
}

function idOf({ userId, providerId, createdAt }: CountedRun, state: RunState): string {
  return [dayOf(createdAt), userId, providerId, state].map(encodeURIComponent).join('/');
}

function dayOf(milliseconds: number): string {
  return new Date(milliseconds).toISOString().slice(0, 10);
}
