/**
 * The jobs of a MongoDB, as Agenda stores them: taking them, learning of new ones, and what is stored of their states.
 * Those that Agenda 5 has stored go on.
 */
import type { MongoJobRepository } from '@agendajs/mongo-backend';
import type { AgendaBackend, JobParameters } from 'agenda';
import type { MongoClient } from 'mongodb';
import type { Logger } from '../../domain/interfaces/Logger';
import { LLMConnectionError } from '../../domain/errors/LLMErrors';
import { connectMongo } from '../../../../database/mongo/connectMongo';
import { hasChangeStreams, MongoChanges } from '../../../../database/mongo/MongoChanges';

export interface AgendaJobsOptions {
  readonly createClient: () => MongoClient;
  /** The backend's class, which accepts clients of its own copy of the driver only. */
  readonly Repository: typeof MongoJobRepository;
  /** Milliseconds between two looks for jobs of a name. */
  readonly pollEvery: number;
  /** Milliseconds after which another process may take a job whose lock was not renewed. */
  readonly lockLifetime: number;
  readonly logger: Logger;
}

/** The collection of the jobs. */
export const JOBS = 'ai_jobs';
/** The name of the jobs that start runs. */
export const RUN = 'run';
const FAIL_REASON = 'The error is in the log of the server.';
const REPORT_EVERY_MS = 60_000;
/** Milliseconds between two looks while the server reports new jobs: it does not report that a lock has expired. */
const REPORTED_POLL_MS = 10_000;

export class AgendaJobs {
  /** The backend for Agenda, connected already: if connecting fails, Agenda leaves a rejection unhandled. */
  readonly backend: AgendaBackend;
  private readonly options: AgendaJobsOptions;
  private readonly repository: MongoJobRepository;
  private readonly hasChangeStreams: boolean;
  private client: MongoClient;
  private changes: MongoChanges | undefined;
  private isReported = false;
  private isReconnecting = false;
  private isClosed = false;
  /** The time of the last report, by `performance.now()`. */
  private outageReportedAt = -Infinity;

  private constructor(
    options: AgendaJobsOptions,
    client: MongoClient,
    repository: MongoJobRepository,
    hasStreams: boolean,
  ) {
    this.options = options;
    this.client = client;
    this.repository = repository;
    this.hasChangeStreams = hasStreams;
    const nothing = (): Promise<void> => Promise.resolve();
    this.backend = { name: 'MongoDB', repository, ownsConnection: false, connect: nothing, disconnect: nothing };
    this.interceptStates();
  }

  /** @throws LLMConnectionError if no server responds, LLMInvalidRequestError for an invalid URL */
  static async open(options: AgendaJobsOptions): Promise<AgendaJobs> {
    const client = options.createClient();
    try {
      const repository = new options.Repository({ mongo: client.db(), db: { collection: JOBS } });
      await repository.connect();
      await repository.collection.createIndex({ 'data.executionId': 1 });
      // Agenda 5 left them if it could not remove them. They are never due, and keep their runs from being added.
      await repository.collection.deleteMany({ name: RUN, nextRunAt: null, lockedAt: null });
      return new AgendaJobs(options, client, repository, await hasChangeStreams(client.db()));
    } catch (error) {
      await client.close();
      throw new LLMConnectionError('Could not connect to the MongoDB of the job queue.', { cause: error });
    }
  }

  /** Removes the jobs of runs. @returns how many there were */
  async remove(executionIds: readonly string[]): Promise<number> {
    const { collection } = this.repository;
    const { deletedCount } = await collection.deleteMany({ name: RUN, 'data.executionId': { $in: [...executionIds] } });
    return deletedCount;
  }

  /** Returns a job of the name. */
  async find(name: string): Promise<JobParameters | undefined> {
    const { jobs } = await this.repository.queryJobs({ name, limit: 1 });
    return jobs[0];
  }

  /** Makes the jobs of the name due now. @returns whether there are any */
  async makeDue(name: string): Promise<boolean> {
    const { collection } = this.repository;
    return (await collection.updateMany({ name }, { $set: { nextRunAt: new Date() } })).matchedCount > 0;
  }

  /** Locks a job that is due, or whose lock has expired. @returns undefined if there is none */
  lock(name: string): Promise<JobParameters | undefined> {
    const now = new Date();
    const deadline = new Date(now.getTime() - this.options.lockLifetime);
    return this.repository.getNextJobToRun(name, now, deadline, now, undefined);
  }

