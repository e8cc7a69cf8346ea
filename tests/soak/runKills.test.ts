/**
 * Runs whose processes are killed with `kill -9` at any point: every run ends, and nothing is lost, executed twice or
 * delivered twice.
 */
import { expect } from 'chai';
import type { DocumentDatabase } from '../../imports/database/DocumentDatabase';
import {
  DocumentRunStore,
  openRunStore,
} from '../../imports/business/ai/infrastructure/persistence/runs/DocumentRunStore';
import { openDatabase } from '../../imports/database/openDatabase';
import { checkMixedRun, uncertainCalls } from '../support/durable/checkMixedRun';
import { TURNS } from '../support/durable/mixedModel';
import { RunChild } from '../support/durable/runChildren';
import { RUN_PLACES } from '../support/durable/runPlaces';
import type { RunPlace } from '../support/durable/runPlaces';
import { RunWorld } from '../support/durable/RunWorld';
import { startTestMongo } from '../support/startTestMongo';
import type { TestMongo } from '../support/startTestMongo';
import { seededRandom } from '../../scripts/seed/seededRandom';

const SEED = Number(process.env['BOLIDE_SEED'] ?? Date.now() % 1_000_000);
/** Across both stores. Interleavings are simulated; real kills show that the simulation is like the real thing. */
const KILLS = 60;
/** A process is killed after a random number of printed lines, up to this one. A run prints about 110. */
const LINES = 90;

const isReady = (line: string): boolean => line.startsWith('ready');
const isEnd = (line: string): boolean => /^e run:(?:completed|failed|cancelled)/.test(line);

for (const [name, openPlace] of Object.entries(RUN_PLACES)) {
  describe(`kill -9 of processes that own runs, with ${name}`, () => {
    const world = new RunWorld();
    const children: RunChild[] = [];
    const start = async (): Promise<RunChild> => {
      const child = await RunChild.start(url, place.name);
      children.push(child);
      await child.waitForLines(1, isReady);
      return child;
    };
    let url: string;
    let place: RunPlace;

    before(async () => {
      url = await world.open();
      place = await openPlace();
    });
    after(async () => {
      await Promise.all(children.map((child) => child.kill()));
      world.close();
      await place.close();
    });

    it(`loses no run, duplicates no effect and delivers no result twice in ${KILLS / 2} kills (seed ${SEED})`, async function () {
      this.timeout(KILLS * 10_000);
      const random = seededRandom(SEED);
      const ids: string[] = [];
      const uncertain = new Set<string>();
      let unfinished = 0;
      const readRuns = async (): Promise<void> => {
        const database = await place.open();
        const store = new DocumentRunStore(database);
        const storedRuns = await Promise.all(ids.map((id) => store.load(id)));
        await database.close();
        // A run whose first write failed was not created.
        for (const [index, stored] of storedRuns.entries()) if (stored === undefined) ids[index] = '';
        ids.splice(0, Infinity, ...ids.filter((id) => id !== ''));
        unfinished = storedRuns.filter((stored) => stored !== undefined && stored.run.endedAt === undefined).length;
        for (const stored of storedRuns)
          for (const id of uncertainCalls(stored)) uncertain.add(`${stored?.run.executionId}:${id}`);
      };
      let hits = 0;
      for (let kill = 1; kill <= KILLS / 2; kill += 1) {
        const child = await start();
        // Lines of recovered runs, and of new ones.
        const fresh = unfinished >= 3 ? 0 : 2;
        for (let count = 1; count <= fresh; count += 1) {
          ids.push(`run-${kill}-${count}`);
          child.run(`run-${kill}-${count}`);
        }
        // Runs that were nearly done may print fewer lines.
        await Promise.race([
          child.waitForLines(child.lines.length + 1 + Math.floor(random() * LINES)),
          child.waitForLines(unfinished + fresh, isEnd),
        ]);
        await child.kill();
        expect(child.failures).to.deep.equal([]);
        await readRuns();
        hits += unfinished > 0 ? 1 : 0;
      }
      const last = await start();
      await last.waitForLines(unfinished, isEnd);
      await last.kill();
      expect(last.failures).to.deep.equal([]);

      const database = await place.open();
      const store = new DocumentRunStore(database);
      const storedRuns = await Promise.all(ids.map((id) => store.load(id)));
      await database.close();
      const effects = world.effects.map(({ effect }) => effect);
      for (const [index, stored] of storedRuns.entries()) {
        const id = ids[index] ?? '';
        if (stored === undefined) throw new Error(`Run ${id} is missing.`);
        try {
          checkMixedRun(stored, effects, world.requestsOf(id));
        } catch (error) {
          throw new Error(`${id}, seed ${SEED}: ${String(error)}`, { cause: error });
        }
      }
      expect([...world.reviewed].sort(), `seed ${SEED}`).to.deep.equal([...uncertain].sort());
      // Otherwise no process was killed during a call.
      expect(hits).to.be.greaterThan(KILLS / 4);
      console.log(`      ${KILLS / 2} kills, ${ids.length} runs, ${uncertain.size} uncertain calls`);
    });
  });
}

const MOVES = 12;
/** Milliseconds. */
const LEASE = 1_000;
/** Milliseconds within which every started run ends, even on a slow machine. */
const PATIENCE = 240_000;
const NOT_CREATED = ', which was not created';

