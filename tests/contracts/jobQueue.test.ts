/** The contract of the job queues: the one of a single process, and Agenda's, which servers may tell of new jobs. */
import { expect } from 'chai';
import { MongoClient } from 'mongodb';
import { stub, useFakeTimers } from 'sinon';
import type { SinonFakeTimers } from 'sinon';
import { LLMInvalidRequestError } from '../../imports/business/ai/domain/errors/LLMErrors';
import type { JobLimits, JobQueue, Schedule } from '../../imports/business/ai/domain/interfaces/JobQueue';
import { openAgendaQueue } from '../../imports/business/ai/infrastructure/jobs/AgendaJobQueue';
import { JOBS } from '../../imports/business/ai/infrastructure/jobs/AgendaJobs';
import { LocalJobQueue } from '../../imports/business/ai/infrastructure/jobs/LocalJobQueue';
import { SCHEDULES, ScheduleTimes } from '../../imports/business/ai/infrastructure/jobs/ScheduleTimes';
import type { ScheduleDocument } from '../../imports/business/ai/infrastructure/jobs/ScheduleTimes';
import { ManagedJobQueue } from '../../imports/business/ai/infrastructure/jobs/ManagedJobQueue';
import {
  DocumentJobStates,
  JOB_STATES,
} from '../../imports/business/ai/infrastructure/persistence/jobs/DocumentJobStates';
import type { JobStateDocument } from '../../imports/business/ai/infrastructure/persistence/jobs/DocumentJobStates';
import type { ScheduleRun } from '../../imports/business/ai/domain/types/QueueViews';
import { MeteorDatabase } from '../../imports/database/meteor/MeteorDatabase';
import { resetMeteor } from '../stubs/server/registry';
import { deferred } from '../support/deferred';
import { failure } from '../support/failure';
import { startTestMongo } from '../support/startTestMongo';
import type { TestMongo } from '../support/startTestMongo';
import { RecordingLogger } from '../support/RecordingLogger';
import { itInSoak } from '../support/soak';
import { until } from '../support/until';
import { inFlowingTime } from '../support/VirtualTime';
import { METEOR_PACKAGES } from '../meteor/meteorPackages';

interface Made {
  readonly queue: JobQueue;
  readonly logger: RecordingLogger;
}

/** How many runs are added shortly before they are due. */
const MOMENTS = 20_000;

let mongo: TestMongo;
/** It has change streams. */
let replicaSet: TestMongo;
const openAgenda = async ({ url }: TestMongo, limits: Partial<JobLimits>): Promise<Made> => {
  const logger = new RecordingLogger();
  return { queue: await openAgendaQueue({ url, pollEvery: 20, retryDelay: 1, ...limits, logger }), logger };
};
const QUEUES: Readonly<Record<string, (limits: Partial<JobLimits>) => Promise<Made>>> = {
  'in one process': (limits) => {
    const logger = new RecordingLogger();
    return Promise.resolve({ queue: new LocalJobQueue({ retryDelay: 1, ...limits, logger }), logger });
  },
  'by Agenda': (limits) => openAgenda(mongo, limits),
  'by Agenda, with change streams': (limits) => openAgenda(replicaSet, limits),
};

/** Records executions in order of start, and lets a test wait for a number of them. */
class Tally {
  readonly seen: string[] = [];
  private readonly waits: { readonly count: number; readonly resolve: () => void }[] = [];

  readonly note = (what: string): Promise<void> => {
    this.seen.push(what);
    for (const { count, resolve } of this.waits) if (this.seen.length >= count) resolve();
    return Promise.resolve();
  };

  async reached(count: number): Promise<readonly string[]> {
    const { promise, resolve } = deferred();
    this.waits.push({ count, resolve });
    if (this.seen.length < count) await promise;
    return this.seen;
  }
}

before(async () => {
  [mongo, replicaSet] = await Promise.all([startTestMongo(), startTestMongo({ replicaSet: true })]);
});
after(() => Promise.all([mongo.stop(), replicaSet.stop()]));

async function dropDatabases(): Promise<void> {
  for (const { url } of [mongo, replicaSet]) {
    const client = await MongoClient.connect(url);
    await client.db().dropDatabase();
    await client.close();
  }
}