  /** Leaves a locked job that has not begun to other processes. */
  unlock(job: JobParameters): Promise<void> {
    return this.repository.unlockJob(job);
  }

  /** Returns the milliseconds until another look for jobs of the name, of which none is due. */
  async pauseOf(name: string): Promise<number> {
    const now = Date.now();
    const most = this.isReported ? REPORTED_POLL_MS : this.options.pollEvery;
    const next = await this.repository.collection.findOne(
      { name, lockedAt: null, nextRunAt: { $gte: new Date(0), $lte: new Date(now + most) } },
      { sort: { nextRunAt: 1 }, projection: { nextRunAt: 1 } },
    );
    return Math.max(0, Math.min(most, (next?.nextRunAt?.getTime() ?? Infinity) - now));
  }

  /** Listens to the server, if it can report jobs. @param onDue told of the name of jobs that may be due, if known */
  listen(onDue: (name: string | undefined) => void): void {
    if (!this.hasChangeStreams) return;
    const reported = (isReported: boolean): void => {
      this.isReported = isReported;
      onDue(undefined);
    };
    this.changes = new MongoChanges({
      database: () => this.client.db(),
      pipeline: [{ $match: { 'ns.coll': JOBS, $or: BECOMES_DUE } }, { $project: { 'fullDocument.name': 1 } }],
      onChange: ({ fullDocument }) => onDue((fullDocument as { readonly name?: string } | undefined)?.name),
      onOpen: () => reported(true),
      onClose: () => reported(false),
    });
  }

  async close(): Promise<void> {
    this.isClosed = true;
    this.changes?.stop();
    await this.client.close(true);
  }

  /** An outage of the database makes much fail: it is reported once a minute. */
  readonly report = (message: string, error: unknown): void => {
    const { logger } = this.options;
    if (!isOfConnection(error)) {
      logger.error(message, error);
      return;
    }
    if (error.name === 'MongoServerSelectionError') void this.reconnect();
    const now = performance.now();
    if (now - this.outageReportedAt < REPORT_EVERY_MS) return;
    this.outageReportedAt = now;
    logger.error(`The job queue cannot reach its database: ${error.message}`);
  };

  /** Replaces the client, which may not find its server any more after an outage, as that of the store may not. */
  private async reconnect(): Promise<void> {
    if (this.isReconnecting) return;
    this.isReconnecting = true;
    let unused = this.options.createClient();
    try {
      await connectMongo(unused);
      if (this.isClosed) return;
      [this.client, unused] = [unused, this.client];
      this.repository.collection = this.client.db().collection(JOBS);
    } catch (error) {
      this.report('The job queue could not connect again.', (error as Error).cause);
    } finally {
      this.isReconnecting = false;
      // Closing is not awaited: it may wait for a server that does not answer.
      unused.close(true).catch(() => undefined);
    }
  }

  /**
   * A failure to store a state is reported: the job is found again by its old lock. Agenda would not execute a job that
   * it cannot save. The collection is not sealed, so that the text of an error, which may quote what users wrote, is
   * kept out of it.
   */
  private interceptStates(): void {
    const { repository } = this;
    const save = repository.saveJobState.bind(repository);
    repository.saveJobState = async (job, options) => {
      const reason = job.failReason ? { failReason: FAIL_REASON } : {};
      try {
        // A job that has ended would keep its run from being added again.
        if (job.name === RUN && !job.lockedAt && !job.nextRunAt) await repository.removeJobs({ id: String(job._id) });
        else await save({ ...job, ...reason }, options);
      } catch (error) {
        // Agenda throws errors of its own for jobs that were removed meanwhile.
        if (error instanceof Error && error.name.startsWith('Mongo'))
          this.report(`Could not save the state of the job ${job.name}.`, error);
      }
    };
  }
}

/** Changes after which a job may be due. */
const BECOMES_DUE = [
  { operationType: 'insert' },
  { 'updateDescription.removedFields': 'lockedAt' },
  {
    'updateDescription.updatedFields.nextRunAt': { $type: 'date' },
    // A job that begins has both.
    'updateDescription.updatedFields.lastRunAt': { $exists: false },
  },
];

/** Tells errors of connections from those of commands, which are MongoServerErrors. */
function isOfConnection(error: unknown): error is Error {
  return error instanceof Error && error.name.startsWith('Mongo') && error.name !== 'MongoServerError';
}