interface Worker {
  readonly child: RunChild;
  readonly owner: string;
}

describe('3 processes on one store that are killed and suspended in turn', () => {
  const world = new RunWorld();
  const children: RunChild[] = [];
  let mongo: TestMongo;
  let database: DocumentDatabase;
  let store: DocumentRunStore;
  let url: string;

  before(async () => {
    world.reviewersCheckEffects = false;
    url = await world.open();
    mongo = await startTestMongo();
    database = await openDatabase({ MONGO_URL: mongo.url });
    store = await openRunStore(database);
  });
  after(async () => {
    await Promise.all(children.map((child) => child.kill()));
    world.close();
    await database.close();
    await mongo.stop();
  });

  const start = async (): Promise<Worker> => {
    const child = await RunChild.start(url, mongo.url, LEASE);
    children.push(child);
    const [, owner = ''] = (await child.waitForLines(1, isReady)).split(' ');
    return { child, owner };
  };
  const heldBy = async (owner: string): Promise<readonly string[]> =>
    (await store.leased(1_000)).filter((run) => run.owner === owner).map(({ executionId }) => executionId);
  /** @throws after a generous timeout, with what is still unfinished */
  const until = async (what: string, inTheWay: () => Promise<readonly string[]>): Promise<void> => {
    const since = performance.now();
    for (;;) {
      const left = await inTheWay();
      if (left.length === 0) return;
      if (performance.now() - since > PATIENCE)
        throw new Error(
          `${what} still has in its way, seed ${SEED}: ${left.join('; ')}. Last lines of the processes: ${children.map(({ lines }) => lines.slice(-3).join(', ')).join('; ')}`,
        );
      await new Promise((resolve) => setTimeout(resolve, 25));
    }
  };
  const unended = async (ids: readonly string[]): Promise<readonly string[]> => {
    const storedRuns = await Promise.all(ids.map((id) => store.load(id)));
    return storedRuns.flatMap((stored, index) => {
      if (stored === undefined) return [`${ids[index]}${NOT_CREATED}`];
      const { executionId, state, owner, endedAt } = stored.run;
      return endedAt === undefined
        ? [`${executionId}, ${state}, of ${owner} (${stored.calls.map((call) => call.state).join(', ')})`]
        : [];
    });
  };

  it(`finish all runs, and a resumed process does not touch a run that it lost, in ${MOVES} takeovers (seed ${SEED})`, async function () {
    this.timeout(60_000 + MOVES * 20_000);
    const random = seededRandom(SEED + 1);
    const workers = [await start(), await start(), await start()];
    const ids: string[] = [];
    const woken: (Worker & { readonly lost: readonly string[]; readonly from: number; readonly heard: number })[] = [];
    for (let move = 0; move < MOVES; move += 1) {
      const at = Math.floor(random() * workers.length);
      const worker = workers[at]!;
      const fresh = Array.from({ length: 2 }, (_each, count) => `moved-${move}-${count}`);
      ids.push(...fresh);
      for (const id of fresh) worker.child.run(id);
      const lines = worker.child.lines.length + 10 + Math.floor(random() * 60);
      // A slow process may lose its runs, which then end elsewhere, before it has printed that many lines.
      await Promise.race([worker.child.waitForLines(lines), until(`move ${move}`, () => unended(fresh))]);
      if (move % 3 === 2) {
        await worker.child.kill();
        workers[at] = await start();
        continue;
      }
      worker.child.process.kill('SIGSTOP');
      const lost = await heldBy(worker.owner);
      await until(`the stop of ${worker.owner}`, () => heldBy(worker.owner));
      woken.push({ ...worker, lost, from: world.effects.length, heard: worker.child.lines.length });
      worker.child.process.kill('SIGCONT');
    }
    await until('the end', async () => (await unended(ids)).filter((run) => !run.endsWith(NOT_CREATED)));
    const effects = world.effects.map(({ effect }) => effect);
    for (const id of ids) {
      const stored = await store.load(id);
      // A run whose first write failed was not created.
      if (stored === undefined) continue;
      // A process that was stopped between its last check and its request sends that request when it resumes.
      const requests = world
        .requestsOf(id)
        .filter((request, index, all) => all.slice(0, index).every((earlier) => earlier.length <= request.length));
      checkMixedRun(stored, effects, requests, world.reviewed);
    }
    for (const { child, lost, from, heard } of woken) {
      const after = world.effects.slice(from).filter(({ pid }) => pid === child.pid);
      const regained = new Set(child.lines.slice(heard));
      for (const id of lost)
        if (!regained.has(`claimed ${id}`))
          expect(
            after.filter(({ effect }) => effect.includes(`${id}:`)).length,
            `${id} after it was lost`,
          ).to.be.at.most(IN_FLIGHT);
    }
    expect(woken.some(({ lost }) => lost.length > 0)).to.equal(true);
    for (const child of children) expect(child.failures).to.deep.equal([]);
  });
});

/**
 * The maximum number of effects whose request was in flight, or about to be sent, when the process was suspended: those
 * of the longest turn.
 */
const IN_FLIGHT = Math.max(...TURNS.map((turn) => turn.length));
