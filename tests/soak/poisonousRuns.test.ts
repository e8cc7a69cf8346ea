/**
 * Runs that kill every process which executes them, among others in processes that are killed at random, too: the first
 * are parked, and the others end as if nothing had happened. `BOLIDE_DEATHS=500` says how often a process dies.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { expect } from 'chai';
import { isFinished } from '../../imports/business/ai/domain/entities/Run';
import type { DocumentDatabase } from '../../imports/database/DocumentDatabase';
import { openDatabase } from '../../imports/database/openDatabase';
import { openRunStore } from '../../imports/business/ai/infrastructure/persistence/runs/DocumentRunStore';
import type { DocumentRunStore } from '../../imports/business/ai/infrastructure/persistence/runs/DocumentRunStore';
import { seededRandom } from '../../scripts/seed/seededRandom';
import { checkMixedRun } from '../support/durable/checkMixedRun';
import { RunChild } from '../support/durable/runChildren';
import { RunWorld } from '../support/durable/RunWorld';
import { startTestMongo } from '../support/startTestMongo';
import type { TestMongo } from '../support/startTestMongo';

const SEED = Number(process.env['BOLIDE_SEED'] ?? Date.now() % 1_000_000);
const DEATHS = Number(process.env['BOLIDE_DEATHS'] ?? 30);
/** One for so many deaths. */
const DEATHS_PER_POISON = 15;
const PROCESSES = 3;
/** Milliseconds. */
const LEASE = 1_000;
/** Runs that are unfinished at the same time. */
const MAX_UNFINISHED = 24;
/** A process is killed after a random number of printed lines, up to this one, … */
const LINES = 120;
/** … and at the latest after a random time, up to this one, in milliseconds. */
const MAX_LIFE = 4_000;
const isReady = (line: string): boolean => line.startsWith('ready');

describe('Runs that kill their processes, among others', () => {
  const world = new RunWorld();
  const workers: RunChild[] = [];
  const children: RunChild[] = [];
  let mongo: TestMongo;
  let database: DocumentDatabase;
  let store: DocumentRunStore;
  let url: string;
  let deaths = 0;
  let isStopping = false;

  before(async () => {
    url = await world.open();
    mongo = await startTestMongo();
    database = await openDatabase({ MONGO_URL: mongo.url });
    store = await openRunStore(database);
    for (let index = 0; index < PROCESSES; index += 1) await keepRunning(index);
  });
  after(async () => {
    isStopping = true;
    await Promise.all(children.map((child) => child.kill()));
    world.close();
    await database.close();
    await mongo.stop();
  });

  /** Starts a process, and another one whenever it dies. */
  const keepRunning = async (index: number): Promise<void> => {
    const child = await RunChild.start(url, mongo.url, LEASE);
    children.push(child);
    workers[index] = child;
    void child.exited.then(() => {
      deaths += 1;
      return isStopping ? undefined : keepRunning(index);
    });
  };

  it(`are parked, and the others neither fail nor lose or repeat anything, in ${DEATHS} deaths (seed ${SEED})`, async function () {
    this.timeout(120_000 + DEATHS * 10_000);
    const random = seededRandom(SEED);
    const innocents = new Set<string>();
    const poisons = new Set<string>();
    const unfinished = async (): Promise<readonly string[]> => {
      const runs = await Promise.all([...innocents, ...poisons].map((id) => store.head(id)));
      // A run that was to start in a process that died meanwhile was not created.
      return runs.flatMap((run) =>
        run === undefined || run.parked !== undefined || isFinished(run.state) ? [] : [run.executionId],
      );
    };
    while (deaths < DEATHS) {
      const at = Math.floor(random() * PROCESSES);
      const worker = workers[at]!;
      if (poisons.size < deaths / DEATHS_PER_POISON) {
        const id = `poison-${poisons.size}`;
        worker.run(id);
        // It kills the process as soon as it is stored.
        await worker.exited;
        if ((await store.head(id)) !== undefined) poisons.add(id);
        continue;
      }
      for (let free = MAX_UNFINISHED - (await unfinished()).length; free > 0; free -= 1) {
        const id = `run-${innocents.size}`;
        innocents.add(id);
        worker.run(id);
      }
      const lines = worker.lines.length + 1 + Math.floor(random() * LINES);
      const chosen = worker.waitForLines(1, isReady).then(() => worker.waitForLines(lines));
      // It may have nothing to do, and it may die of a run.
      await Promise.race([chosen.catch(() => undefined), pause(random() * MAX_LIFE)]);
      await worker.kill();
    }
    const killed = deaths;
    while ((await unfinished()).length > 0) await pause(100);

    const effects = world.effects.map(({ effect }) => effect);
    const states: Record<string, number> = {};
    for (const id of innocents) {
      const stored = await store.load(id);
      if (stored === undefined) continue;
      expect(stored.run.parked, `${id}, seed ${SEED}`).to.equal(undefined);
      checkMixedRun(stored, effects, world.requestsOf(id), world.reviewed);
      states['completed'] = (states['completed'] ?? 0) + 1;
    }
    for (const id of poisons) {
      const head = await store.head(id);
      expect(head?.parked?.reason, `${id}, seed ${SEED}`).to.equal('max-takeovers');
      states['parked'] = (states['parked'] ?? 0) + 1;
    }
    for (const child of children) expect(child.failures).to.deep.equal([]);
    expect(states['parked'], 'otherwise nothing was tested').to.be.greaterThan(0);
    console.log(`      ${killed} deaths, and ${deaths - killed} until all had ended: ${JSON.stringify(states)}`);
  });
});
