/**
 * The embedded store under `kill -9`: acknowledged writes are present, an interrupted write is present completely or
 * not at all, and the directory can be opened again, without a long text that no document has.
 */
import { expect } from 'chai';
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, statSync } from 'node:fs';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openEmbeddedDatabase } from '../../imports/business/ai/infrastructure/persistence/databases/embedded/EmbeddedDatabase';
import { startChild } from '../support/embeddedChildren';
import { textsOf } from '../support/embeddedWriter';
import type { Shape, Written, WrittenContent, WrittenRow } from '../support/embeddedWriter';
import { seededRandom } from '../../scripts/seed/seededRandom';

const ROUNDS = 150;
const SEED = Number(process.env['BOLIDE_SEED'] ?? Date.now() % 1_000_000);

const FILE = 'rows.nedb';
const TEXTS = 'rows.texts';
const SHAPES: readonly Shape[] = ['short', 'wide', 'long'];

describe('EmbeddedDatabase: kill -9 during writes', () => {
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
    let abandoned = 0;
    // How many writes a kill truncates depends on the machine, so rounds are added until there are enough of them.
    const isEnough = (): boolean => unfinished > ROUNDS / 2 && torn > ROUNDS / 10 && abandoned > ROUNDS / 10;
    for (let round = 0; round < ROUNDS || (!isEnough() && round < 5 * ROUNDS); round += 1) {
      const shape = SHAPES[round % SHAPES.length] ?? 'short';
      const moment = {
        begins: 1 + Math.floor(random() * (shape === 'short' ? 60 : 6)),
        shape,
        turns: Math.floor(random() * 100),
      };
      const pending = await writeAndKill(directory, SEED + round, moment, expected);
      unfinished += pending === undefined ? 0 : 1;
      torn += (await readFile(join(directory, FILE), 'utf8')).at(-1) === '\n' ? 0 : 1;
      const before = longTexts(directory);
      const database = await openEmbeddedDatabase({ directory });
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
      const left = [...expected].flatMap(([id, content]) => (content.shape === 'long' ? textsOf(id, content) : []));
      expect(longTexts(directory), message).to.deep.equal(left.map(nameOf).sort());
      abandoned += before.some((name) => !longTexts(directory).includes(name)) ? 1 : 0;
    }
    // Otherwise no write was interrupted, no line was truncated, and no long text was left behind.
    expect(unfinished).to.be.greaterThan(ROUNDS / 2);
    expect(torn).to.be.greaterThan(ROUNDS / 10);
    expect(abandoned).to.be.greaterThan(ROUNDS / 10);
  });
});

/**
 * When to kill, once that many changes have started: as soon as a wide document has begun to grow the file, as soon as
 * the files of long texts change, or that many turns of this process's event loop after any change.
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
        if (moment.shape === 'wide') whenGrown(join(directory, FILE), () => void child.kill());
        else if (moment.shape === 'long') whenChanged(directory, () => void child.kill());
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

function whenChanged(directory: string, act: () => void, names = longTexts(directory).join()): void {
  if (longTexts(directory).join() !== names) act();
  else setImmediate(() => whenChanged(directory, act, names));
}

function longTexts(directory: string): readonly string[] {
  const texts = join(directory, TEXTS);
  return existsSync(texts) ? readdirSync(texts).sort() : [];
}

function nameOf(text: string): string {
  return createHash('sha256').update(text).digest('hex');
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
