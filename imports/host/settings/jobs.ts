/** Settings of queued runs: which queue distributes them, how many run at once, and how long runs are retained. */
import { MissingPackageError } from '../../business/ai/domain/errors/LLMErrors';
import type { JobQueue } from '../../business/ai/domain/interfaces/JobQueue';
import { omitUndefined } from '../../business/ai/domain/omitUndefined';
import { AGENDA_PACKAGES, openAgendaQueue } from '../../business/ai/infrastructure/jobs/AgendaJobQueue';
import { LocalJobQueue } from '../../business/ai/infrastructure/jobs/LocalJobQueue';
import { ManagedJobQueue } from '../../business/ai/infrastructure/jobs/ManagedJobQueue';
import { SCHEDULES, ScheduleTimes } from '../../business/ai/infrastructure/jobs/ScheduleTimes';
import type { ScheduleDocument } from '../../business/ai/infrastructure/jobs/ScheduleTimes';
import type { DocumentDatabase } from '../../database/DocumentDatabase';
import { DocumentJobStates, JOB_STATES } from '../../business/ai/infrastructure/persistence/jobs/DocumentJobStates';
import type { JobStateDocument } from '../../business/ai/infrastructure/persistence/jobs/DocumentJobStates';
import type { RetentionTimes } from '../../business/ai/infrastructure/persistence/runs/RunRetention';
import { SettingProblems } from './SettingProblems';

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

const DAY_MS = 86_400_000;

const NO_AGENDA = `Queued runs and schedules stay in the process that accepted them, because the packages of their queue are not installed. To distribute them over several processes, run: npm install ${AGENDA_PACKAGES}. For a single process, set JOBS_ENGINE to local.`;

/**
 * JOBS_ENGINE (`agenda` or `local`; default: Agenda where MONGO_URL is set and the package is installed),
 * JOBS_CONCURRENCY (default 8), JOBS_CONCURRENCY_PER_USER (no limit), RUNS_KEEP_WHOLE_DAYS (7), RUNS_KEEP_DAYS (30)
 * and RUNS_TOOL_WAIT_SECONDS (600).
 * @param valueOf returns the setting or variable with that name
 * @throws LLMInvalidRequestError that names every invalid variable
 */
export function readJobSettings(valueOf: (name: string) => string | undefined): JobSettings {
  const problems = new SettingProblems();
  const url = valueOf('MONGO_URL');
  const chosen = valueOf('JOBS_ENGINE');
  const engine = chosen ?? (url === undefined ? 'local' : 'agenda');
  if (engine !== 'local' && engine !== 'agenda') problems.add('JOBS_ENGINE', 'JOBS_ENGINE must be agenda or local.');
  if (engine === 'agenda' && url === undefined)
    problems.add('JOBS_ENGINE', 'JOBS_ENGINE is agenda, which requires MONGO_URL.');
  const concurrency = readNumber(valueOf, 'JOBS_CONCURRENCY', 1, problems);
  const toolWait = readNumber(valueOf, 'RUNS_TOOL_WAIT_SECONDS', 0, problems);
  const concurrencyPerUser = readNumber(valueOf, 'JOBS_CONCURRENCY_PER_USER', 1, problems);
  const keepWhole = readNumber(valueOf, 'RUNS_KEEP_WHOLE_DAYS', 0, problems);
  const keep = readNumber(valueOf, 'RUNS_KEEP_DAYS', 0, problems);
  problems.throwIfAny();
  return omitUndefined({
    agendaUrl: engine === 'agenda' && url !== undefined ? url : undefined,
    requiresAgenda: chosen === 'agenda' ? true : undefined,
    concurrency,
    toolWaitMs: toolWait === undefined ? undefined : toolWait * 1_000,
    concurrencyPerUser,
    retention: omitUndefined({
      compactAfter: keepWhole === undefined ? undefined : keepWhole * DAY_MS,
      removeAfter: keep === undefined ? undefined : keep * DAY_MS,
    }),
  });
}

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

function readNumber(
  valueOf: (name: string) => string | undefined,
  name: string,
  min: number,
  problems: SettingProblems,
): number | undefined {
  const text = valueOf(name);
  if (text === undefined) return undefined;
  const value = Number(text);
  if (Number.isSafeInteger(value) && value >= min) return value;
  problems.add(name, `${name} must be an integer of at least ${min}.`);
  return undefined;
}
