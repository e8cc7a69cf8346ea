/** Processes with runs that start others are killed at any point: each child runs once, and its result arrives once. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { createInterface } from 'node:readline';
import { expect } from 'chai';
import { childId } from '../../imports/business/ai/application/services/shared/childId';
import { isFinished } from '../../imports/business/ai/domain/entities/Run';
import { openDatabase } from '../../imports/database/openDatabase';
import { openRunStore } from '../../imports/business/ai/infrastructure/persistence/runs/DocumentRunStore';
import type { DocumentRunStore } from '../../imports/business/ai/infrastructure/persistence/runs/DocumentRunStore';
import { seededRandom } from '../../scripts/seed/seededRandom';
import { bundleChild } from '../support/bundleChild';
import { startTestMongo } from '../support/startTestMongo';

const SEED = Number(process.env['BOLIDE_SEED'] ?? Date.now() % 1_000_000);
const KILLS = 10;
const PARENTS = 12;
/** Ids of the parents. Every fifth is cancelled as soon as it has started a run. */
const ids = Array.from({ length: PARENTS }, (_value, index) => `p${index}`);
const isToBeCancelled = (id: string): boolean => Number(id.slice(1)) % 5 === 4;
const childrenOf = (id: string): readonly string[] => [0, 1].map((index) => childId(id, `call ${index}`));

interface FamilyProcess {
  send(line: string): void;
  /** Resolves after so many lines, or when the process has exited. */
  lines(count: number): Promise<void>;
  kill(): Promise<void>;
}

describe(`kill -9 of processes whose runs start others (BOLIDE_SEED=${SEED})`, () => {
  let directory: string;
  let bundle: string;
  before(async () => {
    bundle = await bundleChild(join(__dirname, '../support/durable/familyProcess.ts'));
  });
  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), 'bolide-family-'));
  });
  const open: FamilyProcess[] = [];
  let closing = async (): Promise<void> => undefined;
  afterEach(async () => {
    for (const each of open.splice(0)) await each.kill();
    await closing();
    closing = async () => undefined;
    await rm(directory, { recursive: true });
  });

  /** @param onLine called with each line that the process prints */
  async function start(place: string, onLine: (line: string, process: FamilyProcess) => void): Promise<FamilyProcess> {
    const child = spawn(process.execPath, [bundle, place, join(directory, 'effects')], {
      stdio: ['pipe', 'pipe', 'inherit'],
    });
    const exited = once(child, 'exit');
    child.stdin.on('error', () => undefined);
    let seen = 0;
    let onCount = (): void => undefined;
    const made: FamilyProcess = {
      send: (line) => child.stdin.write(`${line}\n`),
      lines: async (count) => {
        const wanted = seen + count;
        const arrived = new Promise<void>((resolve) => (onCount = () => (seen >= wanted ? resolve() : undefined)));
        await Promise.race([arrived, exited]);
      },
      kill: async () => {
        child.kill('SIGKILL');
        await exited;
      },
    };
    open.push(made);
    createInterface({ input: child.stdout }).on('line', (line) => {
      seen += 1;
      onLine(line, made);
      onCount();
    });
    await made.lines(1);
    return made;
  }

  async function checkFamilies(store: DocumentRunStore): Promise<void> {
    const effects = (await readFile(join(directory, 'effects'), 'utf8')).trim().split('\n');
    for (const id of ids) {
      const parent = await store.load(id);
      const children = await Promise.all(childrenOf(id).map((child) => store.load(child)));
      for (const child of children) expect(child === undefined || isFinished(child.run.state), id).to.equal(true);
      expect((await store.childrenOf(id)).map(({ executionId }) => executionId)).to.have.members(
        children.flatMap((child) => child?.run.executionId ?? []),
      );
      if (parent?.run.state === 'cancelled') {
        expect(isToBeCancelled(id)).to.equal(true);
        continue;
      }
      expect(parent?.run.state, id).to.equal('completed');
      // Each answer once, in the order of the calls.
      const answers = childrenOf(id).map((child) => `<${child}>`);
      if (!isToBeCancelled(id)) expect(parent?.run.response?.output_text).to.equal(answers.join(', '));
      const outputs = parent?.run.transcript.filter(({ type }) => type === 'function_call_output') ?? [];
      expect(outputs).to.have.length(2);
      if (!isToBeCancelled(id)) for (const child of childrenOf(id)) expect(effects).to.include(`${child}:call 0`);
    }
  }

  const run = async (place: string, processes: number): Promise<DocumentRunStore> => {
    const random = seededRandom(SEED);
    const live = new Set<FamilyProcess>();
    let unfinished = Infinity;
    const queued = new Set<string>();
    const cancelled = new Set<string>();
    const onLine = (line: string, process: FamilyProcess): void => {
      const [type = '', id = ''] = line.split(' ');
      if (type === 'queued') queued.add(id);
      if (type === 'unfinished') unfinished = Number(id);
      // Through whichever process printed it.
      if (type === 'tool:executing' && ids.includes(id) && isToBeCancelled(id) && !cancelled.has(id)) {
        process.send(`cancel ${id}`);
        cancelled.add(id);
      }
    };
    const refill = async (): Promise<void> => {
      while (live.size < processes) live.add(await start(place, onLine));
    };
    await refill();
    for (let kills = 0; kills < KILLS; kills += 1) {
      const chosen = [...live][Math.floor(random() * live.size)];
      if (chosen === undefined) throw new Error('No process is alive.');
      for (const id of ids.filter((each) => !queued.has(each)).slice(0, 3)) chosen.send(`run ${id}`);
      await Promise.race([chosen.lines(1 + Math.floor(random() * 60)), delay(2_000)]);
      live.delete(chosen);
      await chosen.kill();
      await refill();
    }
    const [last] = live;
    for (const id of ids.filter((each) => !queued.has(each))) last?.send(`run ${id}`);
    while (unfinished > 0 || queued.size < PARENTS) {
      last?.send('count');
      await delay(100);
    }
    for (const each of live) await each.kill();
    const url = place.startsWith('mongodb:') ? { MONGO_URL: place } : { DATA_DIR: place };
    const database = await openDatabase(url);
    closing = () => database.close();
    return openRunStore(database);
  };
  it('with the embedded store', async () => {
    await checkFamilies(await run(join(directory, 'data'), 1));
  });

  it('with MongoDB, and two processes', async () => {
    const mongo = await startTestMongo();
    try {
      await checkFamilies(await run(mongo.url, 2));
      await closing();
    } finally {
      closing = async () => undefined;
      await mongo.stop();
    }
  });
});
