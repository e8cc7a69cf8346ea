/** When each schedule comes next, in the store: a process that was not there when it came finds that it has passed. */
import type { DocumentCollection, StoredDocument } from '../../domain/interfaces/DocumentCollection';
import { ConflictError } from '../../domain/errors/LLMErrors';
import type { Schedule } from '../../domain/interfaces/JobQueue';

export interface ScheduleDocument extends StoredDocument {
  readonly cron: string;
  readonly timezone: string;
  /** Milliseconds since the epoch: when it comes, or came without having been done. */
  readonly next: number;
}

export const SCHEDULES = 'ai_schedules';

export class ScheduleTimes {
  private readonly schedules: DocumentCollection<ScheduleDocument>;

  constructor(schedules: DocumentCollection<ScheduleDocument>) {
    this.schedules = schedules;
  }

  /** @returns undefined for a schedule that is new, or planned for other times than before */
  async next({ name, cron, timezone = 'UTC' }: Schedule): Promise<number | undefined> {
    const kept = await this.schedules.findOne({ _id: name });
    return kept?.cron === cron && kept.timezone === timezone ? kept.next : undefined;
  }

  async keep({ name, cron, timezone = 'UTC' }: Schedule, next: number): Promise<void> {
    const fields = { cron, timezone, next };
    if ((await this.schedules.update({ _id: name }, { $set: fields })) === 1) return;
    try {
      await this.schedules.insert({ _id: name, ...fields });
    } catch (error) {
      // Another has put it there in the meantime.
      if (!(error instanceof ConflictError)) throw error;
    }
  }
}
