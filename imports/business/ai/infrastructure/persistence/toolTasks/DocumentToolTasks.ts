/** Calls of tools that nobody waits for in a document collection, so that every process tells what became of them. */
import type { DocumentCollection, StoredDocument } from '../../../../../database/DocumentCollection';
import type { ToolTask, ToolTaskOutcome, ToolTaskState, ToolTaskStore } from '../../../domain/interfaces/ToolTaskStore';
import type { DocumentDatabase } from '../../../../../database/DocumentDatabase';

export interface ToolTaskDocument extends StoredDocument {
  readonly userId: string;
  readonly tool: string;
  readonly state: ToolTaskState;
  readonly owner: string;
  /** Milliseconds since the epoch. */
  readonly createdAt: number;
  readonly aliveAt: Date;
  readonly note?: string;
  readonly result?: string;
  readonly error?: string;
}

export const TOOL_TASKS = 'ai_tool_tasks';

/** 24 hours after the end, or the last sign of life. */
const TTL_SECONDS = 24 * 3_600;
const WORKING = { state: 'working' } as const;

/** Creates the store and its indexes. */
export async function openToolTasks(
  database: Pick<DocumentDatabase, 'collection' | 'isExclusive'>,
): Promise<DocumentToolTasks> {
  const tasks = database.collection<ToolTaskDocument>(TOOL_TASKS);
  await tasks.ensureIndex({ aliveAt: 1 }, { expireAfterSeconds: TTL_SECONDS });
  await tasks.ensureIndex({ userId: 1 });
  return new DocumentToolTasks(tasks, database.isExclusive);
}

export class DocumentToolTasks implements ToolTaskStore {
  readonly isExclusive: boolean;
  private readonly tasks: DocumentCollection<ToolTaskDocument>;

  constructor(tasks: DocumentCollection<ToolTaskDocument>, isExclusive: boolean) {
    this.tasks = tasks;
    this.isExclusive = isExclusive;
  }

  async add({ id, ...fields }: Pick<ToolTask, 'id' | 'userId' | 'tool' | 'owner'>): Promise<ToolTask> {
    const now = Date.now();
    const document = { _id: id, ...fields, ...WORKING, createdAt: now, aliveAt: new Date(now) };
    await this.tasks.insert(document);
    return toTask(document);
  }

  async find(userId: string, id: string): Promise<ToolTask | undefined> {
    const found = await this.tasks.findOne({ _id: id, userId });
    return found === undefined ? undefined : toTask(found);
  }

  async confirm(ids: readonly string[], notes: ReadonlyMap<string, string>): Promise<readonly string[]> {
    const aliveAt = new Date();
    await this.tasks.update({ _id: { $in: ids }, ...WORKING }, { $set: { aliveAt } }, { multi: true });
    for (const [id, note] of notes) await this.tasks.update({ _id: id, ...WORKING }, { $set: { note } });
    const working = await this.tasks.find({ _id: { $in: ids }, ...WORKING }, { fields: { _id: 1 } });
    return working.map(({ _id }) => _id);
  }

  async end(id: string, outcome: ToolTaskOutcome): Promise<boolean> {
    const $set = { ...outcome, aliveAt: new Date() };
    return (await this.tasks.update({ _id: id, ...WORKING }, { $set, $unset: { note: true } })) === 1;
  }
}

function toTask({ _id: id, aliveAt, ...fields }: ToolTaskDocument): ToolTask {
  return { ...fields, id, aliveAt: aliveAt.getTime() };
}
