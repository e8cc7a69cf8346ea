/** Opens the queue that distributes queued runs: Agenda on MongoDB, or one in this process's memory. */
import { MissingPackageError } from '../business/ai/domain/errors/LLMErrors';
import { omitUndefined } from '../business/ai/domain/util/omitUndefined';
import type { JobQueue } from '../business/ai/domain/interfaces/JobQueue';
import { AGENDA_PACKAGES, openAgendaQueue } from '../business/ai/infrastructure/jobs/AgendaJobQueue';
import { LocalJobQueue } from '../business/ai/infrastructure/jobs/LocalJobQueue';
import { ManagedJobQueue } from '../business/ai/infrastructure/jobs/ManagedJobQueue';
import { SCHEDULES, ScheduleTimes } from '../business/ai/infrastructure/jobs/ScheduleTimes';
import type { ScheduleDocument } from '../business/ai/infrastructure/jobs/ScheduleTimes';
import type { DocumentDatabase } from '../database/DocumentDatabase';
import { DocumentJobStates, JOB_STATES } from '../business/ai/infrastructure/persistence/jobs/DocumentJobStates';
import type { JobStateDocument } from '../business/ai/infrastructure/persistence/jobs/DocumentJobStates';
import type { RetentionTimes } from '../business/ai/infrastructure/persistence/runs/RunRetention';

export interface JobSettings {
  /** The MongoDB URL for Agenda. Absent: a queue in this process's memory. */
  readonly agendaUrl?: string;
  /** Agenda was asked for, so that it is an error if its package is missing. */
  readonly requiresAgenda?: boolean;
  /** Concurrent queued runs in this process. */
  readonly concurrency?: number;
  /** Concurrent queued runs of one user in all processes. */
  readonly concurrencyPerUser?: number;
  readonly retention?: Partial<RetentionTimes>;
  /** Milliseconds for which a run waits for a process that has its tools. */
  readonly toolWaitMs?: number;
}

const NO_AGENDA = `Queued runs and schedules stay in the process that accepted them, because the packages of their queue are not installed. To distribute them over several processes, run: npm install ${AGENDA_PACKAGES}. For a single process, set JOBS_ENGINE to local.`;

/**
 * @param database stores what is paused, and the next times of schedules for a queue in this process's memory
 * @param openAgenda replaced in tests
 * @throws LLMConnectionError if Agenda's MongoDB does not respond; MissingPackageError for the chosen engine
 */
export async function openJobQueue(
  { agendaUrl, requiresAgenda = false, concurrency, concurrencyPerUser }: JobSettings,
  database: Pick<DocumentDatabase, 'collection'>,
  openAgenda = openAgendaQueue,
): Promise<ManagedJobQueue> {
  const limits = omitUndefined({ concurrency, concurrencyPerUser });
  const openLocal = (): JobQueue =>
    new LocalJobQueue({ ...limits, times: new ScheduleTimes(database.collection<ScheduleDocument>(SCHEDULES)) });
  const states = new DocumentJobStates(database.collection<JobStateDocument>(JOB_STATES));
  const managed = (queue: JobQueue): ManagedJobQueue => new ManagedJobQueue(queue, states);
  if (agendaUrl === undefined) return managed(openLocal());
  try {
    return managed(await openAgenda({ url: agendaUrl, ...limits }));
  } catch (error) {
    if (requiresAgenda || !(error instanceof MissingPackageError)) throw error;
    console.warn(NO_AGENDA);
    return managed(openLocal());
  }
}
