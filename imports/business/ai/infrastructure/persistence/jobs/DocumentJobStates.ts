/** The state of the job queue in a document collection: one document for the queue, and one per schedule. */
import type { DocumentCollection, Modifier, StoredDocument } from '../../../../../database/DocumentCollection';
import { insertNew } from '../../../../../database/insertNew';
import type { Schedule } from '../../../domain/interfaces/JobQueue';
import type { JobStateStore, StoredSchedule } from '../../../domain/interfaces/JobStateStore';
import { omitUndefined } from '../../../domain/util/omitUndefined';
import type { PausedSince, ScheduleRun } from '../../../domain/types/QueueViews';

export const JOB_STATES = 'ai_job_states';

/** Fields other than `_id`, the times of a pause and those of the lock belong to schedules. */
export interface JobStateDocument extends StoredDocument {
  readonly name?: string;
  readonly cron?: string;
  readonly timezone?: string;
  readonly registeredAt?: number;
  readonly pausedAt?: number;
  readonly pausedBy?: string;
  readonly startedAt?: number;
  readonly endedAt?: number;
  readonly error?: string;
  readonly isTriggered?: boolean;
  /** These four belong to the lock under which queued runs are chosen. */
  readonly lockedBy?: string;
  /** Milliseconds since the epoch. */
  readonly lockedUntil?: number;
  readonly chosen?: { readonly executionId: string; readonly fence: number };
  readonly revision?: number;
}

const QUEUE = 'queue';

export class DocumentJobStates implements JobStateStore {
  private readonly collection: DocumentCollection<JobStateDocument>;

  constructor(collection: DocumentCollection<JobStateDocument>) {
    this.collection = collection;
  }

  async pausedSince(): Promise<PausedSince | undefined> {
    const queue = await this.collection.findOne({ _id: QUEUE });
    return queue === undefined ? undefined : pauseOf(queue);
  }

  async setPaused(paused: PausedSince | undefined): Promise<void> {
    await this.upsert(QUEUE, pauseFields(paused));
  }

  async schedules(): Promise<readonly StoredSchedule[]> {
    const found = await this.collection.find({ name: { $exists: true } }, { sort: { name: 1 } });
    return found.map(toSchedule);
  }

  async schedule(name: string): Promise<StoredSchedule | undefined> {
    const found = await this.collection.findOne({ _id: idOf(name) });
    return found === undefined ? undefined : toSchedule(found);
  }

  async register({ name, cron, timezone }: Required<Schedule>, registeredAt: number): Promise<void> {
    await this.upsert(idOf(name), { $set: { name, cron, timezone, registeredAt } });
  }

  async setSchedulePaused(name: string, paused: PausedSince | undefined): Promise<boolean> {
    return (await this.collection.update({ _id: idOf(name) }, pauseFields(paused))) === 1;
  }

  async setTriggered(name: string): Promise<boolean> {
    return (await this.collection.update({ _id: idOf(name) }, { $set: { isTriggered: true } })) === 1;
  }

  async takeTrigger(name: string): Promise<boolean> {
    const selector = { _id: idOf(name), isTriggered: true };
    return (await this.collection.update(selector, { $unset: { isTriggered: true } })) === 1;
  }

  async recordRun(name: string, { startedAt, endedAt, error }: ScheduleRun): Promise<void> {
    const ended = endedAt === undefined ? {} : { endedAt };
    const failed = error === undefined ? {} : { error };
    const $unset = {
      ...(endedAt === undefined ? { endedAt: true as const } : {}),
      ...(error === undefined ? { error: true as const } : {}),
    };
    await this.collection.update({ _id: idOf(name) }, { $set: { startedAt, ...ended, ...failed }, $unset });
  }

  private async upsert(_id: string, modifier: Modifier): Promise<void> {
    if ((await this.collection.update({ _id }, modifier)) === 1) return;
    // If not, another process has inserted it in the meantime.
    if (!(await insertNew(this.collection, { _id, ...modifier.$set }))) await this.collection.update({ _id }, modifier);
  }
}

function idOf(name: string): string {
  return `schedule/${name}`;
}

function pauseFields(paused: PausedSince | undefined): Modifier {
  if (paused === undefined) return { $unset: { pausedAt: true, pausedBy: true } };
  const { at, by } = paused;
  return { $set: omitUndefined({ pausedAt: at, pausedBy: by }) };
}

function pauseOf({ pausedAt, pausedBy }: JobStateDocument): PausedSince | undefined {
  if (pausedAt === undefined) return undefined;
  return omitUndefined({ at: pausedAt, by: pausedBy });
}

function toSchedule(document: JobStateDocument): StoredSchedule {
  const { name = '', cron = '', timezone = 'UTC', registeredAt = 0, startedAt, endedAt, error } = document;
  const paused = pauseOf(document);
  return omitUndefined({
    name,
    cron,
    timezone,
    registeredAt,
    isTriggered: document.isTriggered === true,
    paused,
    lastRun: startedAt === undefined ? undefined : { startedAt, ...omitUndefined({ endedAt, error }) },
  });
}
