/** Which jobs Agenda takes from a MongoDB, and when: what holds of no other queue. */
import * as agenda from 'agenda';
import { MongoJobRepository } from '@agendajs/mongo-backend';
import { expect } from 'chai';
import { Db, MongoClient } from 'mongodb';
import sinon from 'sinon';
import { DEFAULT_JOB_LIMITS } from '../../imports/business/ai/domain/interfaces/JobQueue';
import type { JobLimits } from '../../imports/business/ai/domain/interfaces/JobQueue';
import { AgendaJobQueue } from '../../imports/business/ai/infrastructure/jobs/AgendaJobQueue';
import { AgendaJobs, JOBS, RUN } from '../../imports/business/ai/infrastructure/jobs/AgendaJobs';
import type { AgendaJobsOptions } from '../../imports/business/ai/infrastructure/jobs/AgendaJobs';
import { deferred } from '../support/deferred';
import { RecordingLogger } from '../support/RecordingLogger';
import { startTestMongo } from '../support/startTestMongo';
import type { TestMongo } from '../support/startTestMongo';
import { StoreProxy } from '../support/StoreProxy';
import { until } from '../support/until';
import { inFlowingTime } from '../support/VirtualTime';
import type { VirtualTime } from '../support/VirtualTime';

const HOUR = 3_600_000;
/** Milliseconds of flowing time for twenty turns of the event loop. */
const STEP = 20;

interface Process {
  readonly queue: AgendaJobQueue;
  readonly logger: RecordingLogger;
  /** Names of the commands that it has sent to the database, without those of its connections. */
  readonly commands: string[];
}

type Options = Partial<JobLimits> & Partial<Pick<AgendaJobsOptions, 'createClient' | 'pollEvery' | 'lockLifetime'>>;

