/** Finds the queued run whose turn it is, and the ones that are worked on, in the documents of runs. */
import { isSettled, waitOf } from '../../../domain/entities/Tool';
import type { DocumentCollection, Selector } from '../../../../../database/DocumentCollection';
import type { QueueTurn } from '../../../domain/interfaces/RunStore';
import { omitUndefined } from '../../../domain/util/omitUndefined';
import type { QueuedRunHead, WorkingRun } from '../../../domain/types/RunRecords';
import { fromCallDocuments } from './runDocuments';
import type { RunDocument, ToolCallDocument } from './runDocuments';

const WAITING = { state: 'queued', owner: '' } as const;
const HEAD_FIELDS = { userId: 1, fence: 1, globalPriority: 1, concurrencyKey: 1 } as const;
/** Users take turns in the order of their ids. */
const ORDER_WITHIN = { userId: 1, priority: -1, createdAt: 1 } as const;
const ORDER = { globalPriority: -1, ...ORDER_WITHIN } as const;

export class QueuedRunTurns {
  private readonly runs: DocumentCollection<RunDocument>;
  private readonly calls: DocumentCollection<ToolCallDocument>;

  constructor(runs: DocumentCollection<RunDocument>, calls: DocumentCollection<ToolCallDocument>) {
    this.runs = runs;
    this.calls = calls;
  }

  /** Safe to call again. */
  async ensureIndexes(): Promise<void> {
    await this.runs.ensureIndex({ state: 1, isDue: 1, ...ORDER });
    await this.runs.ensureIndex({ state: 1, isDue: 1, dueAt: 1 });
    await this.runs.ensureIndex({ isQueued: 1, state: 1, owner: 1 });
    // Runs that earlier versions queued lack these fields.
    const $set = { priority: 0, globalPriority: 0 };
    const old = { ...WAITING, isDue: { $exists: false } };
    await this.runs.update({ ...old, dueAt: { $exists: true } }, { $set: { ...$set, isDue: false } }, { multi: true });
    await this.runs.update(old, { $set: { ...$set, isDue: true } }, { multi: true });
  }

  async next({ now, after, except, fullUsers, keys }: QueueTurn): Promise<QueuedRunHead | undefined> {
    await this.runs.update(
      { ...WAITING, isDue: false, dueAt: { $lte: now } },
      { $set: { isDue: true } },
      { multi: true },
    );
    const allowed: Selector[] = keys.map(({ userId, key, working }) => ({
      $or: [{ userId: { $ne: userId } }, { concurrencyKey: { $ne: key } }, { concurrencyLimit: { $gt: working } }],
    }));
    // One document is read, in the order of the index.
    const find = async (
      selector: Selector,
      sort: Readonly<Record<string, 1 | -1>>,
      userTests: Selector = {},
    ): Promise<RunDocument | undefined> => {
      const tests = { ...userTests, ...(fullUsers.length === 0 ? {} : { $nin: fullUsers }) };
      const all = {
        ...WAITING,
        isDue: true,
        ...selector,
        ...(Object.keys(tests).length === 0 ? {} : { userId: tests }),
        ...(except.length === 0 ? {} : { _id: { $nin: except } }),
        ...(allowed.length === 0 ? {} : { $and: allowed }),
      };
      return (await this.runs.find(all, { sort, limit: 1, fields: HEAD_FIELDS }))[0];
    };
    const first = await find({}, ORDER);
    if (first === undefined) return undefined;
    const { globalPriority = 0 } = first;
    const next = after === undefined ? undefined : await find({ globalPriority }, ORDER_WITHIN, { $gt: after });
    return toHead(next ?? first);
  }

  async working(): Promise<readonly WorkingRun[]> {
    const selector = { isQueued: true, state: { $in: ['queued', 'running'] }, owner: { $gt: '' } };
    const fields = { userId: 1, concurrencyKey: 1, isCalling: 1, openCalls: 1 } as const;
    const runs = await this.runs.find(selector, { fields });
    if (runs.length === 0) return [];
    const ids = runs.map(({ _id }) => _id);
    const calls = await this.calls.find({ executionId: { $in: ids } }, { fields: { executionId: 1, call: 1 } });
    const byRun = Map.groupBy(calls, ({ executionId }) => executionId);
    return runs.filter((run) => !isWaiting(run, byRun.get(run._id) ?? [])).map(toWorking);
  }
}

/** Whether the run waits only for people and other services. */
function isWaiting(run: RunDocument, calls: readonly ToolCallDocument[]): boolean {
  if (run.isCalling) return false;
  const open = fromCallDocuments(calls, run).filter((call) => !isSettled(call));
  return open.length > 0 && open.every((call) => waitOf(call) !== undefined);
}

function toWorking({ _id: executionId, userId, concurrencyKey }: RunDocument): WorkingRun {
  return omitUndefined({ executionId, userId, concurrencyKey });
}

function toHead(run: RunDocument): QueuedRunHead {
  return { ...toWorking(run), fence: run.fence };
}