for (const [name, open] of Object.entries(QUEUES)) {
  describe(
    `jobs ${name}`,
    inFlowingTime(() => {
      const made: Made[] = [];
      const make = async (limits: Partial<JobLimits> = {}): Promise<Made> => {
        const one = await open(limits);
        made.push(one);
        return one;
      };
      afterEach(async () => {
        for (const { queue } of made.splice(0)) await queue.stop();
        await dropDatabases();
      });

      it('are executed once each, including those added before the start', async () => {
        const { queue } = await make();
        const tally = new Tally();
        await queue.add('a');
        await queue.add('a');
        await queue.start(tally.note);
        await queue.add('b');
        expect([...(await tally.reached(2))].sort()).to.deep.equal(['a', 'b']);
        await queue.add('c');
        expect(await tally.reached(3)).to.include('c');
      });

      it('never exceed the concurrency limit', async () => {
        const { queue } = await make({ concurrency: 3 });
        let active = 0;
        let most = 0;
        const tally = new Tally();
        const three = deferred();
        await queue.start(async (executionId) => {
          active += 1;
          most = Math.max(most, active);
          if (active === 3) three.resolve();
          await three.promise;
          active -= 1;
          await tally.note(executionId);
        });
        await Promise.all(Array.from({ length: 12 }, (_value, index) => queue.add(`run-${index}`)));
        expect(new Set(await tally.reached(12)).size).to.equal(12);
        expect(most).to.equal(3);
      });

      it('wait for their due time', async () => {
        const { queue } = await make();
        const tally = new Tally();
        const due = Date.now() + 120;
        let started = 0;
        await queue.add('later', due);
        await queue.add('now');
        await queue.start((executionId) => {
          if (executionId === 'later') started = Date.now();
          return tally.note(executionId);
        });
        expect(await tally.reached(2)).to.deep.equal(['now', 'later']);
        expect(started).to.be.at.least(due);
      });

      it('are removed while they wait, and can be added again', async () => {
        const { queue } = await make();
        const tally = new Tally();
        const later = Date.now() + 3_600_000;
        await queue.add('a', later);
        await queue.add('b', later);
        await queue.start(tally.note);
        expect(await queue.remove(['a', 'unknown'])).to.equal(1);
        expect(await queue.remove(['a'])).to.equal(0);
        expect(await queue.remove([])).to.equal(0);
        await queue.add('a');
        expect(await tally.reached(1)).to.deep.equal(['a']);
      });

      it('are retried when they reject, and given up after the last attempt', async () => {
        const { queue, logger } = await make({ retries: 2 });
        const tally = new Tally();
        const givenUp = deferred();
        logger.error = (message) => {
          logger.errors.push(message);
          givenUp.resolve();
        };
        let failures = 0;
        await queue.start(async (executionId) => {
          await tally.note(executionId);
          if (executionId === 'bad' || (failures += 1) < 2) throw new Error('no database');
        });
        await queue.add('bad');
        await queue.add('shaky');
        await givenUp.promise;
        const seen = await tally.reached(5);
        expect(seen.filter((one) => one === 'bad')).to.have.length(3);
        expect(seen.filter((one) => one === 'shaky')).to.have.length(2);
        expect(logger.errors).to.deep.equal(['The run bad failed after 3 attempts.']);
      });

      it('end before the queue has stopped, and none starts afterwards', async () => {
        const { queue } = await make({ concurrency: 1 });
        const [started, mayEnd] = [deferred(), deferred()];
        const tally = new Tally();
        await queue.start(async (executionId) => {
          started.resolve();
          await mayEnd.promise;
          await tally.note(executionId);
        });
        await queue.add('first');
        await started.promise;
        await queue.add('second');
        let hasStopped = false;
        const stopped = queue.stop().then(() => (hasStopped = true));
        await new Promise(setImmediate);
        expect(hasStopped).to.equal(false);
        mayEnd.resolve();
        await stopped;
        expect(tally.seen).to.deep.equal(['first']);
      });

      for (const [fault, schedule] of Object.entries({
        'a word': { name: 'x', cron: 'sometimes' },
        seconds: { name: 'x', cron: '* * * * * *' },
        'a day that never comes': { name: 'x', cron: '0 0 31 2 *' },
        'a time zone that there is not': { name: 'x', cron: '0 3 * * *', timezone: 'Europe/Atlantis' },
        'a name with blanks': { name: 'x y', cron: '0 3 * * *' },
      })) {
        it(`refuse ${fault} for a schedule`, async () => {
          const { queue } = await make();
          expect(await failure(queue.schedule(schedule, () => Promise.resolve()))).to.be.instanceOf(
            LLMInvalidRequestError,
          );
        });
      }
    }),
  );
}

