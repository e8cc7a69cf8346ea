/** What large changes of lists cost in the embedded database. */
import { expect } from 'chai';
import { randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openSqliteDatabase } from '../../imports/database/sqlite/SqliteDatabase';

interface Words {
  readonly _id: string;
  readonly words: readonly string[];
}

describe('SQLite: lists in documents', () => {
  let directory: string;
  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), 'bolide-words-'));
  });
  afterEach(() => rm(directory, { recursive: true }));

  it('cost no more in a large change than in many small ones', async () => {
    const database = await openSqliteDatabase({ directory });
    const words = database.collection<Words>('words');
    await words.ensureIndex({ words: 1 });
    const documents = (round: string, count = 400): Words[] =>
      Array.from({ length: count }, (_, n) => ({
        _id: `${round}-${n}`,
        words: Array.from({ length: 30 }, (_each, word) => (word < 8 ? `common-${word}` : randomUUID())),
      }));
    const cpuOf = async (write: () => Promise<unknown>): Promise<number> => {
      const before = process.cpuUsage();
      await write();
      const { user, system } = process.cpuUsage(before);
      return user + system;
    };
    await words.insertMany(documents('before', 2_000));
    const ratios: number[] = [];
    for (let round = 0; round < 5; round += 1) {
      const large = await cpuOf(() => words.insertMany(documents(`large-${round}`)));
      const small = await cpuOf(() =>
        Promise.all(documents(`small-${round}`).map((document) => words.insert(document))),
      );
      ratios.push(large / small);
    }
    const [, , median] = ratios.toSorted((a, b) => a - b);
    // It is 2 if SQLite has to be able to undo each statement by itself.
    expect(median).to.be.below(1.35);
    await database.close();
  });
});
