/** The runs that wait for a worker, in the order of their turns, from the documents of the run store. */
import type { DocumentCollection } from '../../../../../database/DocumentCollection';
import type { QueuedRunReader } from '../../../domain/interfaces/QueuedRunReader';
import { omitUndefined } from '../../../domain/util/omitUndefined';
import type { QueuedRunView } from '../../../domain/types/QueueViews';
import type { RunDocument } from './runDocuments';

/** Runs that are counted and put in order. */
const MAX_COUNTED = 10_000;

export class DocumentQueuedRuns implements QueuedRunReader {
  private readonly runs: DocumentCollection<RunDocument>;

  constructor(runs: DocumentCollection<RunDocument>) {
    this.runs = runs;
  }

  async waiting(
    limit: number,
    userId?: string,
  ): Promise<{ readonly runs: readonly QueuedRunView[]; readonly total: number }> {
    const selector = omitUndefined({ state: 'queued', owner: '', userId });
    const fields = { userId: 1, createdAt: 1, dueAt: 1, priority: 1, globalPriority: 1 } as const;
    const all = await this.runs.find(selector, { sort: { createdAt: 1 }, limit: MAX_COUNTED, fields });
    const now = Date.now();
    const startOf = ({ dueAt = 0 }: Pick<RunDocument, 'dueAt'>): number => (dueAt <= now ? 0 : dueAt);
    const first = inTurns(all)
      .toSorted((left, right) => startOf(left) - startOf(right))
      .slice(0, limit);
    const ids = first.map(({ _id }) => _id);
    const found = await this.runs.find({ ...selector, _id: { $in: ids } }, { fields: VIEW_FIELDS });
    const byId = new Map(found.map((run) => [run._id, toView(run)]));
    // A run that started in the meantime is left out.
    return { runs: ids.map((id) => byId.get(id)).filter((run) => run !== undefined), total: all.length };
  }
}

/** Sorts runs as `QueuedRunTurns` takes them: by global priority, and within it, each user's first run first. */
function inTurns(runs: readonly RunDocument[]): readonly RunDocument[] {
  const numbered = [
    ...Map.groupBy(runs, ({ userId, globalPriority = 0 }) => `${globalPriority} ${userId}`).values(),
  ].flatMap((own) =>
    own.toSorted((left, right) => (right.priority ?? 0) - (left.priority ?? 0)).map((run, turn) => ({ run, turn })),
  );
  return numbered
    .toSorted(
      (left, right) => (right.run.globalPriority ?? 0) - (left.run.globalPriority ?? 0) || left.turn - right.turn,
    )
    .map(({ run }) => run);
}

const VIEW_FIELDS = {
  userId: 1,
  title: 1,
  providerId: 1,
  model: 1,
  source: 1,
  createdAt: 1,
  dueAt: 1,
} as const satisfies Partial<Record<keyof QueuedRunView, 1>>;

function toView({ _id, userId, title, providerId, model, source, createdAt, dueAt }: RunDocument): QueuedRunView {
  return omitUndefined({
    _id,
    userId,
    title,
    providerId,
    source,
    createdAt,
    model,
    dueAt,
  });
}
