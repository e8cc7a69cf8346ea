/** Settings of queued runs: which queue distributes them, how many run at once, and how long runs are retained. */
import type { JobQueue } from '../../business/ai/domain/interfaces/JobQueue';
import { openAgendaQueue } from '../../business/ai/infrastructure/jobs/AgendaJobQueue';
import { LocalJobQueue } from '../../business/ai/infrastructure/jobs/LocalJobQueue';
import { SCHEDULES, ScheduleTimes } from '../../business/ai/infrastructure/jobs/ScheduleTimes';
import type { ScheduleDocument } from '../../business/ai/infrastructure/jobs/ScheduleTimes';
import type { DocumentDatabase } from '../../business/ai/infrastructure/persistence/databases/DocumentDatabase';
import type { RetentionTimes } from '../../business/ai/infrastructure/persistence/runs/RunRetention';
import { SettingProblems } from './SettingProblems';

export interface JobSettings {
  /** The MongoDB URL for Agenda. Absent: a queue in this process's memory. */
  readonly agendaUrl?: string;
  /** Concurrent queued runs in this process. */
  readonly concurrency?: number;
  readonly retention?: Partial<RetentionTimes>;
}

const DAY_MS = 86_400_000;

/**
 * JOBS_ENGINE (`agenda` or `local`; default: Agenda where MONGO_URL is set), JOBS_CONCURRENCY (default 8),
 * RUNS_KEEP_WHOLE_DAYS (7) and RUNS_KEEP_DAYS (30).
 * @param valueOf returns the setting or variable with that name
 * @throws LLMInvalidRequestError that names every invalid variable
 */
export function readJobSettings(valueOf: (name: string) => string | undefined): JobSettings {
  const problems = new SettingProblems();
  const url = valueOf('MONGO_URL');
  const engine = valueOf('JOBS_ENGINE') ?? (url === undefined ? 'local' : 'agenda');
  if (engine !== 'local' && engine !== 'agenda') problems.add('JOBS_ENGINE', 'JOBS_ENGINE must be agenda or local.');
  if (engine === 'agenda' && url === undefined)
    problems.add('JOBS_ENGINE', 'JOBS_ENGINE is agenda, which requires MONGO_URL.');
  const concurrency = readNumber(valueOf, 'JOBS_CONCURRENCY', 1, problems);
  const keepWhole = readNumber(valueOf, 'RUNS_KEEP_WHOLE_DAYS', 0, problems);
  const keep = readNumber(valueOf, 'RUNS_KEEP_DAYS', 0, problems);
  problems.throwIfAny();
  return {
    ...(engine === 'agenda' && url !== undefined ? { agendaUrl: url } : {}),
    ...(concurrency === undefined ? {} : { concurrency }),
    retention: {
      ...(keepWhole === undefined ? {} : { compactAfter: keepWhole * DAY_MS }),
      ...(keep === undefined ? {} : { removeAfter: keep * DAY_MS }),
    },
  };
}

/**
 * @param database stores the next times of schedules for a queue in this process's memory
 * @throws LLMConnectionError if Agenda's MongoDB does not respond
 */
export async function openJobQueue(
  { agendaUrl, concurrency }: JobSettings,
  database: Pick<DocumentDatabase, 'collection'>,
): Promise<JobQueue> {
  const limits = concurrency === undefined ? {} : { concurrency };
  return agendaUrl === undefined
    ? new LocalJobQueue({ ...limits, times: new ScheduleTimes(database.collection<ScheduleDocument>(SCHEDULES)) })
    : openAgendaQueue({ url: agendaUrl, ...limits });
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