for (const [name, open] of Object.entries(QUEUES)) {
  describe(
    `a queue ${name} under people's control`,
    inFlowingTime(() => {
      const hourly = { name: 'hourly', cron: '0 * * * *', timezone: 'Europe/Berlin' };
      let collection: ReturnType<typeof openStates>;
      const made: ManagedJobQueue[] = [];
      const openStates = () => new MeteorDatabase(METEOR_PACKAGES).collection<JobStateDocument>(JOB_STATES);
      /** A process. */
      const make = async (limits: Partial<JobLimits> = {}): Promise<ManagedJobQueue> => {
        const { queue, logger } = await open(limits);
        const managed = new ManagedJobQueue(queue, new DocumentJobStates(collection), { pollEvery: 5, logger });
        made.push(managed);
        return managed;
      };
      beforeEach(() => {
        resetMeteor();
        collection = openStates();
      });
      afterEach(async () => {
        for (const queue of made.splice(0)) await queue.stop();
        await dropDatabases();
        resetMeteor();
      });

      it('starts no run while it is paused, and all of them afterwards', async () => {
        const queue = await make();
        const tally = new Tally();
        await queue.pause('root');
        await queue.start(tally.note);
        const asked = waitForPause(collection);
        await queue.add('a');
        await asked;
        expect(await queue.status()).to.deep.include({ running: 0, concurrency: 8 });
        expect((await queue.status()).paused).to.include({ by: 'root' });
        expect(tally.seen).to.deep.equal([]);
        await queue.resume();
        expect(await tally.reached(1)).to.deep.equal(['a']);
        expect(await queue.status()).not.to.have.property('paused');
      });

      it('finishes the runs that were in progress', async () => {
        const queue = await make();
        const [started, mayEnd, ended] = [deferred(), deferred(), deferred()];
        await queue.start(async () => {
          started.resolve();
          await mayEnd.promise;
          ended.resolve();
        });
        await queue.add('a');
        await started.promise;
        await queue.pause('root');
        expect((await queue.status()).running).to.equal(1);
        mayEnd.resolve();
        await ended.promise;
      });

      it('is paused in other processes and after a restart, and resumed from any of them', async () => {
        const first = await make();
        await first.pause('root');
        await first.stop();
        const [second, third] = [await make(), await make()];
        const tally = new Tally();
        await second.start(tally.note);
        const asked = waitForPause(collection);
        await second.add('a');
        await asked;
        expect((await third.status()).paused).to.include({ by: 'root' });
        await third.resume();
        expect(await tally.reached(1)).to.deep.equal(['a']);
      });

      it('stops while a pause holds runs back', async () => {
        const queue = await make();
        const tally = new Tally();
        await queue.pause('root');
        await queue.start(tally.note);
        const asked = waitForPause(collection);
        await queue.add('a');
        await asked;
        await queue.stop();
        expect(tally.seen).to.deep.equal([]);
      });

      it('lists its schedules, and records how their tasks went', async () => {
        const queue = await make({ retries: 0 });
        const tally = new Tally();
        let failing = true;
        await queue.schedule(hourly, async () => {
          await tally.note('hourly');
          if (failing) throw new Error('The report is missing.');
        });
        await queue.start(() => Promise.resolve());
        const [planned] = await queue.schedules();
        expect(planned).to.include({ ...hourly, isRegisteredHere: true });
        expect(planned?.nextRunAt).to.be.within(Date.now(), Date.now() + 3_600_000);
        expect(planned).not.to.have.property('lastRun');
        expect(await queue.triggerSchedule('hourly')).to.equal(true);
        await tally.reached(1);
        const failed = await untilRan(queue);
        expect(failed).to.include({ error: 'The report is missing.' });
        failing = false;
        await untilTriggered(queue, tally, 2);
        const succeeded = await untilRan(
          queue,
          (run) => run.startedAt >= (failed.endedAt ?? 0) && run.error === undefined,
        );
        expect(succeeded).not.to.have.property('error');
        expect(await queue.triggerSchedule('weekly')).to.equal(false);
      });

      it('skips the times of a paused schedule, and still runs it on request', async () => {
        const queue = await make();
        const tally = new Tally();
        await queue.schedule(hourly, () => tally.note('hourly'));
        await queue.start(() => Promise.resolve());
        expect(await queue.pauseSchedule('hourly', 'root')).to.equal(true);
        expect(await queue.pauseSchedule('weekly', 'root')).to.equal(false);
        const [paused] = await queue.schedules();
        expect(paused?.paused).to.include({ by: 'root' });
        expect(paused).not.to.have.property('nextRunAt');
        // The request makes the queue look for a pause, as the scheduled time would.
        const asked = waitForPause(collection);
        await queue.trigger('hourly');
        await asked;
        await untilTriggered(queue, tally, 1);
        expect(tally.seen).to.have.length(1);
        expect(await queue.resumeSchedule('hourly')).to.equal(true);
        expect((await queue.schedules())[0]).not.to.have.property('paused');
      });
    }),
  );
}

