/** Jobs of the server's own code run once, are retried, and end with a call of their handler in one process. */
import { expect } from 'chai';
import { createAIModule } from '../../imports/business/ai/infrastructure/factories/createAIModule';
import type { AIModule } from '../../imports/business/ai/infrastructure/factories/createAIModule';
import { LocalJobQueue } from '../../imports/business/ai/infrastructure/jobs/LocalJobQueue';
import { ManagedJobQueue } from '../../imports/business/ai/infrastructure/jobs/ManagedJobQueue';
import {
  DocumentJobStates,
  JOB_STATES,
} from '../../imports/business/ai/infrastructure/persistence/jobs/DocumentJobStates';
import type { JobStateDocument } from '../../imports/business/ai/infrastructure/persistence/jobs/DocumentJobStates';
import { openRunStore } from '../../imports/business/ai/infrastructure/persistence/runs/DocumentRunStore';
import { ServerJobs } from '../../imports/business/jobs/application/ServerJobs';
import type { JobDefinition } from '../../imports/business/jobs/application/ServerJobs';
import type { ServerJobStore } from '../../imports/business/jobs/domain/ServerJobStore';
import { openServerJobs, SERVER_JOBS } from '../../imports/business/jobs/infrastructure/DocumentServerJobs';
import { startSimulator } from '../../imports/simulator/startSimulator';
import type { Simulator } from '../../imports/simulator/Simulator';
import { QUICK_DATABASES } from '../support/documentDatabases';
import type { TestDatabase } from '../support/documentDatabases';
import { failure } from '../support/failure';
import { RecordingLogger } from '../support/RecordingLogger';
import { until } from '../support/until';
import { VirtualTime } from '../support/VirtualTime';

interface Process {
  readonly jobs: ServerJobs;
  readonly queue: ManagedJobQueue;
  readonly module: AIModule;
  readonly logger: RecordingLogger;
}

interface City {
  readonly city: string;
}

