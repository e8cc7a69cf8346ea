/** Two servers enqueue the same jobs, and one is killed. Each job is one run, and the end of each is reported. */
import { fork } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { MongoClient } from 'mongodb';
import { SERVER_JOBS } from '../../imports/business/jobs/infrastructure/DocumentServerJobs';
import { RUNS } from '../../imports/business/ai/infrastructure/persistence/runs/runDocuments';
import { bundleChild } from '../support/bundleChild';
import { JOBS, REPORTS } from '../support/jobChild';
import type { ReportDocument } from '../support/jobChild';
import { startTestMongo } from '../support/startTestMongo';
import type { TestMongo } from '../support/startTestMongo';
import { until } from '../support/until';

describe(`${JOBS} jobs of two servers, of which one is killed`, () => {
  let mongo: TestMongo;
  let bundle: string;
  let directory: string;
  let client: MongoClient;
  const children: ChildProcess[] = [];
  before(async () => {
    [mongo, bundle, directory] = await Promise.all([
      startTestMongo(),
      bundleChild(join(__dirname, '../support/jobChild.ts')),
      mkdtemp(join(tmpdir(), 'bolide-jobs-')),
    ]);
    client = await MongoClient.connect(mongo.url);
  });
  after(async () => {
    for (const child of children) child.kill('SIGKILL');
    await client.close();
    await mongo.stop();
    await Promise.all([rm(bundle), rm(directory, { recursive: true })]);
  });

  const start = (): ChildProcess => {
    const child = fork(bundle, [mongo.url, directory]);
    children.push(child);
    return child;
  };

  it('are one run each, all of whose ends are reported', async () => {
    const [victim, survivor] = [start(), start()];
    let reported = 0;
    victim.on('message', (message) => {
      if (message === 'reported' && ++reported === 5) victim.kill('SIGKILL');
    });
    await once(victim, 'exit');
    expect(victim.signalCode).to.equal('SIGKILL');
    const database = client.db();
    const jobs = database.collection(SERVER_JOBS);
    await until(
      async () =>
        (await jobs.countDocuments()) === JOBS && (await jobs.countDocuments({ work: { $exists: true } })) === 0,
    );
    const reports = await database.collection<ReportDocument>(REPORTS).find().toArray();
    expect(new Set(reports.map(({ job }) => job)).size).to.equal(JOBS);
    expect(new Set(reports.map(({ pid }) => pid)).size).to.equal(2);
    // What the victim had reported, and not ended, is reported again.
    expect(reports.length - JOBS).to.be.within(0, 10);
    expect(await database.collection(RUNS).countDocuments()).to.equal(JOBS);
    survivor.kill('SIGTERM');
    await once(survivor, 'exit');
    expect(survivor.exitCode).to.equal(0);
  });
});
