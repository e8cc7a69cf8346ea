/**
 * What settings and the environment say about queued runs: who distributes them, how many run at once, and how long
 * runs are kept.
 */
import { LLMInvalidRequestError } from '../../business/ai/domain/errors/LLMErrors';
import type { JobQueue } from '../../business/ai/domain/interfaces/JobQueue';
import { openAgendaQueue } from '../../business/ai/infrastructure/jobs/AgendaJobQueue';
import { LocalJobQueue } from '../../business/ai/infrastructure/jobs/LocalJobQueue';
import { SCHEDULES, ScheduleTimes } from '../../business/ai/infrastructure/jobs/ScheduleTimes';
import type { ScheduleDocument } from '../../business/ai/infrastructure/jobs/ScheduleTimes';
import type { DocumentDatabase } from '../../business/ai/infrastructure/persistence/databases/DocumentDatabase';
import type { RetentionTimes } from '../../business/ai/infrastructure/persistence/runs/RunRetention';

export interface JobSettings {
  /** The MongoDB of Agenda; absent: a queue in this process's memory. */
  readonly agendaUrl?: string;
  /** Queued runs at the same time in this process. */
  readonly concurrency?: number;
  readonly retention?: Partial<RetentionTimes>;
}

const DAY = 86_400_000;

/**
 * JOBS_ENGINE (`agenda` or `local`; default: Agenda where MONGO_URL is set), JOBS_CONCURRENCY (default 8),
 * RUNS_KEEP_WHOLE_DAYS (7) and RUNS_KEEP_DAYS (30).
 * @param valueOf the setting or variable of that name
 * @throws LLMInvalidRequestError that names what is wrong
 */
export function readJobSettings(valueOf: (name: string) => string | undefined): JobSettings {
  const url = valueOf('MONGO_URL');
  const engine = valueOf('JOBS_ENGINE') ?? (url === undefined ? 'local' : 'agenda');
  if (engine !== 'local' && engine !== 'agenda') throw wrong('JOBS_ENGINE', 'is neither agenda nor local');
  if (engine === 'agenda' && url === undefined) throw wrong('JOBS_ENGINE', 'is agenda, which needs MONGO_URL');
  const concurrency = readNumber(valueOf, 'JOBS_CONCURRENCY', 1);
  const keepWhole = readNumber(valueOf, 'RUNS_KEEP_WHOLE_DAYS', 0);
  const keep = readNumber(valueOf, 'RUNS_KEEP_DAYS', 0);
  return {
    ...(engine === 'agenda' && url !== undefined ? { agendaUrl: url } : {}),
    ...(concurrency === undefined ? {} : { concurrency }),
    retention: {
      ...(keepWhole === undefined ? {} : { compactAfter: keepWhole * DAY }),
      ...(keep === undefined ? {} : { removeAfter: keep * DAY }),
    },
  };
}

/**
 * @param database where a queue in this process's memory writes down when its schedules come next
 * @throws LLMConnectionError when Agenda's MongoDB does not answer
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

function readNumber(valueOf: (name: string) => string | undefined, name: string, least: number): number | undefined {
  const text = valueOf(name);
  if (text === undefined) return undefined;
  const value = Number(text);
  if (Number.isSafeInteger(value) && value >= least) return value;
  throw wrong(name, `is no whole number from ${least} on`);
}

function wrong(name: string, why: string): LLMInvalidRequestError {
  return new LLMInvalidRequestError(`${name} ${why}`, { path: name });
}
