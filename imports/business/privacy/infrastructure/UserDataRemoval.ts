/** Removes the documents of one user, but for those that services remove. */
import type { DocumentCollection, Selector, StoredDocument } from '../../../database/DocumentCollection';
import type { JobQueue } from '../../ai/domain/interfaces/JobQueue';
import { CHAT_TURNS } from '../../ai/infrastructure/persistence/conversations/DocumentChatTurns';
import type { DocumentDatabase } from '../../../database/DocumentDatabase';
import { FixedWindowLimiter } from '../../../database/FixedWindowLimiter';
import type { WindowDocument } from '../../../database/FixedWindowLimiter';
import { RUNS, TOOL_CALLS } from '../../ai/infrastructure/persistence/runs/runDocuments';
import { RUN_ITEMS } from '../../ai/infrastructure/persistence/runs/RunTranscripts';
import type { UserDocumentKind } from '../../../database/StoredCollection';

/** Numbers of removed documents by kind; of `authored` ones, that the user's id was removed from. */
export type RemovedDocuments = Readonly<Record<string, number>>;

/** Runs per batch. */
const BATCH_SIZE = 200;

export class UserDataRemoval {
  private readonly database: Pick<DocumentDatabase, 'collection'>;
  private readonly jobs: Pick<JobQueue, 'remove'>;
  private readonly kinds: readonly UserDocumentKind[];

  constructor(
    database: Pick<DocumentDatabase, 'collection'>,
    jobs: Pick<JobQueue, 'remove'>,
    kinds: readonly UserDocumentKind[],
  ) {
    this.database = database;
    this.jobs = jobs;
    this.kinds = kinds.filter(({ isRemovedByService }) => isRemovedByService !== true);
  }

  /** Can be repeated after an interruption. The user's runs must have ended. */
  async remove(userId: string): Promise<RemovedDocuments> {
    const removed = new Map<string, number>([['jobs', 0]]);
    await this.removeRuns(userId, removed);
    for (const kind of this.kinds) if (kind.isLimit !== true) await this.removeKind(kind, userId, removed);
    // Inserted by a former owner of a run that is gone.
    count(removed, 'toolCalls', await this.collection(TOOL_CALLS).remove({ userId }));
    count(removed, 'runItems', await this.collection(RUN_ITEMS).remove({ userId }));
    return Object.fromEntries(removed);
  }

  /** The user's messages that wait are not answered any more. @returns how many there were, with those of a day */
  removeChatTurns(userId: string): Promise<number> {
    return this.collection(CHAT_TURNS).remove({ userId });
  }

  /** Removes the counters that enforce the user's limits. They hold numbers only and expire by themselves. */
  async removeLimits(userId: string): Promise<RemovedDocuments> {
    const removed = new Map<string, number>();
    for (const kind of this.kinds) if (kind.isLimit === true) await this.removeKind(kind, userId, removed);
    return Object.fromEntries(removed);
  }

  private async removeKind(
    { kind, collection: name, owner, author }: UserDocumentKind,
    userId: string,
    removed: Map<string, number>,
  ): Promise<void> {
    const collection = this.collection(name);
    if ('selector' in owner) {
      const selector = owner.selector(userId);
      if (author === undefined) count(removed, kind, await collection.remove(selector));
      else count(removed, kind, await collection.update(selector, { $unset: { [author]: true } }, { multi: true }));
    } else if ('matches' in owner) {
      const windows = new FixedWindowLimiter(this.database.collection<WindowDocument>(name), ['count']);
      count(removed, kind, await windows.removeById((id) => owner.matches(id, userId)));
    }
  }

  /** Each run goes last, after its parts, so that a repetition finds them by it. */
  private async removeRuns(userId: string, removed: Map<string, number>): Promise<void> {
    const parts = this.kinds.flatMap(({ kind, collection, owner }) =>
      'part' in owner ? [{ kind, collection, field: owner.part }] : [],
    );
    for (const { kind } of parts) count(removed, kind, 0);
    for (;;) {
      const found = await this.collection(RUNS).find({ userId }, { limit: BATCH_SIZE, fields: { _id: 1 } });
      if (found.length === 0) return;
      const ids = found.map(({ _id }) => _id);
      count(removed, 'jobs', await this.jobs.remove(ids));
      for (const { kind, collection, field } of parts) {
        const ofRuns: Selector = { [field]: { $in: ids } };
        count(removed, kind, await this.collection(collection).remove(ofRuns));
      }
      count(removed, 'runs', await this.collection(RUNS).remove({ _id: { $in: ids } }));
    }
  }

  private collection(name: string): DocumentCollection<StoredDocument> {
    return this.database.collection(name);
  }
}

function count(removed: Map<string, number>, kind: string, more: number): void {
  removed.set(kind, (removed.get(kind) ?? 0) + more);
}