type States = ReturnType<MeteorDatabase['collection']>;

/** Resolves when the queue has read whether it, or a task, is paused. */
function waitForPause(collection: States): Promise<void> {
  const read = deferred();
  const findOne = collection.findOne.bind(collection);
  collection.findOne = async (selector) => {
    const found = await findOne(selector);
    collection.findOne = findOne;
    read.resolve();
    return found;
  };
  return read.promise;
}

async function untilRan(
  queue: ManagedJobQueue,
  isExpected: (run: ScheduleRun) => boolean = () => true,
): Promise<ScheduleRun> {
  let last: ScheduleRun | undefined;
  await until(async () => {
    last = (await queue.schedules())[0]?.lastRun;
    return last?.endedAt !== undefined && isExpected(last);
  });
  return last!;
}

/** Agenda ignores a trigger while it finishes the last execution. */
async function untilTriggered(queue: ManagedJobQueue, tally: Tally, count: number): Promise<void> {
  await until(async () => {
    if (tally.seen.length < count) await queue.triggerSchedule('hourly');
    return tally.seen.length >= count;
  });
}

describe('jobs in one process, shortly before they are due', () => {
  it('are executed once they are due, if a timer fires early or the time passes while it is set', async () => {
    const clock = useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'Date'] });
    try {
      const queue = new LocalJobQueue({ concurrency: 10, logger: new RecordingLogger() });
      const tally = new Tally();
      await queue.start(tally.note);
      await queue.add('early', Date.now() + 3);
      // The timer goes on as it was set.
      clock.setSystemTime(Date.now() - 1);
      await clock.tickAsync(3);
      expect(tally.seen).to.deep.equal([]);
      await clock.tickAsync(1);
      expect(tally.seen).to.deep.equal(['early']);
      const startedAt = Date.now();
      let looks = 0;
      const now = stub(Date, 'now').callsFake(() => startedAt + looks++);
      for (const ahead of [0, 1, 2, 3]) await queue.add(`in ${ahead}`, startedAt + looks + ahead);
      now.restore();
      await clock.tickAsync(10);
      expect(tally.seen.slice(1).toSorted()).to.deep.equal(['in 0', 'in 1', 'in 2', 'in 3']);
      await queue.stop();
    } finally {
      clock.restore();
    }
  });

  itInSoak('are all executed, even if a timer fires early or the time passes while it is set', async () => {
    const queue = new LocalJobQueue({ concurrency: 10, logger: new RecordingLogger() });
    const tally = new Tally();
    await queue.start(tally.note);
    for (let run = 0; run < MOMENTS; run += 1) {
      await queue.add(`run-${run}`, Date.now() + 1 + (run % 3));
      if (run % 100 === 0) await new Promise(setImmediate);
    }
    expect(new Set(await tally.reached(MOMENTS)).size).to.equal(MOMENTS);
    await queue.stop();
  });
});

