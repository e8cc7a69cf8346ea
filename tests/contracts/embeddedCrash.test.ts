/**
 * The embedded store under `kill -9`: acknowledged writes are present, an interrupted write is present completely or
 * not at all, and the directory can be opened again.
 */
import { expect } from 'chai';
import { statSync } from 'node:fs';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openEmbeddedDatabase } from '../../imports/business/ai/infrastructure/persistence/databases/embedded/EmbeddedDatabase';
import { startChild } from '../support/embeddedChildren';
import { LARGE, textOf } from '../support/embeddedWriter';
import type { Written, WrittenRow } from '../support/embeddedWriter';
import { seededRandom } from '../../scripts/seed/seededRandom';

const ROUNDS = process.env['BOLIDE_FULL'] === '1' ? 150 : 5;
const SEED = Number(process.env['BOLIDE_SEED'] ?? Date.now() % 1_000_000);

const FILE = 'rows.nedb';

describe('EmbeddedDatabase: kill -9 during writes', () => {
  let directory: string;

  before(async () => {
    directory = await mkdtemp(join(tmpdir(), 'bolide-kill-'));
  });
  after(() => rm(directory, { recursive: true }));

  it(`neither loses nor mixes documents in ${ROUNDS} rounds (seed ${SEED})`, async function () {
    this.timeout(ROUNDS * 15_000);
    const random = seededRandom(SEED);
    const expected = new Map<string, { readonly n: number; readonly size: number }>();
    let unfinished = 0;
    let torn = 0;
    // How many writes a kill truncates depends on the machine, so rounds are added until there are enough of them.
    const isEnough = (): boolean => unfinished > ROUNDS / 2 && torn > ROUNDS / 10;
    for (let round = 0; round < ROUNDS || (!isEnough() && round < 5 * ROUNDS); round += 1) {
      const isLarge = round % 2 === 1;
      const moment = {
        begins: 1 + Math.floor(random() * (isLarge ? 6 : 60)),
        isLarge,
        turns: Math.floor(random() * 100),
      };
      const pending = await writeAndKill(directory, SEED + round, moment, expected);
      unfinished += pending === undefined ? 0 : 1;
      torn += (await readFile(join(directory, FILE), 'utf8')).at(-1) === '\n' ? 0 : 1;
      const database = await openEmbeddedDatabase({ directory });
      const found = new Map((await database.collection<WrittenRow>('rows').find({})).map((row) => [row._id, row]));
      await database.close();
      settle(expected, pending, found);
      const message = `round ${round}, seed ${SEED}`;
      expect([...found.keys()].sort(), message).to.deep.equal([...expected.keys()].sort());
      for (const [id, { n, size }] of expected) {
        const row = found.get(id);
        expect(row?.n, message).to.equal(n);
        expect(row?.text === textOf(id, n, size), `${message}: text of ${id}`).to.equal(true);
      }
    }
    // Otherwise no write was interrupted, and no line was truncated.
    expect(unfinished).to.be.greaterThan(ROUNDS / 2);
    expect(torn).to.be.greaterThan(ROUNDS / 10);
  });
});

/**
 * When to kill, once that many changes have started: as soon as a large one has begun to grow the file, or that many
 * turns of this process's event loop after any change.
 */
interface Moment {
  readonly begins: number;
  readonly isLarge: boolean;
  readonly turns: number;
}

/** @returns the change that was started but not acknowledged when the process died */
async function writeAndKill(
  directory: string,
  seed: number,
  moment: Moment,
  expected: Map<string, { n: number; size: number }>,
): Promise<Written | undefined> {
  const child = startChild('write', directory, String(seed), moment.isLarge ? '0.3' : '0');
  let pending: Written | undefined;
  let begins = 0;
  let isKilled = false;
  for await (const line of child.lines) {
    if (line.startsWith('open')) continue;
    if (line === '<') {
      if (pending !== undefined) apply(expected, pending);
      pending = undefined;
    } else if (line.startsWith('> ')) {
      pending = JSON.parse(line.slice(2)) as Written;
      begins += 1;
      if (!isKilled && begins >= moment.begins && (!moment.isLarge || ('size' in pending && pending.size === LARGE))) {
        isKilled = true;
        // The loop still reads what the process prints until it is dead.
        if (moment.isLarge) whenGrown(join(directory, FILE), () => void child.kill());
        else afterTurns(moment.turns, () => void child.kill());
      }
    } else throw new Error(line);
  }
  await child.kill();
  return pending;
}

function afterTurns(turns: number, act: () => void): void {
  if (turns === 0) act();
  else setImmediate(() => afterTurns(turns - 1, act));
}

/** A compaction in between shrinks the file. */
function whenGrown(file: string, act: () => void, size = Infinity): void {
  const now = statSync(file).size;
  if (now > size) act();
  else setImmediate(() => whenGrown(file, act, now));
}

function apply(rows: Map<string, { n: number; size: number }>, written: Written): void {
  if (written.type === 'remove') rows.delete(written.id);
  else rows.set(written.id, { n: written.n, size: written.size });
}

/** A change that was not acknowledged may have been applied. */
function settle(
  rows: Map<string, { n: number; size: number }>,
  written: Written | undefined,
  found: ReadonlyMap<string, WrittenRow>,
): void {
  if (written === undefined) return;
  const row = found.get(written.id);
  if (written.type === 'remove' ? row === undefined : row?.n === written.n) apply(rows, written);
}