for (const [database, open] of Object.entries(QUICK_DATABASES))
  describe(`jobs of the server in ${database}`, () => {
    let time: VirtualTime;
    let simulator: Simulator;
    let opened: TestDatabase;
    let store: ServerJobStore;
    /** What handlers were told, in the order of their calls. */
    let reports: string[];
    const processes: Process[] = [];
    beforeEach(async () => {
      time = VirtualTime.startFlowing(1_000);
      simulator = await startSimulator();
      opened = await open();
      store = await openServerJobs(opened.database);
      reports = [];
    });
    afterEach(async () => {
      try {
        for (const { jobs, module } of processes.splice(0)) {
          jobs.stop();
          await module.close();
        }
        await simulator.close();
        await opened.close();
      } finally {
        time.stop();
      }
    });

    const startProcess = async (): Promise<Process> => {
      const logger = new RecordingLogger();
      const states = new DocumentJobStates(opened.database.collection<JobStateDocument>(JOB_STATES));
      const queue = new ManagedJobQueue(new LocalJobQueue({ logger }), states, { logger });
      const provider = { vendor: 'openai' as const, apiKey: 'k', allowPrivateHosts: true };
      const module = createAIModule(
        { providers: [{ ...provider, baseURL: simulator.baseURL('openai') }] },
        { logger, jobs: queue, runs: await openRunStore(opened.database) },
      );
      const { loop, useCases } = module;
      const jobs = new ServerJobs({ store, loop, queueRun: useCases.queueRun, queue, logger });
      module.recovery.add(jobs);
      await module.queue.start();
      const made = { jobs, queue, module, logger };
      processes.push(made);
      return made;
    };
    const weather = (name: string, more: Partial<JobDefinition<City>> = {}): JobDefinition<City> => ({
      name: 'weather',
      run: ({ city }) => ({ userId: 'nightly', providerId: 'openai', input: `Echo ${city}` }),
      onComplete: ({ data, attempts }, { output_text }) =>
        void reports.push(`${name}: ${data.city}, ${output_text.slice(-12)}, ${attempts}`),
      onFailed: ({ attempts }, { code }) => void reports.push(`${name}: ${code}, ${attempts}`),
      ...more,
    });
    const documents = () => opened.database.collection<{ _id: string; work?: string }>(SERVER_JOBS).find({});

    it('report their result to a handler, and keep nothing of their content', async () => {
      const { jobs } = await startProcess();
      const job = jobs.define(weather('a'));
      const { executionId } = await jobs.enqueue(job, { city: 'Lisbon' });
      expect(executionId).to.be.a('string');
      await until(async () => (await documents()).every(({ work }) => work === undefined));
      expect(reports).to.deep.equal(['a: Lisbon, cho Lisbon”., 1']);
    });

    it('are one for each key, also in several processes, and for calls after their end', async () => {
      const [a, b] = [await startProcess(), await startProcess()];
      const jobs = [a, b].map((each, index) => ({ each, job: each.jobs.define(weather('ab'.charAt(index))) }));
      const enqueueAll = () =>
        Promise.all(jobs.map(({ each, job }) => each.jobs.enqueue(job, { city: 'Oslo' }, { key: 'today' })));
      const ids = (await enqueueAll()).map(({ id }) => id);
      await until(() => reports.length > 0);
      const later = (await enqueueAll()).map(({ id }) => id);
      expect(new Set([...ids, ...later]).size).to.equal(1);
      await time.pass(0);
      expect(reports.map((report) => report.slice(3))).to.deep.equal(['Oslo, “Echo Oslo”., 1']);
      expect(simulator.requests).to.have.length(1);
    });

    it('run again after a failure, later each time, and report the last one', async () => {
      const { jobs } = await startProcess();
      const startedAt: number[] = [];
      const fail = () => {
        startedAt.push(Date.now());
        return { refusal: 'No.' };
      };
      const job = jobs.define(weather('a', { retries: 2, retryDelayMs: 20_000 }));
      simulator.enqueue(fail, fail, fail);
      const { id } = await jobs.enqueue(job, { city: 'Rome' });
      await until(async () => (await store.due(['weather'], Date.now() + 60_000, 1))[0]?.attempt === 2);
      // Another process has read the job before its first attempt failed.
      expect(await store.claim({ id, attempt: 1 }, 'late')).to.equal(false);
      await until(() => reports.length > 0);
      expect(reports).to.deep.equal(['a: refused, 3']);
      const [first = 0, second = 0, third = 0] = startedAt;
      expect(second - first).to.be.within(20_000, 29_000);
      expect(third - second).to.be.within(40_000, 49_000);
    });

    it('do not run again after they were cancelled', async () => {
      const { jobs, module } = await startProcess();
      const job = jobs.define(weather('a', { retries: 2 }));
      const { executionId = '' } = await jobs.enqueue(job, { city: 'Rome' }, { at: new Date(Date.now() + 20_000) });
      await module.loop.cancel(executionId);
      await until(() => reports.length > 0);
      expect(reports).to.deep.equal(['a: aborted, 1']);
      expect(simulator.requests).to.have.length(0);
    });

    it('call a handler again that has thrown, later each time', async () => {
      const { jobs, logger } = await startProcess();
      let calls = 0;
      const onComplete = () => {
        calls += 1;
        if (calls <= 2) throw new Error('The mail server is away.');
        reports.push('told');
      };
      await jobs.enqueue(jobs.define(weather('a', { onComplete })), { city: 'Rome' });
      await until(() => reports.length > 0);
      expect(calls).to.equal(3);
      expect(logger.errors.join()).to.match(/again in 1 seconds.+again in 2 seconds/s);
    });

    it('are reported by another process if theirs stops, or has died', async () => {
      const [a, b] = [await startProcess(), await startProcess()];
      let release = (): void => undefined;
      const held = new Promise<void>((resolve) => (release = resolve));
      simulator.enqueue(() => held.then(() => ({ text: 'Sunny.' })));
      const left = await a.jobs.enqueue(a.jobs.define(weather('a')), { city: 'Rome' });
      await until(async () => (await store.owned(['weather'], 1, [])).length === 1);
      a.jobs.stop();
      await until(async () => (await store.due(['weather'], Date.now(), 1)).length === 1);
      const job = b.jobs.define(weather('b'));
      release();
      await until(() => reports.length > 0);
      expect(reports).to.deep.equal(['b: Rome, Sunny., 1']);
      // A process has claimed the next one, and died.
      const { id } = await b.jobs.enqueue(job, { city: 'Bern' }, { at: new Date(Date.now() + 3_600_000) });
      expect(id).not.to.equal(left.id);
      expect(await store.claim({ id, attempt: 1 }, 'dead')).to.equal(true);
      await b.module.loop.cancel((await store.find(id))?.executionId ?? '');
      await b.module.recovery.start();
      await until(() => reports.length > 1);
      expect(reports[1]).to.equal('b: aborted, 1');
    });

    it('are enqueued once for each time of their schedule, and whenever it is triggered', async () => {
      const [a, b] = [await startProcess(), await startProcess()];
      const onComplete = ({ key = 'none' }) => void reports.push(key);
      for (const { jobs } of [a, b])
        await jobs.schedule(jobs.define(weather('x', { onComplete })), { cron: '* * * * *' }, { city: 'Lima' });
      await until(() => reports.length >= 2);
      const [first = '', second = ''] = reports.map((key) => key.replace(/^weather (.+:00\.000Z)$/, '$1'));
      expect(Date.parse(second) - Date.parse(first)).to.equal(60_000);
      await a.queue.triggerSchedule('weather');
      await until(() => reports.includes('none'));
      expect(new Set(reports).size).to.equal(reports.length);
    });

    it('are refused with a sentence if they cannot run, and leave nothing', async () => {
      const { jobs } = await startProcess();
      const job = jobs.define(weather('a', { run: () => ({ userId: 'ann', providerId: 'none', input: 'Hi' }) }));
      expect(await failure(jobs.enqueue(job, { city: 'Rome' })))
        .to.have.property('message')
        .that.contains('none');
      expect(await documents()).to.deep.equal([]);
      expect(() => jobs.define(job)).to.throw('The job "weather" is defined already');
      expect(() => jobs.define(weather('a', { name: 'a b' }))).to.throw('Invalid job name "a b"');
      const other = weather('a', { name: 'other' });
      expect(await failure(jobs.enqueue(other, { city: 'Rome' })))
        .to.have.property('message')
        .that.contains('"other" is not defined');
    });
  });
