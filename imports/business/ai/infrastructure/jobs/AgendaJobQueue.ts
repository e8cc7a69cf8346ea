/**
 * A job queue for several processes: Agenda, on MongoDB. When a process dies, another one takes its jobs once their
 * locks have not been renewed for a while. https://github.com/agenda/agenda (6.x)
 */
import { consoleLogger } from '../../../../log/consoleLogger';
import type { Agenda, Job, JobParameters } from 'agenda';
import { explainMissingPackage } from '../../domain/errors/explainMissingPackage';
import { MissingPackageError } from '../../domain/errors/LLMErrors';
import { DEFAULT_JOB_LIMITS } from '../../domain/interfaces/JobQueue';
import type { JobLimits, JobQueue, JobWork, Schedule, ScheduledTask } from '../../domain/interfaces/JobQueue';
import type { Logger } from '../../domain/interfaces/Logger';
import { createMongoClient } from '../../../../database/mongo/connectMongo';
import { AgendaJobs, RUN } from './AgendaJobs';
import { checkSchedule } from './checkSchedule';
import { nextTimeOf } from './cronTimes';
import { JobWorker } from './JobWorker';

export interface AgendaOptions extends Partial<JobLimits> {
  /** A connection string of MongoDB, such as that in MONGO_URL. */
  readonly url: string;
  /** Milliseconds between two polls for new jobs, where the server does not report them. */
  readonly pollEvery?: number;
  /** Milliseconds after which another process may take a job whose lock was not renewed. */
  readonly lockLifetime?: number;
  /** Default: the console. */
  readonly logger?: Logger;
}

interface RunJob {
  readonly executionId: string;
}

type QueueOptions = JobLimits & { readonly lockLifetime: number; readonly pollEvery: number; readonly logger: Logger };

const DEFAULT_POLL_MS = 1_000;
const DEFAULT_LOCK_MS = 30_000;

/**
 * @throws LLMConnectionError if no server responds; it does not repeat the URL, which may contain a password.
 *   MissingPackageError without Agenda 6 or its backend
 */
export async function openAgendaQueue({
  url,
  pollEvery = DEFAULT_POLL_MS,
  lockLifetime = DEFAULT_LOCK_MS,
  logger = consoleLogger,
  ...limits
}: AgendaOptions): Promise<AgendaJobQueue> {
  const { MongoClient, MongoJobRepository, ...agenda } = await importAgenda();
  const jobs = await AgendaJobs.open({
    createClient: () => createMongoClient(MongoClient, url),
    Repository: MongoJobRepository,
    pollEvery,
    lockLifetime,
    logger,
  });
  return new AgendaJobQueue(agenda, jobs, { ...DEFAULT_JOB_LIMITS, ...limits, pollEvery, lockLifetime, logger });
}

const USER = 'The job queue "agenda", which MONGO_URL or JOBS_ENGINE selects,';
export const AGENDA_PACKAGES = 'agenda@6 @agendajs/mongo-backend';

/**
 * Loaded on demand.
 * @throws MissingPackageError also for the app's Agenda 5, which the backend cannot be loaded with
 */
async function importAgenda(): Promise<typeof import('agenda') & typeof import('@agendajs/mongo-backend')> {
  const isMissing = (error: unknown): boolean =>
    ['agenda', '@agendajs/mongo-backend', 'mongodb'].some(
      (name) => explainMissingPackage(error, name, USER) instanceof MissingPackageError,
    );
  let cause: unknown;
  try {
    const agenda = await import('agenda');
    if (!('mongo' in agenda.Agenda.prototype)) return { ...agenda, ...(await import('@agendajs/mongo-backend')) };
  } catch (error) {
    if (!isMissing(error)) throw error;
    cause = error;
  }
  throw new MissingPackageError(AGENDA_PACKAGES, USER, { cause });
}

/**
 * Executes Agenda's jobs without its processor. That one counts a job whose lock expired before it began for ever, and
 * ends at its limit; locks jobs before they are due; stops by unlocking jobs whose time it has cleared, so that they
 * never run; and leaves a timer for each job, which keeps the process from ending.
 */
export class AgendaJobQueue implements JobQueue {
  readonly engine = 'agenda';
  readonly limits: JobLimits;
  private readonly agenda: Agenda;
  private readonly createJob: (stored: JobParameters) => Job;
  private readonly jobs: AgendaJobs;
  private readonly options: QueueOptions;
  /** The workers by the name of their jobs. */
  private readonly workers = new Map<string, JobWorker<JobParameters>>();
  private isStarted = false;

