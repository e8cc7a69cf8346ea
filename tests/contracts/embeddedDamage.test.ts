/**
 * Damaged files of the embedded database: after any one flipped bit, lost byte or lost end, either a start or a read
 * fails and names the file, or everything is as it was.
 */
import { expect } from 'chai';
import { cp, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { StoreError } from '../../imports/business/ai/infrastructure/persistence/databases/databaseErrors';
import { openEmbeddedDatabase } from '../../imports/business/ai/infrastructure/persistence/databases/embedded/EmbeddedDatabase';
import { seededRandom } from '../../scripts/seed/seededRandom';
import { IS_SOAK } from '../support/soak';

const ROUNDS = IS_SOAK ? 1_000 : 40;
const SEED = Number(process.env['BOLIDE_SEED'] ?? Date.now() % 1_000_000);

const DAMAGES = {
  'a flipped bit': (content: Buffer, at: number, bit: number) => {
    const damaged = Buffer.from(content);
    damaged[at] = (content[at] ?? 0) ^ (1 << bit);
    return damaged;
  },
  'a lost byte': (content: Buffer, at: number) => Buffer.concat([content.subarray(0, at), content.subarray(at + 1)]),
  'a lost end': (content: Buffer, at: number) => content.subarray(0, at),
} as const;
const KINDS = Object.keys(DAMAGES) as readonly (keyof typeof DAMAGES)[];

describe('EmbeddedDatabase: damaged files', () => {
  let directory: string;

  before(async () => {
    directory = await mkdtemp(join(tmpdir(), 'bolide-damage-'));
    await fill(join(directory, 'original'));
  });
  after(() => rm(directory, { recursive: true }));

  it(`notices all of ${ROUNDS} damages, or they change nothing (seed ${SEED})`, async () => {
    const random = seededRandom(SEED);
    const original = join(directory, 'original');
    const expected = await contentOf(original);
    const files = await filesOf(original);
    const sizes = await Promise.all(files.map(async (file) => (await readFile(join(original, file))).length));
    const noticed = new Map<string, number>();
    for (let round = 0; round < ROUNDS; round += 1) {
      const [file, at] = placeOf(files, sizes, random);
      const kind = KINDS[round % 4] ?? 'a flipped bit';
      const bit = Math.floor(random() * 8);
      const copy = join(directory, 'copy');
      await rm(copy, { recursive: true, force: true });
      await cp(original, copy, { recursive: true });
      await writeFile(join(copy, file), DAMAGES[kind](await readFile(join(original, file)), at, bit));
      const message = `seed ${SEED}, round ${round}: ${kind} in ${file} at byte ${at}, bit ${bit}`;
      try {
        expect((await contentOf(copy)) === expected, message).to.equal(true);
      } catch (error) {
        if (!(error instanceof StoreError)) throw error;
        expect(error.message, message).to.include(file);
        noticed.set(kind, (noticed.get(kind) ?? 0) + 1);
      }
    }
    // Otherwise nothing was damaged.
    for (const kind of KINDS) expect(noticed.get(kind), kind).to.be.greaterThan(ROUNDS / 10);
  });
});

/** A database with documents that were changed and removed, with indexes, and with long texts. */
async function fill(directory: string): Promise<void> {
  const database = await openEmbeddedDatabase({ directory });
  for (const [name, documents] of [
    ['rows', 30],
    ['few', 1],
  ] as const) {
    const rows = database.collection<{ _id: string; n: number; text: string; at: Date }>(name);
    await rows.ensureIndex({ n: 1 }, { unique: true });
    const at = new Date(1_000_000);
    const textOf = (n: number): string =>
      (n % 10 === 0 ? 'long ü\u2028' : 'short "\\ü') + 'x'.repeat(n % 10 ? 90 : 9_000);
    for (let n = 0; n < documents; n += 1) await rows.insert({ _id: `${n}`, n, text: textOf(n), at });
    for (let n = 1; n < documents; n += 3) await rows.update({ _id: `${n}` }, { $set: { text: `${n}`, n: n + 1_000 } });
    for (let n = 2; n < documents; n += 9) await rows.remove({ _id: `${n}` });
  }
  await database.close();
}

/** Everything that the database answers. */
async function contentOf(directory: string): Promise<string> {
  const database = await openEmbeddedDatabase({ directory });
  try {
    const content: unknown[] = [];
    for (const name of ['rows', 'few']) content.push(await database.collection(name).find({}, { sort: { _id: 1 } }));
    return JSON.stringify(content);
  } finally {
    await database.close();
  }
}

async function filesOf(directory: string): Promise<readonly string[]> {
  const entries = await readdir(directory, { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(directory.length + 1))
    .sort();
}

/** Half of the places are in files of lines, which are smaller than those of texts. */
function placeOf(files: readonly string[], sizes: readonly number[], random: () => number): readonly [string, number] {
  const isText = random() < 0.2;
  const chosen = files.flatMap((file, at) =>
    file.includes('.texts') === isText ? [[file, sizes[at] ?? 0] as const] : [],
  );
  const [file, size] = chosen[Math.floor(random() * chosen.length)] ?? ['', 0];
  return [file, Math.floor(random() * size)];
}
