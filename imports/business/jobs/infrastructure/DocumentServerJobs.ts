/** Jobs of the server's own code in a document collection, which all processes share. */
import { omitUndefined } from '../../ai/domain/util/omitUndefined';
import type { DocumentCollection, Selector, StoredDocument } from '../../../database/DocumentCollection';
import type { DocumentDatabase } from '../../../database/DocumentDatabase';
import { insertNew } from '../../../database/insertNew';
import type { JobWork, ServerJob } from '../domain/ServerJob';
import type { OwnedJob, ServerJobStore } from '../domain/ServerJobStore';

export const SERVER_JOBS = 'ai_server_jobs';

interface JobDocument extends StoredDocument {
  readonly name: string;
  readonly userId: string;
  /** JSON. Absent once the job has ended. */
  readonly work?: string;
  readonly attempt: number;
  readonly executionId?: string;
  readonly handlerFailures?: number;
  /** Milliseconds since the epoch. Only a free job has it. */
  readonly nextAt?: number;
  /** Only a job that a process follows has it. */
  readonly owner?: string;
  /** Only a job that has ended has it. */
  readonly expiresAt?: Date;
}

/** 30 days, in which a key is not used again. */
const KEY_LIFETIME_MS = 30 * 24 * 3_600_000;

export async function openServerJobs(database: Pick<DocumentDatabase, 'collection'>): Promise<ServerJobStore> {
  const jobs = database.collection<JobDocument>(SERVER_JOBS);
  await jobs.ensureIndex({ nextAt: 1 }, { sparse: true });
  await jobs.ensureIndex({ owner: 1 }, { sparse: true });
  await jobs.ensureIndex({ userId: 1 });
  await jobs.ensureIndex({ expiresAt: 1 }, { expireAfterSeconds: 0 });
  return new DocumentServerJobs(jobs);
}

class DocumentServerJobs implements ServerJobStore {
  private readonly jobs: DocumentCollection<JobDocument>;

  constructor(jobs: DocumentCollection<JobDocument>) {
    this.jobs = jobs;
  }

  insert({ id, work, ...job }: ServerJob, dueAt: number): Promise<boolean> {
    return insertNew(this.jobs, { _id: id, ...job, work: JSON.stringify(work), nextAt: dueAt });
  }

  async find(id: string): Promise<Pick<ServerJob, 'id' | 'executionId'> | undefined> {
    const found = await this.jobs.findOne({ _id: id }, { fields: { executionId: 1 } });
    return found === undefined ? undefined : omitUndefined({ id, executionId: found.executionId });
  }

  async queued(id: string, executionId: string): Promise<void> {
    await this.jobs.update({ _id: id, nextAt: { $exists: true }, attempt: 1 }, { $set: { executionId } });
  }

  async removeFree(id: string): Promise<void> {
    await this.jobs.remove({ _id: id, nextAt: { $exists: true } });
  }

  async due(names: readonly string[], now: number, limit: number): Promise<readonly ServerJob[]> {
    const found = await this.jobs.find({ nextAt: { $lte: now }, name: { $in: names } }, { sort: { nextAt: 1 }, limit });
    return found.flatMap(toJob);
  }

  async owned(names: readonly string[], limit: number, except: readonly string[]): Promise<readonly OwnedJob[]> {
    const found = await this.jobs.find(
      { owner: { $exists: true, $nin: except }, name: { $in: names } },
      { sort: { owner: 1 }, limit },
    );
    return found.flatMap((document) => {
      const { owner } = document;
      return owner === undefined ? [] : toJob(document).map((job) => ({ job, owner }));
    });
  }

  async claim({ id, attempt }: Pick<ServerJob, 'id' | 'attempt'>, owner: string, from?: string): Promise<boolean> {
    const state: Selector = from === undefined ? { nextAt: { $exists: true } } : { owner: from };
    return (
      (await this.jobs.update({ _id: id, attempt, ...state }, { $set: { owner }, $unset: { nextAt: true } })) === 1
    );
  }

  async begin(id: string, owner: string, executionId: string): Promise<boolean> {
    return (await this.jobs.update({ _id: id, owner }, { $set: { executionId } })) === 1;
  }

  async isOwner(id: string, owner: string): Promise<boolean> {
    return (await this.jobs.findOne({ _id: id, owner }, { fields: { name: 1 } })) !== undefined;
  }

  async release(
    id: string,
    owner: string,
    dueAt: number,
    next: Partial<Pick<ServerJob, 'attempt' | 'handlerFailures'>> = {},
  ): Promise<boolean> {
    const $set = { nextAt: dueAt, ...next };
    const begun = next.attempt === undefined ? {} : { executionId: true as const };
    return (await this.jobs.update({ _id: id, owner }, { $set, $unset: { owner: true, ...begun } })) === 1;
  }

  async end(id: string, owner: string): Promise<boolean> {
    const expiresAt = new Date(Date.now() + KEY_LIFETIME_MS);
    return (
      (await this.jobs.update({ _id: id, owner }, { $set: { expiresAt }, $unset: { owner: true, work: true } })) === 1
    );
  }
}

/** @returns none for a job that has ended meanwhile */
function toJob({ _id, name, userId, work, attempt, executionId, handlerFailures }: JobDocument): readonly ServerJob[] {
  if (work === undefined) return [];
  // Written by `insert`.
  const parsed = JSON.parse(work) as JobWork;
  return [omitUndefined({ id: _id, name, userId, work: parsed, attempt, executionId, handlerFailures })];
}