describe('schedules in one process', () => {
  it('run at their times, in their time zone, without overlapping', async () => {
    const evening = Date.UTC(2026, 10, 22, 1, 59, 50);
    const clock = useFakeTimers({ now: evening, toFake: ['setTimeout', 'clearTimeout', 'Date'] });
    /** Around three o'clock in Berlin, and around four; the hours between hold nothing. */
    const night = async (day: number): Promise<void> => {
      for (const hour of [0, 1]) {
        clock.setSystemTime(evening + day * 86_400_000 + hour * 3_600_000);
        await clock.tickAsync(60_000);
      }
    };
    const queue = new LocalJobQueue({ logger: new RecordingLogger() });
    try {
      const at: string[] = [];
      await queue.schedule({ name: 'nightly', cron: '0 3 * * *', timezone: 'Europe/Berlin' }, () =>
        Promise.resolve(void at.push(new Date().toISOString())),
      );
      await queue.start(() => Promise.resolve());
      for (const day of [0, 1, 2]) await night(day);
      expect(at).to.deep.equal(['2026-11-22T02:00:00.000Z', '2026-11-23T02:00:00.000Z', '2026-11-24T02:00:00.000Z']);
      await queue.schedule({ name: 'nightly', cron: '0 4 * * *', timezone: 'Europe/Berlin' }, () =>
        Promise.resolve(void at.push('anew')),
      );
      await night(3);
      expect(at.slice(3)).to.deep.equal(['anew']);
    } finally {
      await queue.stop();
      clock.restore();
    }
  });
});

describe('schedules in one process that records their occurrences', () => {
  const nightly = { name: 'nightly', cron: '0 3 * * *' };
  const HOUR = 3_600_000;
  const evening = Date.UTC(2026, 10, 22, 22);
  let clock: SinonFakeTimers;
  let times: ScheduleTimes;
  let done: string[];
  const queues: LocalJobQueue[] = [];

  beforeEach(() => {
    resetMeteor();
    clock = useFakeTimers({ now: evening, toFake: ['setTimeout', 'clearTimeout', 'Date'] });
    times = new ScheduleTimes(new MeteorDatabase(METEOR_PACKAGES).collection<ScheduleDocument>(SCHEDULES));
    done = [];
  });
  afterEach(async () => {
    await Promise.all(queues.splice(0).map((queue) => queue.stop()));
    clock.restore();
    resetMeteor();
  });

  const task = (): Promise<void> => Promise.resolve(void done.push(new Date().toISOString()));
  /** One lifetime of the process, which schedules before or after it starts. */
  const live = async (
    planned: 'before' | 'after' = 'before',
    work = task,
    schedule: Schedule = nightly,
    logger = new RecordingLogger(),
  ): Promise<LocalJobQueue> => {
    const queue = new LocalJobQueue({ times, logger, retries: 1, retryDelay: 1_000 });
    queues.push(queue);
    if (planned === 'before') await queue.schedule(schedule, work);
    await queue.start(() => Promise.resolve());
    if (planned === 'after') await queue.schedule(schedule, work);
    await clock.tickAsync(10);
    return queue;
  };
  const sleep = (milliseconds: number): void => clock.setSystemTime(Date.now() + milliseconds);

  for (const planned of ['before', 'after'] as const) {
    it(`run once if any number of occurrences passed while no process ran, planned ${planned} the start`, async () => {
      await (await live(planned)).stop();
      expect(done).to.deep.equal([]);
      sleep(80 * HOUR);
      const late = await live(planned);
      expect(done).to.have.length(1);
      await late.stop();
      // The missed occurrence has run.
      await (await live(planned)).stop();
      expect(done).to.have.length(1);
      sleep(24 * HOUR);
      await live(planned);
      expect(done).to.have.length(2);
    });
  }

  it('run at their times, and missed occurrences are not repeated later', async () => {
    const queue = await live();
    sleep(5 * HOUR - 30_000);
    await clock.tickAsync(60_000);
    expect(done).to.deep.equal(['2026-11-23T03:00:00.000Z']);
    await queue.stop();
    sleep(HOUR);
    await live();
    expect(done).to.have.length(1);
  });

  it('run again if the process ended while they ran', async () => {
    await (await live()).stop();
    sleep(6 * HOUR);
    const started = deferred();
    const mayEnd = deferred();
    // A killed process reports nothing.
    void live('before', () => (started.resolve(), mayEnd.promise)).catch(() => undefined);
    await started.promise;
    await live();
    expect(done).to.have.length(1);
    mayEnd.resolve();
  });

  it('are left to the next start if the queue stops between two attempts, but not if they were given up', async () => {
    await (await live()).stop();
    sleep(6 * HOUR);
    let attempts = 0;
    const failing = (): Promise<void> => Promise.reject(new Error(`attempt ${(attempts += 1)}`));
    const stopped = await live('before', failing);
    await stopped.stop();
    expect(attempts).to.equal(1);
    const givenUp = await live('before', failing);
    await clock.tickAsync(2_000);
    await givenUp.stop();
    expect(attempts).to.equal(3);
    await live();
    expect(done).to.deep.equal([]);
  });

  it('drop a missed occurrence when their times change', async () => {
    await (await live()).stop();
    sleep(6 * HOUR);
    await live('before', task, { ...nightly, cron: '30 3 * * *' });
    expect(done).to.deep.equal([]);
  });

  it('run at their times even if the store fails', async () => {
    const logger = new RecordingLogger();
    times = {
      next: () => Promise.reject(new Error('no store')),
      keep: () => Promise.reject(new Error('no store')),
    } as unknown as ScheduleTimes;
    await live('before', task, nightly, logger);
    sleep(5 * HOUR - 30_000);
    await clock.tickAsync(60_000);
    expect(done).to.have.length(1);
    expect(logger.warnings).to.have.length(2);
  });
});

