/**
 * Outages of the database, through a proxy between it and two workers: every run goes on afterwards, none fails, and
 * nobody is asked about a tool call, since no process has died.
 */
import { expect } from 'chai';
import { MongoClient } from 'mongodb';
import { MongoDatabase, openMongoDatabase } from '../../imports/database/mongo/MongoDatabase';
import { StoreUnavailableError } from '../../imports/business/ai/domain/errors/LLMErrors';
import { itInSoak } from '../support/soak';
import { failure } from '../support/failure';
import { OutageWorld } from '../support/OutageWorld';
import type { OutageTimes } from '../support/OutageWorld';
import { RecordingLogger } from '../support/RecordingLogger';
import { startTestMongo } from '../support/startTestMongo';
import { StoreProxy } from '../support/StoreProxy';
import type { OutageKind } from '../support/StoreProxy';
import { until } from '../support/until';
import { inFlowingTime } from '../support/VirtualTime';
import type { VirtualTime } from '../support/VirtualTime';

/**
 * Milliseconds. An outage lasts longer than a lease, so that processes could take runs from each other. A lease lasts
 * longer than an outage does for one worker after it is over for the other, also on a busy machine.
 */
const LEASE = 8_000;
/** Milliseconds of flowing time for twenty turns of the event loop. */
const STEP = 20;
const TIMES: OutageTimes = {
  lease: { lease: LEASE, heartbeat: 200 },
  circuit: { suspectAfter: 100, probeTimeout: 1_500, probeEvery: 100, retryAfter: 1_000 },
  jobs: { pollEvery: 50, lockLifetime: 2_000, retryDelay: 100 },
};

async function surviveOutage(time: Pick<VirtualTime, 'after'>, kind: OutageKind, length: number): Promise<void> {
  const world = await OutageWorld.open(TIMES);
  try {
    await world.startRuns();
    await world.proxy.begin(kind);
    await until(() => world.workers.every(({ database }) => database.outage !== undefined));
    await time.after(length);
    const [worker] = world.workers;
    expect(await failure(worker?.store.load('steps-0') ?? Promise.resolve())).to.be.instanceOf(StoreUnavailableError);
    const during = world.effects.length;
    await world.proxy.end();
    // More than one step of each run that takes steps.
    await until(() => world.effects.length > during + world.workers.length * 4);
    world.finish();
    const ends = await world.ended();
    expect(ends.filter((end) => !end.endsWith('completed'))).to.deep.equal([]);
    expect(world.reviews).to.deep.equal([]);
    expect(world.effects.length).to.equal(new Set(world.effects).size);
    for (const { logger } of world.workers) {
      const starting = (text: string, lines: readonly string[]): number =>
        lines.filter((line) => line.startsWith(text)).length;
      // On a busy machine there may be another outage, but never a line for each operation that fails.
      const begun = starting('The database cannot be reached', logger.errors);
      expect(begun).to.be.within(1, 3);
      expect(starting('The database can be reached again', logger.warnings)).to.equal(begun);
      const others = [...logger.errors, ...logger.warnings].filter((line) => !line.startsWith('The database'));
      // The job queue has connections of its own.
      expect(others.length, others.join('\n')).to.be.at.most(1);
    }
  } finally {
    await world.close();
  }
}

describe(
  'after an outage of the database',
  inFlowingTime((time) => {
    itInSoak('that resets connections, all runs go on', () => surviveOutage(time, 'cut', LEASE));
    it('that answers nothing, all runs go on', () => surviveOutage(time, 'stall', LEASE));
    itInSoak('that loses connections, all runs go on', () => surviveOutage(time, 'lost', LEASE));
    itInSoak('of several leases, all runs go on', () => surviveOutage(time, 'cut', LEASE * 2));

    it('in which it was only slow, all runs go on', async () => {
      const world = await OutageWorld.open(TIMES);
      try {
        await world.startRuns();
        world.proxy.delayMs = 300;
        const before = world.effects.length;
        await until(() => world.effects.length > before + world.workers.length * 4);
        expect(world.workers.map(({ database }) => database.outage)).to.deep.equal([undefined, undefined]);
        world.proxy.delayMs = 0;
        world.finish();
        const ends = await world.ended();
        expect(ends.filter((end) => !end.endsWith('completed'))).to.deep.equal([]);
        expect(world.reviews).to.deep.equal([]);
      } finally {
        await world.close();
      }
    });
  }, STEP),
);

describe(
  'a client of the database that finds its server no more',
  inFlowingTime(() => {
    it('is replaced by one that does', async () => {
      const mongo = await startTestMongo();
      const [lost, working] = await Promise.all([StoreProxy.start(mongo.url), StoreProxy.start(mongo.url)]);
      const client = await new MongoClient(lost.url, { serverSelectionTimeoutMS: 200 }).connect();
      const logger = new RecordingLogger();
      const database = new MongoDatabase(client, {
        createClient: () => Promise.resolve(new MongoClient(working.url)),
        times: TIMES.circuit,
        logger,
      });
      const rows = database.collection('rows');
      await rows.insert({ _id: 'a' });
      await lost.begin('cut');
      await until(async () => {
        await rows.find({}).catch(() => undefined);
        return database.outage !== undefined;
      });
      // It never comes back.
      await until(() => database.outage === undefined);
      expect(await rows.find({})).to.deep.equal([{ _id: 'a' }]);
      await database.close();
      await lost.stop();
      await working.stop();
      await mongo.stop();
    });
  }, STEP),
);

describe(
  'a write whose answer an outage has lost',
  inFlowingTime(() => {
    it('sets back nothing when it arrives after those that followed it', async () => {
      const world = await OutageWorld.open(TIMES);
      try {
        await world.startRuns();
        // What is written now is delivered when the stall ends.
        await world.proxy.begin('stall');
        await until(() => world.workers.every(({ database }) => database.outage !== undefined));
        const direct = await openMongoDatabase(world.mongo.url);
        const runs = direct.collection<{ readonly _id: string; readonly fence: number }>('ai_runs');
        const fences = async (): Promise<readonly number[]> =>
          (await runs.find({ _id: { $in: ['steps-0', 'steps-1'] } })).map(({ fence }) => fence);
        const before = await fences();
        const during = world.effects.length;
        await world.proxy.end();
        await until(() => world.effects.length > during + 4);
        // The runs have new fencing tokens, which the late writes do not name.
        await until(async () => (await fences()).every((fence, index) => fence > (before[index] ?? Infinity)));
        await direct.close();
        world.finish();
        expect((await world.ended()).filter((end) => !end.endsWith('completed'))).to.deep.equal([]);
      } finally {
        await world.close();
      }
    });
  }, STEP),
);
