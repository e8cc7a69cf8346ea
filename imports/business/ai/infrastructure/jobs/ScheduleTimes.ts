/** Stores when each schedule is due next, so that a process can tell which times passed while it was not running. */
import type { DocumentCollection, StoredDocument } from '../../../../database/DocumentCollection';
import { insertNew } from '../../../../database/insertNew';
import type { Schedule } from '../../domain/interfaces/JobQueue';

export interface ScheduleDocument extends StoredDocument {
  readonly cron: string;
  readonly timezone: string;
  /** Milliseconds since the epoch; in the past if the task was due and did not run. */
  readonly next: number;
}

export const SCHEDULES = 'ai_schedules';

export class ScheduleTimes {
  private readonly schedules: DocumentCollection<ScheduleDocument>;

  constructor(schedules: DocumentCollection<ScheduleDocument>) {
    this.schedules = schedules;
  }

  /** @returns undefined for a new schedule, or one whose times have changed */
  async next({ name, cron, timezone = 'UTC' }: Schedule): Promise<number | undefined> {
    const stored = await this.schedules.findOne({ _id: name });
    return stored?.cron === cron && stored.timezone === timezone ? stored.next : undefined;
  }

  async save({ name, cron, timezone = 'UTC' }: Schedule, next: number): Promise<void> {
    const fields = { cron, timezone, next };
    if ((await this.schedules.update({ _id: name }, { $set: fields })) === 1) return;
    // Another process may have inserted it in the meantime.
    await insertNew(this.schedules, { _id: name, ...fields });
  }
}
