/** What an operator watches of all runs that have not ended, whichever process executes them. */
import { UNOWNED } from '../../../domain/entities/Run';
import type { InboxReader } from '../../../domain/interfaces/InboxReader';
import type { InboxCounts } from '../../../domain/types/InboxViews';
import type { DocumentDatabase } from '../../../../../database/DocumentDatabase';
import { RUN_OWNERS, RUNS } from './runDocuments';
import type { OwnerDocument, RunDocument } from './runDocuments';

export interface RunHealthView {
  /** Runs that have not ended. */
  readonly states: Readonly<Record<'queued' | 'running' | 'waiting', number>>;
  /** What waits for people and other services, by its kind. */
  readonly waiting: InboxCounts;
  /** Processes that own runs, or may; 0 if no other process can use the database. */
  readonly owners: number;
  /** Runs whose process has not been heard of for the length of a lease, and that no other has taken over yet. */
  readonly overdue: number;
  /** Milliseconds for which the oldest run that could start has waited; 0 if none does. */
  readonly oldestQueuedMs: number;
}

/** Processes write a heartbeat per second, and lose their runs after 15 seconds without one. */
const LEASE_MS = 15_000;
/** Readings are reused for so long, however often metrics are collected. */
const FRESH_MS = 5_000;

export class RunHealth {
  private readonly database: Pick<DocumentDatabase, 'collection' | 'isExclusive'>;
  private readonly inbox: Pick<InboxReader, 'counts'>;
  private readonly now: () => number;
  private last: { readonly at: number; readonly view: Promise<RunHealthView> } | undefined;

  /** @param now milliseconds since the epoch */
  constructor(
    database: Pick<DocumentDatabase, 'collection' | 'isExclusive'>,
    inbox: Pick<InboxReader, 'counts'>,
    now: () => number = Date.now,
  ) {
    this.database = database;
    this.inbox = inbox;
    this.now = now;
  }

  /** A reading of the last five seconds. @throws what the store throws */
  read(): Promise<RunHealthView> {
    const at = this.now();
    if (this.last === undefined || at - this.last.at > FRESH_MS) {
      const view = this.readNow(at);
      this.last = { at, view };
      // The next collection tries again.
      view.catch(() => (this.last = undefined));
    }
    return this.last.view;
  }

  private async readNow(at: number): Promise<RunHealthView> {
    const runs = this.database.collection<RunDocument>(RUNS);
    const owners = this.database.collection<OwnerDocument>(RUN_OWNERS);
    const unfinished = { state: { $in: ['queued', 'running', 'waiting'] } };
    const due = { state: 'queued', owner: '', $or: [{ dueAt: { $exists: false } }, { dueAt: { $lte: at } }] };
    const [groups, waiting, alive, oldest] = await Promise.all([
      runs.aggregate(unfinished, { by: { state: 'state' } }),
      this.inbox.counts({}),
      owners.find({ seenAt: { $gt: new Date(at - LEASE_MS) } }),
      runs.findOne(due, { sort: { createdAt: 1 }, fields: { createdAt: 1, dueAt: 1 } }),
    ]);
    const states = new Map(groups.map(({ key, count }) => [key['state'], count]));
    const countOf = (state: string): number => states.get(state) ?? 0;
    const overdue = this.database.isExclusive
      ? 0
      : await runs.count({
          state: { $in: ['running', 'waiting'] },
          owner: { $nin: ['', ...alive.map(({ _id }) => _id)] },
        });
    return {
      states: { queued: countOf('queued'), running: countOf('running'), waiting: countOf('waiting') },
      waiting: { ...waiting, total: Object.values(waiting).reduce((sum, count) => sum + count, 0) },
      owners: this.database.isExclusive ? 0 : alive.filter(({ _id }) => _id !== UNOWNED).length,
      overdue,
      oldestQueuedMs: oldest === undefined ? 0 : at - Math.max(oldest.createdAt, oldest.dueAt ?? 0),
    };
  }
}
