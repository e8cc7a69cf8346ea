/**
 * The embedded database under `kill -9`: acknowledged writes are present, an interrupted write is present completely or
 * not at all, and the directory can be opened again at once.
 */
import { expect } from 'chai';
import { existsSync, readFileSync, statSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { inspectSqlite } from '../../imports/database/sqlite/maintenance/inspectSqlite';
import { CHANGES_FILE, SQLITE_FILE } from '../../imports/database/sqlite/openSqliteFile';
import { openSqliteDatabase } from '../../imports/database/sqlite/SqliteDatabase';
import { startChild } from '../support/embeddedChildren';
import { textsOf } from '../support/embeddedWriter';
import type { Shape, Written, WrittenContent, WrittenRow } from '../support/embeddedWriter';
import { seededRandom } from '../../scripts/seed/seededRandom';

const ROUNDS = 150;
const SEED = Number(process.env['BOLIDE_SEED'] ?? Date.now() % 1_000_000);

const SQLITE_LOG = `${SQLITE_FILE}-wal`;
const SHAPES: readonly Shape[] = ['short', 'wide', 'long'];

describe('SQLite: kill -9 during writes', () => {
  let directory: string;

  before(async () => {
    directory = await mkdtemp(join(tmpdir(), 'bolide-kill-'));
  });
  after(() => rm(directory, { recursive: true }));

  it(`neither loses nor mixes documents in ${ROUNDS} rounds (seed ${SEED})`, async function () {
    this.timeout(ROUNDS * 15_000);
    const random = seededRandom(SEED);
    const expected = new Map<string, WrittenContent>();
    let unfinished = 0;
    let torn = 0;
    // How many writes a kill interrupts depends on the machine, so rounds are added until there are enough of them.
    const isEnough = (): boolean => unfinished > ROUNDS / 2 && torn > ROUNDS / 10;
    for (let round = 0; round < ROUNDS || (!isEnough() && round < 5 * ROUNDS); round += 1) {
      const shape = SHAPES[round % SHAPES.length] ?? 'short';
      const moment = {
        begins: 1 + Math.floor(random() * (shape === 'short' ? 60 : 6)),
        shape,
        turns: Math.floor(random() * 100),
      };
      const pending = await writeAndKill(directory, SEED + round, moment, expected);
      unfinished += pending === undefined ? 0 : 1;
      torn += isTorn(directory) ? 1 : 0;
      const database = await openSqliteDatabase({ directory });
      const found = new Map((await database.collection<WrittenRow>('rows').find({})).map((row) => [row._id, row]));
      await database.close();
      settle(expected, pending, found);
      const message = `round ${round}, seed ${SEED}`;
      expect([...found.keys()].sort(), message).to.deep.equal([...expected.keys()].sort());
      for (const [id, content] of expected) {
        const row = found.get(id);
        expect(row?.n, message).to.equal(content.n);
        const isSame = JSON.stringify(row?.texts) === JSON.stringify(textsOf(id, content));
        expect(isSame, `${message}: texts of ${id}`).to.equal(true);
      }
    }
    // Otherwise no write was interrupted, and none in the middle of its transaction.
    expect(unfinished).to.be.greaterThan(ROUNDS / 2);
    expect(torn).to.be.greaterThan(ROUNDS / 10);
    expect((await inspectSqlite(directory)).problems).to.deep.equal([]);
  });
});

/**
 * When to kill, once that many changes have started: as soon as a wide document has begun to grow the log of changes,
 * as soon as a commit has begun to grow SQLite's, or that many turns of this process's event loop after any change.
 */
interface Moment {
  readonly begins: number;
  readonly shape: Shape;
  readonly turns: number;
}

/** @returns the change that was started but not acknowledged when the process died */
async function writeAndKill(
  directory: string,
  seed: number,
  moment: Moment,
  expected: Map<string, WrittenContent>,
): Promise<Written | undefined> {
  const child = startChild('write', directory, String(seed), moment.shape);
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
      if (
        !isKilled &&
        begins >= moment.begins &&
        (moment.shape === 'short' || ('shape' in pending && pending.shape === moment.shape))
      ) {
        isKilled = true;
        // The loop still reads what the process prints until it is dead.
        if (moment.shape === 'short') afterTurns(moment.turns, () => void child.kill());
        else whenGrown(join(directory, moment.shape === 'wide' ? CHANGES_FILE : SQLITE_LOG), () => void child.kill());
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

/** A checkpoint in between shrinks the log. */
function whenGrown(file: string, act: () => void, size = Infinity): void {
  const now = statSync(file, { throwIfNoEntry: false })?.size ?? 0;
  if (now > size) act();
  else setImmediate(() => whenGrown(file, act, now));
}

/** Whether a change is in the log of changes in part, or a commit in SQLite's. */
function isTorn(directory: string): boolean {
  return !endsWithRecord(join(directory, CHANGES_FILE)) || !endsWithCommit(join(directory, SQLITE_LOG));
}

/** After eight bytes, each record has a header with its length. */
function endsWithRecord(log: string): boolean {
  const content = existsSync(log) ? readFileSync(log) : Buffer.alloc(0);
  let at = 8;
  while (at + 8 <= content.length) at += 8 + content.readUInt32LE(at);
  return content.length === 0 || at === content.length;
}

const [LOG_HEADER, FRAME_HEADER] = [32, 24];

/** Each page in the log has a header, with the size of the database if the page is the last of a transaction. */
function endsWithCommit(log: string): boolean {
  const content = existsSync(log) ? readFileSync(log) : Buffer.alloc(0);
  if (content.length <= LOG_HEADER) return true;
  const frame = FRAME_HEADER + content.readUInt32BE(8);
  const frames = (content.length - LOG_HEADER) / frame;
  return Number.isInteger(frames) && content.readUInt32BE(LOG_HEADER + (frames - 1) * frame + 4) > 0;
}

function apply(rows: Map<string, WrittenContent>, written: Written): void {
  if (written.type === 'remove') rows.delete(written.id);
  else rows.set(written.id, { n: written.n, size: written.size, shape: written.shape });
}

/** A change that was not acknowledged may have been applied. */
function settle(
  rows: Map<string, WrittenContent>,
  written: Written | undefined,
  found: ReadonlyMap<string, WrittenRow>,
): void {
  if (written === undefined) return;
  const row = found.get(written.id);
  if (written.type === 'remove' ? row === undefined : row?.n === written.n) apply(rows, written);
}
