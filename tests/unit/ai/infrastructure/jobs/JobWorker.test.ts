import { expect } from 'chai';
import { JobWorker } from '../../../../../imports/business/ai/infrastructure/jobs/JobWorker';
import type { JobWorkerOptions } from '../../../../../imports/business/ai/infrastructure/jobs/JobWorker';
import { deferred } from '../../../../support/deferred';
import { nextTurn } from '../../../../support/nextTurn';
import { until } from '../../../../support/until';

const HOUR = 3_600_000;

describe('JobWorker', () => {
  let waiting: string[];
  let executed: string[];
  let released: string[];
  let reported: unknown[];
  beforeEach(() => {
    [waiting, executed, released, reported] = [[], [], [], []];
  });
  const create = (options: Partial<JobWorkerOptions<string>> = {}): JobWorker<string> =>
    new JobWorker({
      limit: 2,
      take: () => Promise.resolve(waiting.shift()),
      execute: (job) => Promise.resolve(void executed.push(job)),
      release: (job) => Promise.resolve(void released.push(job)),
      pause: () => Promise.resolve(HOUR),
      pauseAfterFailure: HOUR,
      report: (_message, error) => reported.push(error),
      ...options,
    });

  it('finds a job that came while it looked and found none', async () => {
    const [looked, told] = [deferred(), deferred()];
    const worker = create({
      pause: async () => {
        looked.resolve();
        await told.promise;
        return HOUR;
      },
    });
    worker.signal();
    await looked.promise;
    waiting.push('a');
    worker.signal();
    told.resolve();
    await until(() => executed.length === 1);
    await worker.stop();
  });

  it('executes no more than its limit, and the next one when one has ended', async () => {
    const ends = [deferred(), deferred(), deferred()];
    const worker = create({
      execute: (job) => {
        executed.push(job);
        return ends[executed.length - 1]?.promise ?? Promise.resolve();
      },
    });
    waiting.push('a', 'b', 'c');
    worker.signal();
    await until(() => executed.length === 2);
    worker.signal();
    await nextTurn();
    expect(waiting).to.deep.equal(['c']);
    ends[0]?.resolve();
    await until(() => executed.length === 3);
    for (const { resolve } of ends) resolve();
    await worker.stop();
  });

  it('releases a job that it took while it stopped, and waits for those in progress', async () => {
    const [taking, taken, mayEnd] = [deferred(), deferred<string>(), deferred()];
    const jobs = [Promise.resolve('a'), taken.promise];
    const worker = create({
      take: async () => {
        if (jobs.length === 1) taking.resolve();
        return jobs.shift();
      },
      execute: async (job) => {
        await mayEnd.promise;
        executed.push(job);
      },
    });
    worker.signal();
    await taking.promise;
    const stopped = worker.stop();
    taken.resolve('b');
    mayEnd.resolve();
    await stopped;
    expect({ executed, released }).to.deep.equal({ executed: ['a'], released: ['b'] });
  });

  it('looks again after a failure', async () => {
    const failure = new Error('The database is down.');
    let looks = 0;
    const worker = create({
      take: () => ((looks += 1) === 1 ? Promise.reject(failure) : Promise.resolve(waiting.shift())),
      pauseAfterFailure: 1,
    });
    waiting.push('a');
    worker.signal();
    await until(() => executed.length === 1);
    expect(reported).to.deep.equal([failure]);
    await worker.stop();
  });
});
