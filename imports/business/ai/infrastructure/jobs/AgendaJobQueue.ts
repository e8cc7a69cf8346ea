/**
 * The queue of several processes: Agenda, on MongoDB. A job whose process dies is taken by another one when its
 * lock has not been renewed for a while. https://github.com/agenda/agenda (5.x, by its own MongoDB driver)
 */
import type { Agenda, Job } from 'agenda';
import { LLMConnectionError } from '../../domain/errors/LLMErrors';
import { DEFAULT_JOB_LIMITS } from '../../domain/interfaces/JobQueue';
import type { JobLimits, JobQueue, JobWork, Schedule, ScheduledTask } from '../../domain/interfaces/JobQueue';
import type { Logger } from '../../domain/interfaces/Logger';
import { checkSchedule } from './checkSchedule';

export interface AgendaOptions extends Partial<JobLimits> {
  /** As in MONGO_URL. */
  readonly url: string;
  /** Milliseconds between two looks for jobs that others added. */
  readonly pollEvery?: number;
  /** Milliseconds after which a job that nobody renews is taken by another process. */
  readonly lockLifetime?: number;
  /** Default: the console. */
  readonly logger?: Logger;
}

interface RunJob {
  readonly executionId: string;
}

export const JOBS = 'ai_jobs';
const RUN = 'run';
const DEFAULT_POLL = 1_000;
const DEFAULT_LOCK = 30_000;
/** Tasks of schedules are done beside the runs. */
const TASKS = 20;

/** @throws LLMConnectionError when nobody answers; it does not repeat the URL, which may hold a password */
export async function openAgendaQueue(options: AgendaOptions): Promise<AgendaJobQueue> {
  const { url, pollEvery = DEFAULT_POLL, lockLifetime = DEFAULT_LOCK, logger = console } = options;
  const limits = { ...DEFAULT_JOB_LIMITS, ...options };
  // With the database driver that it brings: loaded when it is wanted.
  const { Agenda: AgendaClass } = await import('agenda');
  const agenda = await new Promise<Agenda>((resolve, reject) => {
    const made: Agenda = new AgendaClass(
      {
        db: { address: url, collection: JOBS },
        processEvery: `${pollEvery / 1000} seconds`,
        maxConcurrency: limits.concurrency + TASKS,
        defaultLockLifetime: lockLifetime,
      },
      (error: unknown) => {
        if (error === undefined || error === null) resolve(made);
        else reject(new LLMConnectionError('the queue’s MongoDB can’t be used', { cause: error }));
      },
    );
  });
  return new AgendaJobQueue(agenda, { ...limits, lockLifetime, logger });
}

export class AgendaJobQueue implements JobQueue {
  private readonly agenda: Agenda;
  private readonly options: JobLimits & { readonly lockLifetime: number; readonly logger: Logger };
  private readonly underWay = new Set<Promise<void>>();

  constructor(agenda: Agenda, options: JobLimits & { readonly lockLifetime: number; readonly logger: Logger }) {
    this.agenda = agenda;
    this.options = options;
    this.keepAlive();
    agenda.on('success', (job: Job) => this.follow(this.succeeded(job)));
    agenda.on('fail', (error: unknown, job: Job) => this.follow(this.failed(job, error)));
    agenda.on('error', (error: unknown) => options.logger.error('the job queue failed', error));
  }

  async add(executionId: string, at?: number): Promise<void> {
    await this.agenda
      .create(RUN, { executionId })
      .unique({ 'data.executionId': executionId }, { insertOnly: true })
      .schedule(new Date(at ?? Date.now()))
      .save();
  }

  async schedule(schedule: Schedule, task: ScheduledTask): Promise<void> {
    checkSchedule(schedule);
    const name = `task:${schedule.name}`;
    const { cron, timezone = 'UTC' } = schedule;
    this.agenda.define(name, { concurrency: 1, lockLimit: 1 }, (job: Job) => this.track(this.renewing(job, task())));
    const [planned] = await this.agenda.jobs({ name });
    // Planning it anew would forget the time that came while nobody was there.
    if (planned?.attrs.repeatInterval === cron && planned.attrs.repeatTimezone === timezone) return;
    await this.agenda.every(cron, name, undefined, { timezone });
  }

  async start(work: JobWork): Promise<void> {
    const { concurrency } = this.options;
    if (concurrency > 0) {
      const runJob = (job: Job<RunJob>): Promise<void> =>
        this.track(this.renewing(job, work(job.attrs.data.executionId)));
      this.agenda.define<RunJob>(RUN, { concurrency, lockLimit: concurrency }, runJob);
    }
    await this.agenda.start();
  }

  async stop(): Promise<void> {
    await this.agenda.stop();
    while (this.underWay.size > 0) await Promise.allSettled(this.underWay);
    await this.agenda.close({ force: true });
  }

  /** Shows the others that this process lives as long as the work takes. */
  private async renewing(job: { touch(): Promise<unknown> }, work: Promise<void>): Promise<void> {
    const renewal = setInterval(() => void job.touch().catch(() => undefined), this.options.lockLifetime / 3);
    try {
      await work;
    } finally {
      clearInterval(renewal);
    }
  }

  /** What is done is forgotten, so that the run could be added again; a schedule's job comes again. */
  private async succeeded(job: Job): Promise<void> {
    if (job.attrs.name === RUN) await job.remove();
    else if ((job.attrs.failCount ?? 0) > 0) {
      job.attrs.failCount = 0;
      await job.save();
    }
  }

  private async failed(job: Job, error: unknown): Promise<void> {
    const { retries, retryDelay, logger } = this.options;
    const { name, failCount = 1 } = job.attrs;
    const what = name === RUN ? `the run ${String(job.attrs.data['executionId'])}` : `the ${name}`;
    if (failCount <= retries) {
      logger.warn(`${what} is tried again`, error);
      await job.schedule(new Date(Date.now() + retryDelay * 2 ** (failCount - 1))).save();
      return;
    }
    logger.error(`${what} was given up after ${failCount} attempts`, error);
    await this.succeeded(job);
  }

  /** The same promise; `stop` waits for it. */
  private track(work: Promise<void>): Promise<void> {
    const settled = work.then(
      () => undefined,
      () => undefined,
    );
    this.underWay.add(settled);
    void settled.then(() => this.underWay.delete(settled));
    return work;
  }

  /** For work that nobody else hears of. */
  private follow(work: Promise<void>): void {
    this.track(work).catch((error: unknown) =>
      this.options.logger.error('a job could not be brought to its end', error),
    );
  }

  /**
   * Agenda writes a job's state in places where nobody hears of a failure, and where it would end the process. A
   * job that could not be written is found by its old lock; who adds one has to know.
   */
  private keepAlive(): void {
    const agenda = this.agenda;
    const save = agenda.saveJob.bind(agenda);
    agenda.saveJob = async (job: Job) => {
      try {
        return await save(job);
      } catch (error) {
        if (!('_id' in job.attrs)) throw error;
        this.options.logger.error(`the state of the job ${job.attrs.name} could not be written`, error);
        return job;
      }
    };
  }
}