  constructor(
    { Agenda: AgendaClass, Job: JobClass }: Pick<typeof import('agenda'), 'Agenda' | 'Job'>,
    jobs: AgendaJobs,
    options: QueueOptions,
  ) {
    const agenda = new AgendaClass({ backend: jobs.backend });
    this.agenda = agenda;
    this.createJob = (stored) => new JobClass(agenda, stored, true);
    this.jobs = jobs;
    this.options = options;
    this.limits = options;
    agenda.on('retry', (job, { error }) => options.logger.warn(`${labelOf(job)} failed and will be retried.`, error));
    agenda.on('retry exhausted', (error, job) => {
      options.logger.error(`${labelOf(job)} failed after ${job.attrs.failCount ?? 1} attempts.`, error);
      // The next time of a schedule has attempts of its own.
      job.attrs.failCount = 0;
    });
  }

  async add(executionId: string, at?: number): Promise<void> {
    await this.agenda
      .create<RunJob>(RUN, { executionId })
      .unique({ 'data.executionId': executionId }, { insertOnly: true })
      .schedule(new Date(at ?? Date.now()))
      .save();
    this.signal(RUN);
  }

  remove(executionIds: readonly string[]): Promise<number> {
    return this.jobs.remove(executionIds);
  }

  async schedule(schedule: Schedule, task: ScheduledTask): Promise<void> {
    checkSchedule(schedule);
    const name = taskName(schedule.name);
    const { cron, timezone = 'UTC' } = schedule;
    this.define(name, 1, (job) => {
      setNextTime(job, schedule);
      return task();
    });
    const planned = await this.jobs.find(name);
    // Rescheduling would lose a time that passed while no process was running.
    if (planned?.repeatInterval === cron && planned.repeatTimezone === timezone) {
      this.signal(name);
      return;
    }
    const job = this.agenda.create(name).repeatEvery(cron, { timezone });
    // All processes share the job.
    job.attrs.type = 'single';
    setNextTime(job, schedule);
    await job.save();
    this.signal(name);
  }

  /** A later save by the process that runs the task restores the next time, so that it does not run twice. */
  async trigger(name: string): Promise<boolean> {
    const isKnown = await this.jobs.makeDue(taskName(name));
    this.signal(taskName(name));
    return isKnown;
  }

  start(work: JobWork): Promise<void> {
    const { concurrency } = this.options;
    if (concurrency > 0) this.define<RunJob>(RUN, concurrency, (job) => work(job.attrs.data.executionId));
    this.isStarted = true;
    this.jobs.listen((name) => this.signal(name));
    this.signal();
    return Promise.resolve();
  }

  async stop(): Promise<void> {
    this.isStarted = false;
    await Promise.all([...this.workers.values()].map((worker) => worker.stop()));
    await this.jobs.close();
  }

  private define<T = unknown>(name: string, limit: number, work: (job: Job<T>) => Promise<void>): void {
    const { retries, retryDelay, pollEvery } = this.options;
    // oxlint-disable-next-line typescript/no-misused-promises -- a function of one argument is awaited
    this.agenda.define<T>(name, (job) => this.withRenewal(job, work(job)), {
      backoff: ({ attempt }) => (attempt <= retries ? retryDelay * 2 ** (attempt - 1) : null),
    });
    // The task may have been scheduled before.
    if (this.workers.has(name)) return;
    const { jobs } = this;
    const worker = new JobWorker({
      limit,
      take: () => jobs.lock(name),
      execute: (stored) => this.createJob(stored).run(),
      release: (stored) => jobs.unlock(stored),
      pause: () => jobs.pauseOf(name),
      pauseAfterFailure: pollEvery,
      report: jobs.report,
    });
    this.workers.set(name, worker);
  }

  /** Tells workers that there may be jobs, of the name or of any. */
  private signal(name?: string): void {
    if (!this.isStarted) return;
    const workers = name === undefined ? this.workers.values() : [this.workers.get(name)];
    for (const worker of workers) worker?.signal();
  }

  /** Renews the job's lock while the work is in progress. */
  private async withRenewal(job: { touch(): Promise<unknown> }, work: Promise<void>): Promise<void> {
    const renewal = setInterval(() => void job.touch().catch(() => undefined), this.options.lockLifetime / 3);
    try {
      await work;
    } finally {
      clearInterval(renewal);
    }
  }
}

function labelOf({ attrs: { name, data } }: Job): string {
  return name === RUN ? `The run ${(data as RunJob).executionId}` : `The ${name}`;
}

/** Agenda has computed it, too, but not as the other queue does. It stores the job again when the task has ended. */
function setNextTime(job: Job, schedule: Schedule): void {
  const next = nextTimeOf(schedule, Date.now());
  if (next !== undefined) job.attrs.nextRunAt = new Date(next);
}

function taskName(schedule: string): string {
  return `task:${schedule}`;
}