describe(
  'schedules by Agenda',
  inFlowingTime(() => {
    const openAll = async (count: number): Promise<readonly JobQueue[]> => {
      await Promise.resolve();
      return Promise.all(
        Array.from({ length: count }, () =>
          openAgendaQueue({ url: mongo.url, pollEvery: 20, logger: new RecordingLogger() }),
        ),
      );
    };
    const withJobs = async <T>(use: (jobs: import('mongodb').Collection) => Promise<T>): Promise<T> => {
      const client = await MongoClient.connect(mongo.url);
      const result = await use(client.db().collection(JOBS));
      await client.close();
      return result;
    };
    afterEach(() => withJobs((jobs) => jobs.deleteMany({})));

    it('run once, in one of the processes that scheduled them, also if their time passed while no process ran', async () => {
      const queues = await openAll(3);
      const tally = new Tally();
      const schedule = { name: 'nightly', cron: '0 3 * * *', timezone: 'Europe/Berlin' };
      const plan = (): Promise<unknown> =>
        Promise.all(queues.map((queue, index) => queue.schedule(schedule, () => tally.note(`by ${index}`))));
      await plan();
      const missed = new Date(Date.now() - 3_600_000);
      await withJobs(async (jobs) => {
        expect(await jobs.countDocuments()).to.equal(1);
        await jobs.updateOne({}, { $set: { nextRunAt: missed } });
      });
      await plan();
      await Promise.all(queues.map((queue) => queue.start(() => Promise.resolve())));
      await tally.reached(1);
      await Promise.all(queues.map((queue) => queue.stop()));
      expect(tally.seen).to.have.length(1);
      const [job] = await withJobs((jobs) => jobs.find().toArray());
      expect((job?.['nextRunAt'] as Date).getTime()).to.be.above(Date.now());
    });

    it('store no error text, which may quote what a task was working on', async () => {
      const [queue] = await openAll(1);
      let failures = 0;
      await queue!.schedule({ name: 'failing', cron: '0 3 * * *' }, () => {
        failures += 1;
        return Promise.reject(new Error('Could not send "the secret of ann".'));
      });
      await queue!.start(() => Promise.resolve());
      await queue!.trigger('failing');
      const read = (): Promise<readonly Readonly<Record<string, unknown>>[]> =>
        withJobs((jobs) => jobs.find().toArray());
      await until(async () => failures > 0 && (await read())[0]?.['failCount'] !== undefined);
      await queue!.stop();
      const [job] = await read();
      expect(job).to.have.property('failReason', 'The error is in the log of the server.');
      expect(JSON.stringify(job)).not.to.include('ann');
    });
  }),
);