describe(
  'jobs by Agenda',
  inFlowingTime((time: Pick<VirtualTime, 'after'>) => {
    let standalone: TestMongo;
    let replicaSet: TestMongo;
    let watch: sinon.SinonStub<Parameters<Db['watch']>, ReturnType<Db['watch']>> | undefined;
    const processes: Process[] = [];
    before(async () => {
      [standalone, replicaSet] = await Promise.all([startTestMongo(), startTestMongo({ replicaSet: true })]);
    });
    after(() => Promise.all([standalone.stop(), replicaSet.stop()]));
    afterEach(async () => {
      for (const { queue } of processes.splice(0)) await queue.stop();
      for (const mongo of [standalone, replicaSet]) await withJobs(mongo, (jobs) => jobs.deleteMany({}));
      watch?.restore();
    });

    const open = async ({ url }: Pick<TestMongo, 'url'>, options: Options = {}): Promise<Process> => {
      const { pollEvery = 1_000, lockLifetime = 30_000, ...limits } = { ...DEFAULT_JOB_LIMITS, ...options };
      const logger = new RecordingLogger();
      const commands: string[] = [];
      const createClient = (): MongoClient =>
        new MongoClient(url, { monitorCommands: true }).on('commandStarted', ({ commandName }) =>
          commands.push(commandName),
        );
      const jobs = await AgendaJobs.open({
        createClient,
        Repository: MongoJobRepository,
        pollEvery,
        lockLifetime,
        logger,
        ...options,
      });
      const queue = new AgendaJobQueue(agenda, jobs, { ...limits, pollEvery, lockLifetime, logger });
      processes.push({ queue, logger, commands });
      return { queue, logger, commands };
    };
    const working = async ({ queue }: Process): Promise<readonly string[]> => {
      const done: string[] = [];
      await queue.start((executionId) => Promise.resolve(void done.push(executionId)));
      return done;
    };
    const looksOf = ({ commands }: Process): number => commands.filter((name) => name === 'findAndModify').length;

    it('start at once in another process if the server reports them', async () => {
      const worker = await open(replicaSet, { pollEvery: HOUR });
      const done = await working(worker);
      await until(() => worker.commands.includes('getMore'));
      await (await open(replicaSet)).queue.add('a');
      const added = Date.now();
      await until(() => done.length > 0);
      // Not by a look after ten seconds.
      expect(Date.now() - added).to.be.at.most(1_000);
      expect(worker.logger.errors).to.deep.equal([]);
    });

    it('are looked for once in ten seconds if the server reports them, and each second if not', async () => {
      const looks: number[] = [];
      for (const mongo of [replicaSet, standalone]) {
        const worker = await open(mongo);
        await working(worker);
        await time.after(2_000);
        const before = looksOf(worker);
        await time.after(12_000);
        looks.push(looksOf(worker) - before);
        expect(worker.logger.errors).to.deep.equal([]);
      }
      expect(looks[0]).to.be.within(1, 2);
      expect(looks[1]).to.be.within(9, 13);
    });

    it('start at their time if the server reports them', async () => {
      const worker = await open(replicaSet);
      const started = deferred<number>();
      await worker.queue.start(() => {
        started.resolve(Date.now());
        return Promise.resolve();
      });
      await until(() => worker.commands.includes('getMore'));
      await time.after(2_000);
      const due = Date.now() + 5_000;
      await worker.queue.add('a', due);
      expect(await started.promise).to.be.within(due, due + 500);
    });

    it('start at once in the process that adds them, and where one has ended, whatever the server', async () => {
      const worker = await open(standalone, { pollEvery: HOUR, concurrency: 1 });
      const done = await working(worker);
      await Promise.all(['a', 'b', 'c'].map((id) => worker.queue.add(id)));
      await until(() => done.length === 3);
    });

    it('are polled while a server that has change streams refuses them', async () => {
      const other = await MongoClient.connect(standalone.url);
      const stub = sinon.stub(Db.prototype, 'watch');
      stub.callsFake((...given) => stub.wrappedMethod.apply(other.db(), given));
      watch = stub;
      const worker = await open(replicaSet);
      const done = await working(worker);
      await until(() => stub.callCount > 2);
      await (await open(replicaSet)).queue.add('a');
      const added = Date.now();
      await until(() => done.length > 0);
      expect(Date.now() - added).to.be.at.most(2_000);
      expect(worker.logger.errors).to.deep.equal([]);
      await worker.queue.stop();
      await other.close();
    });

    it('of Agenda 5 go on: those that wait, those of killed processes, and schedules of both kinds', async () => {
      const common = { data: { executionId: '' }, priority: 0, type: 'normal', lastModifiedBy: null };
      const run = (executionId: string, rest: object): object => ({
        ...common,
        name: RUN,
        data: { executionId },
        ...rest,
      });
      const task = (name: string, rest: object): object => ({
        ...common,
        name: `task:${name}`,
        type: 'single',
        data: undefined,
        repeatInterval: '0 3 * * *',
        repeatTimezone: 'UTC',
        ...rest,
      });
      const long = new Date(Date.now() - HOUR);
      await withJobs(standalone, async (jobs) => {
        // Agenda 5.0 creates this index.
        await jobs.createIndex(
          { name: 1, nextRunAt: 1, priority: -1, lockedAt: 1, disabled: 1 },
          { name: 'findAndLockNextJobIndex' },
        );
        await jobs.insertMany([
          run('waits', { nextRunAt: long }),
          run('waits longer', { nextRunAt: new Date(Date.now() + HOUR) }),
          run('was killed', { nextRunAt: null, lastRunAt: long, lockedAt: long }),
          run('was not removed', { nextRunAt: null, lastRunAt: long, lockedAt: null, lastFinishedAt: long }),
          task('nightly', { nextRunAt: long }),
          // This schedule was running when its process was killed.
          task('weekly', { nextRunAt: new Date(Date.now() + HOUR), lastRunAt: long, lockedAt: long }),
        ]);
      });
      const worker = await open(standalone);
      const done: string[] = [];
      const note = (what: string): Promise<void> => Promise.resolve(void done.push(what));
      for (const name of ['nightly', 'weekly'])
        await worker.queue.schedule({ name, cron: '0 3 * * *' }, () => note(name));
      for (const id of ['waits', 'waits longer', 'was not removed']) await worker.queue.add(id);
      await worker.queue.start(note);
      await until(() => done.length === 5);
      expect([...done].sort()).to.deep.equal(['nightly', 'waits', 'was killed', 'was not removed', 'weekly']);
      await worker.queue.stop();
      const left = await withJobs(standalone, (jobs) => jobs.find().toArray());
      expect(left.map(({ name }) => name as string).sort()).to.deep.equal([RUN, 'task:nightly', 'task:weekly']);
    });

    it('that a process looks for while it stops are left to others', async () => {
      const proxy = await StoreProxy.start(standalone.url);
      const worker = await open(proxy);
      const done = await working(worker);
      const before = looksOf(worker);
      await (await open(standalone)).queue.add('a');
      proxy.delayMs = 100;
      await until(() => looksOf(worker) > before);
      await worker.queue.stop();
      const [job] = await withJobs(standalone, (jobs) => jobs.find().toArray());
      expect(done).to.deep.equal([]);
      expect(job?.['lockedAt'] ?? null).to.equal(null);
      await proxy.stop();
    });

    it('are found through a new client if the old one finds its server no more', async () => {
      const [lost, alive] = await Promise.all([StoreProxy.start(standalone.url), StoreProxy.start(standalone.url)]);
      const urls = [lost.url, alive.url];
      const worker = await open(standalone, {
        createClient: () => new MongoClient(urls.shift() ?? alive.url, { serverSelectionTimeoutMS: 200 }),
      });
      const done = await working(worker);
      await lost.begin('cut');
      await (await open(standalone)).queue.add('a');
      await until(() => done.length > 0);
      await worker.queue.stop();
      await Promise.all([lost.stop(), alive.stop()]);
    });
  }, STEP),
);

async function withJobs<T>({ url }: TestMongo, use: (jobs: import('mongodb').Collection) => Promise<T>): Promise<T> {
  const client = await MongoClient.connect(url);
  try {
    return await use(client.db().collection(JOBS));
  } finally {
    await client.close();
  }
}
