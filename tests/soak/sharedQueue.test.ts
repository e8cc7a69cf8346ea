/**
 * Two processes share queued runs through Agenda, and one is killed meanwhile. Every run ends, and has its effects
 * once.
 */
import { fork } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { MongoClient } from 'mongodb';
import { AgenticLoop } from '../../imports/business/ai/application/services/AgenticLoop';
import { RunQueue } from '../../imports/business/ai/application/services/RunQueue';
import type { RunResult } from '../../imports/business/ai/domain/entities/Run';
import { openAgendaQueue } from '../../imports/business/ai/infrastructure/jobs/AgendaJobQueue';
import { openRunStore } from '../../imports/business/ai/infrastructure/persistence/runs/DocumentRunStore';
import { openMongoDatabase } from '../../imports/database/mongo/MongoDatabase';
import { RUNS } from '../../imports/business/ai/infrastructure/persistence/runs/runDocuments';
import type { RunDocument } from '../../imports/business/ai/infrastructure/persistence/runs/runDocuments';
import { ToolRegistry } from '../../imports/business/ai/infrastructure/tools/ToolRegistry';
import { bundleChild } from '../support/bundleChild';
import { callingProvider } from '../support/callingProvider';
import { startTestMongo } from '../support/startTestMongo';
import { until } from '../support/until';
import type { TestMongo } from '../support/startTestMongo';
import { EFFECTS } from '../support/queueWorker';
import type { EffectDocument, QueueWorkerOptions } from '../support/queueWorker';

const COUNT = 500;
const CONCURRENCY = 16;
/** The run whose tool is executing when its process is killed. */
const FATAL = Math.floor(COUNT / 3);

for (const replicaSet of [false, true])
  describe(`${COUNT} queued runs, shared by two processes of which one is killed, ${replicaSet ? 'told of jobs' : 'polling'}`, () => {
    let mongo: TestMongo;
    let bundle: string;
    const children: ChildProcess[] = [];
    before(async () => {
      [mongo, bundle] = await Promise.all([
        startTestMongo({ replicaSet }),
        bundleChild(join(__dirname, '../support/queueWorker.ts')),
      ]);
    });
    after(async () => {
      for (const child of children) child.kill('SIGKILL');
      await mongo.stop();
      await rm(bundle);
    });

    const startWorker = async (): Promise<ChildProcess> => {
      const options: QueueWorkerOptions = { mongoUrl: mongo.url, concurrency: CONCURRENCY };
      const child = fork(bundle, [JSON.stringify(options)]);
      children.push(child);
      const [message] = (await once(child, 'message')) as [string];
      expect(message).to.equal('ready');
      return child;
    };

    it('all complete, and each effect has one idempotency key', async () => {
      const database = await openMongoDatabase(mongo.url);
      const store = await openRunStore(database);
      const tools = new ToolRegistry().register({ name: 'note', idempotent: true, execute: () => undefined });
      const jobs = await openAgendaQueue({ url: mongo.url });
      const loop = new AgenticLoop({ provider: callingProvider(), toolExecutor: tools, runStore: store });
      const queue = new RunQueue({ loop, store, jobs, tools });
      const [victim, survivor] = await Promise.all([startWorker(), startWorker()]);

      const noted = new Set<string>();
      let isKilled = false;
      const allNoted = new Promise<void>((resolve) => {
        for (const child of [victim, survivor]) {
          child.on('message', (executionId: string) => {
            noted.add(executionId);
            if (child === victim && !isKilled && noted.size >= FATAL) isKilled = victim.kill('SIGKILL');
            if (noted.size === COUNT) resolve();
          });
        }
      });
      const ids = Array.from({ length: COUNT }, (_value, index) => `run-${index}`);
      for (const executionId of ids) await queue.add('ann', { executionId, model: 'm', input: 'Go.', tools: ['note'] });
      await allNoted;
      const results: RunResult[] = [];
      for (const executionId of ids) results.push(await loop.waitForResult(executionId));
      expect(isKilled).to.equal(true);
      expect(results.every(({ response }) => response.output_text === 'Done.')).to.equal(true);

      const client = await MongoClient.connect(mongo.url);
      const effects = await client.db().collection<EffectDocument>(EFFECTS).find().toArray();
      expect(new Set(effects.map(({ key }) => key)).size).to.equal(COUNT);
      expect(new Set(effects.map(({ executionId }) => executionId)).size).to.equal(COUNT);
      // Only the interrupted call of the dead process is repeated, under the same key.
      expect(effects.length).to.be.at.most(COUNT + CONCURRENCY);
      expect(new Set(effects.map(({ pid }) => pid)).size).to.equal(2);
      const runs = await client.db().collection<RunDocument>(RUNS).find().toArray();
      expect(runs.filter(({ state }) => state === 'completed')).to.have.length(COUNT);
      await client.close();
      await jobs.stop();
      await loop.close();
      await database.close();
    });
  });

describe('a process that takes over the queued runs of a killed one, with Agenda', () => {
  const LIMIT = 4;
  let mongo: TestMongo;
  let bundle: string;
  const children: ChildProcess[] = [];
  before(async () => {
    [mongo, bundle] = await Promise.all([startTestMongo(), bundleChild(join(__dirname, '../support/queueWorker.ts'))]);
  });
  after(async () => {
    for (const child of children) child.kill('SIGKILL');
    await mongo.stop();
    await rm(bundle);
  });

  it('never works on more of them than its limit', async () => {
    const database = await openMongoDatabase(mongo.url);
    const store = await openRunStore(database);
    const tools = new ToolRegistry().register({ name: 'note', idempotent: true, execute: () => undefined });
    const jobs = await openAgendaQueue({ url: mongo.url });
    const loop = new AgenticLoop({ provider: callingProvider(), toolExecutor: tools, runStore: store });
    const queue = new RunQueue({ loop, store, jobs, tools });
    const running = new Map<ChildProcess, Set<string>>();
    let most = 0;
    const start = async (): Promise<ChildProcess> => {
      const options: QueueWorkerOptions = { mongoUrl: mongo.url, concurrency: LIMIT, holds: true };
      const child = fork(bundle, [JSON.stringify(options)]);
      children.push(child);
      await once(child, 'message');
      const ids = new Set<string>();
      running.set(child, ids);
      child.on('message', (id: string) => {
        ids.add(id);
        most = Math.max(most, [...ids].filter((other) => other !== 'direct').length);
      });
      return child;
    };
    const [victim, survivor] = await Promise.all([start(), start()]);
    const ids = Array.from({ length: 3 * LIMIT }, (_value, index) => `run-${index}`);
    for (const executionId of ids) await queue.add('ann', { executionId, model: 'm', input: 'Go.', tools: ['note'] });
    await until(() => [...running.values()].every(({ size }) => size === LIMIT));
    victim.send('start direct');
    await until(() => running.get(victim)?.has('direct') === true);
    victim.kill('SIGKILL');
    const held = running.get(survivor)!;
    // A process that takes this one over has seen the others, too.
    await until(() => held.has('direct'));
    const all = [...ids, 'direct'];
    const results = Promise.all(all.map((id) => loop.waitForResult(id)));
    let hasEnded = false;
    void results.then(() => (hasEnded = true));
    await until(() => {
      for (const id of held) {
        held.delete(id);
        survivor.send(id);
      }
      return hasEnded;
    });
    expect(most).to.equal(LIMIT);
    await jobs.stop();
    await loop.close();
    await database.close();
  });
});
