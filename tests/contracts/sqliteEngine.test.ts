/** The embedded database beyond the contract of every database: its file, damage, what deletion leaves, and repairs. */
import { expect } from 'chai';
import fs from 'node:fs';
import { chmod, copyFile, cp, mkdir, mkdtemp, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import sinon from 'sinon';
import { isLLMError, StorageFullError } from '../../imports/business/ai/domain/errors/LLMErrors';
import { StoreLostError } from '../../imports/business/ai/domain/errors/StoreLostError';
import type { Selector } from '../../imports/database/DocumentCollection';
import type { DocumentDatabase } from '../../imports/database/DocumentDatabase';
import { StoreError } from '../../imports/database/databaseErrors';
import { openDatabase } from '../../imports/database/openDatabase';
import { RepeatedReads } from '../../imports/database/RepeatedReads';
import { CheckpointThread } from '../../imports/database/sqlite/CheckpointThread';
import { inspectSqlite } from '../../imports/database/sqlite/maintenance/inspectSqlite';
import { DirectoryLockedError, LOCK_FILE } from '../../imports/database/sqlite/lockDataDirectory';
import { loadSqlite } from '../../imports/database/sqlite/nodeSqlite';
import { CHANGES_FILE, openSqliteFile, SQLITE_FILE } from '../../imports/database/sqlite/openSqliteFile';
import { seededRandom } from '../../scripts/seed/seededRandom';
import { IS_SOAK } from '../support/soak';
import { failure } from '../support/failure';
import { runBolide } from '../support/runBolide';
import type { Ended } from '../support/runBolide';

const SEED = Number(process.env['BOLIDE_SEED'] ?? Date.now() % 1_000_000);
const DAMAGES = IS_SOAK ? 500 : 40;

interface Row {
  readonly _id: string;
  readonly n?: number;
  readonly text?: string;
  readonly at?: Date;
}

let directory: string;

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'bolide-sqlite-'));
});
afterEach(() => rm(directory, { recursive: true }));

const open = (): Promise<DocumentDatabase> => openDatabase({ DATA_DIR: join(directory, 'data') });

async function fill(database: DocumentDatabase, count = 30): Promise<void> {
  const rows = database.collection<Row>('rows');
  await rows.ensureIndex({ n: 1 }, { unique: true });
  await rows.ensureIndex({ at: 1 });
  for (let n = 0; n < count; n += 1)
    await rows.insert({ _id: `${n}`, n, text: 'ü'.repeat(n % 10 === 0 ? 9_000 : 90), at: new Date(n) });
  for (let n = 1; n < count; n += 3) await rows.update({ _id: `${n}` }, { $set: { text: `${n}` } });
  for (let n = 2; n < count; n += 9) await rows.remove({ _id: `${n}` });
}

async function openFilled(count: number): Promise<DocumentDatabase> {
  const database = await open();
  const rows = database.collection<Row>('rows');
  await rows.ensureIndex({ n: 1 });
  await rows.insertMany(Array.from({ length: count }, (_, n) => ({ _id: `${n}`, n, text: 'x' })));
  return database;
}

/** Changes the database as another program would. */
function damage(sql: string): void {
  const { DatabaseSync } = loadSqlite();
  const connection = new DatabaseSync(join(directory, 'data', SQLITE_FILE));
  connection.exec(sql);
  connection.close();
}

/** By this process so far. */
async function bytesWritten(): Promise<number> {
  const [, bytes] = /^wchar: (\d+)$/m.exec(await readFile('/proc/self/io', 'utf8')) ?? [];
  return Number(bytes);
}

const contentOf = async (database: DocumentDatabase): Promise<readonly Row[]> =>
  database.collection<Row>('rows').find({}, { sort: { _id: 1 } });

const data = (...args: readonly string[]): Promise<Ended> =>
  runBolide(['data', ...args], { environment: { DATA_DIR: join(directory, 'data') }, now: () => new Date(0) });

describe('SQLite: the database file', () => {
  it('keeps documents, dates and indexes, readable by its owner only', async () => {
    await mkdir(join(directory, 'data'), { mode: 0o755 });
    const database = await open();
    await fill(database);
    const expected = await contentOf(database);
    await database.close();
    expect((await stat(join(directory, 'data', SQLITE_FILE))).mode & 0o777).to.equal(0o600);
    await chmod(join(directory, 'data', SQLITE_FILE), 0o644);
    const reopened = await open();
    expect(await contentOf(reopened)).to.deep.equal(expected);
    await reopened.collection<Row>('rows').insert({ _id: 'new' });
    for (const name of await readdir(join(directory, 'data')))
      expect((await stat(join(directory, 'data', name))).mode & 0o777, name).to.equal(0o600);
    await reopened.close();
  });

  it('is refused if a newer version has written it, or another program', async () => {
    await (await open()).close();
    damage('PRAGMA user_version = 1000');
    const error = await failure(open());
    expect(error).to.be.instanceOf(StoreError);
    expect(String(error)).to.match(
      /bolide\.sqlite was written by a newer version of this program\. Use that version\./,
    );
    damage('PRAGMA application_id = 1');
    expect(String(await failure(open()))).to.include('is a database of another program');
  });

  it('is refused on a file system without shared memory, and not created', async () => {
    const { DatabaseSync } = loadSqlite();
    // SQLite keeps the mode that it has, and says so.
    class RemoteDatabase extends DatabaseSync {
      override prepare(sql: string): ReturnType<InstanceType<typeof DatabaseSync>['prepare']> {
        return super.prepare(sql === 'PRAGMA journal_mode = WAL' ? 'PRAGMA journal_mode' : sql);
      }
    }
    const opening = openSqliteFile(join(directory, SQLITE_FILE), { sqlite: { DatabaseSync: RemoteDatabase } });
    expect(String(await failure(opening))).to.match(/lacks the shared memory .* local disk\./);
    expect(await readdir(directory)).to.deep.equal([]);
  });

  it('has its directory to itself, and waits for what has begun when it is closed', async () => {
    const database = await open();
    expect(await failure(open())).to.be.instanceOf(DirectoryLockedError);
    const rows = database.collection<Row>('rows');
    const writes = Array.from({ length: 30 }, (_, n) => rows.insert({ _id: `${n}` }));
    await Promise.all([database.close(), database.close()]);
    await Promise.all(writes);
    expect(await failure(rows.find({}))).to.be.instanceOf(StoreError);
    expect(await failure(rows.insert({ _id: 'late' }))).to.be.instanceOf(StoreError);
    expect(() => database.collection('rows')).to.throw(StoreError);
    const reopened = await open();
    expect(await contentOf(reopened)).to.have.length(30);
    await reopened.close();
  });

  it('is not in a directory that is a file, which is named', async () => {
    await writeFile(join(directory, 'data'), '');
    const error = await failure(open());
    expect(error).to.be.instanceOf(StoreError);
    expect(String(error)).to.include(join(directory, 'data'));
  });
});

describe('SQLite: indexes', () => {
  it('builds one over the documents that are there, also over arrays and after a start', async () => {
    const first = await open();
    await first.collection('rows').insert({ _id: 'a', tags: ['x', 'y'], n: 2 } as Row);
    await first.collection('rows').insert({ _id: 'b', tags: 'x', n: 1 } as Row);
    await first.collection('rows').ensureIndex({ tags: 1, n: -1 });
    expect(await first.collection('rows').count({ tags: 'x' })).to.equal(2);
    await first.close();
    const second = await open();
    const rows = second.collection('rows');
    expect((await rows.find({ tags: 'y' })).map(({ _id }) => _id)).to.deep.equal(['a']);
    expect((await rows.find({ tags: { $ne: 'y' } })).map(({ _id }) => _id)).to.deep.equal(['b']);
    expect((await rows.find({}, { sort: { n: 1 } })).map(({ _id }) => _id)).to.deep.equal(['b', 'a']);
    await second.close();
    expect((await data('check')).code).to.equal(0);
  });
});

describe('SQLite: columns', () => {
  it('are asked for numbers only, and for nothing if a document has another value', async () => {
    const database = await open();
    const rows = database.collection<{ readonly _id: string; readonly n?: unknown }>('rows');
    await rows.ensureIndex({ n: 1 });
    const values = [1, -0.5, null, 'x', true, [1, 2], { n: 1 }, new Date(1)];
    for (const [at, n] of values.entries()) await rows.insert({ _id: `${at}`, n });
    await rows.insert({ _id: 'none' });
    const found = await rows.find({}, { fields: { n: 1 } });
    expect(found).to.deep.equal([...values.map((n, at) => ({ _id: `${at}`, n })), { _id: 'none' }]);
    await database.close();
  });

  it('count the groups of an indexed field, of which no document is read', async () => {
    const database = await open();
    const rows = database.collection<{ readonly _id: string; readonly by?: unknown; readonly n: number }>('rows');
    await rows.ensureIndex({ by: 1 });
    await rows.ensureIndex({ n: 1 });
    for (const [n, by] of ['b', 'a', 'b', 'a', 1, null].entries()) await rows.insert({ _id: `${n}`, by, n });
    await rows.insert({ _id: 'none', n: 6 });
    const groups = async (selector: Selector): Promise<readonly unknown[]> =>
      (await rows.aggregate(selector, { by: { by: 'by' } })).map(({ key, count }) => [key['by'], count]);
    const read = await groups({});
    await database.purge?.();
    damage(`UPDATE rows SET checksum = 1`);
    expect(await groups({})).to.deep.equal(read);
    expect(read).to.deep.equal([
      [null, 2],
      ['a', 2],
      ['b', 2],
      [1, 1],
    ]);
    expect(await groups({ by: { $gte: 'b' } })).to.deep.equal([['b', 2]]);
    expect(await groups({ n: { $gt: 4 } })).to.deep.equal([[null, 2]]);
    await rows.insert({ _id: 'date', by: new Date(1), n: 7 });
    expect(String(await failure(groups({})))).to.include('is damaged');
    await database.close();
  });

  it('hold any number of elements of an array', async () => {
    const database = await open();
    const rows = database.collection<{ readonly _id: string; readonly tags: readonly string[] }>('rows');
    await rows.ensureIndex({ tags: 1 });
    for (const length of [0, 1, 2, 31, 32, 33, 47, 100])
      await rows.insert({ _id: `${length}`, tags: Array.from({ length }, (_, at) => `tag-${at}`) });
    expect(await rows.count({ tags: 'tag-0' })).to.equal(7);
    expect(await rows.count({ tags: 'tag-31' })).to.equal(4);
    expect((await rows.find({ tags: 'tag-99' })).map(({ _id }) => _id)).to.deep.equal(['100']);
    await database.close();
    expect((await data('check')).code).to.equal(0);
  });
});

describe('SQLite: transactions', () => {
  /** How many transactions twenty changes of one turn take, of which each lasts so many milliseconds. */
  async function transactionsOf(milliseconds: number): Promise<number> {
    const file = await openSqliteFile(join(directory, SQLITE_FILE));
    await file.write(() => file.run('CREATE TABLE rows (n)'));
    const { version } = file;
    let now = performance.now();
    const clock = sinon.stub(performance, 'now').callsFake(() => now);
    const writeAfter = async (n: number): Promise<void> => {
      for (let at = 0; at < n; at += 1) await Promise.resolve();
      await file.write(() => {
        now += milliseconds;
        return file.run('INSERT INTO rows VALUES (?)', [n]);
      });
    };
    try {
      await Promise.all(Array.from({ length: 20 }, (_, n) => writeAfter(n)));
    } finally {
      clock.restore();
    }
    expect(file.all('SELECT n FROM rows')).to.have.length(20);
    const transactions = file.version - version;
    await file.close();
    return transactions;
  }

  it('take what different tasks write in one turn of the event loop', async () => {
    expect(await transactionsOf(0)).to.equal(1);
  });

  it('end after a while, so that others get a turn', async () => {
    expect(await transactionsOf(5)).to.be.within(5, 10);
  });
});

describe("SQLite: SQLite's own log", () => {
  it('is written to the file by another thread before it has many bytes', async () => {
    const path = join(directory, SQLITE_FILE);
    const file = await openSqliteFile(path, { isLogged: true });
    await file.write(() => file.run('CREATE TABLE rows (content)'));
    const sizeOf = (name: string): number => fs.statSync(name, { throwIfNoEntry: false })?.size ?? 0;
    let largest = 0;
    for (let n = 0; n < 7; n += 1) {
      const before = await file.write(() => {
        file.run('INSERT INTO rows VALUES (zeroblob(6000000))');
        // What is logged commits the transaction.
        file.run('UPDATE "log.state" SET number = number WHERE ? IS NULL', ['x'.repeat(1_100_000)]);
        return sizeOf(path);
      });
      // The turn of the event loop is the same.
      expect(sizeOf(path) - before, 'bytes that this thread has written to the file').to.equal(0);
      largest = Math.max(largest, sizeOf(`${path}-wal`));
    }
    expect(largest).to.be.within(16_000_000, 26_000_000);
    expect(sizeOf(path)).to.be.greaterThan(16_000_000);
    await file.close();
    expect(await readdir(directory)).to.deep.equal([SQLITE_FILE]);
    const reopened = await openSqliteFile(path, { isLogged: true });
    expect(reopened.all('SELECT 1 FROM rows')).to.have.length(7);
    await reopened.close();
  });

  it('says once why it cannot be written to the file', async () => {
    const file = await openSqliteFile(join(directory, SQLITE_FILE), { isLogged: true });
    await file.write(() => file.run('CREATE TABLE rows (content)'));
    const failure = new Error('database or disk is full');
    const checkpoint = sinon.stub(CheckpointThread.prototype, 'checkpoint').resolves(failure);
    const warn = sinon.stub(process, 'emitWarning');
    try {
      for (let n = 0; n < 4; n += 1)
        await file.write(() => {
          file.run('INSERT INTO rows VALUES (zeroblob(9000000))');
          file.run('UPDATE "log.state" SET number = number WHERE ? IS NULL', ['x'.repeat(1_100_000)]);
        });
      await file.write(() => undefined);
      expect(checkpoint.callCount).to.be.greaterThan(1);
      expect(warn.args).to.deep.equal([[failure]]);
    } finally {
      checkpoint.restore();
      warn.restore();
    }
    await file.close();
  });

  it('is written to the file by the same thread where there can be no other', async () => {
    const path = join(directory, SQLITE_FILE);
    const file = await openSqliteFile(path, { isLogged: true });
    await file.write(() => file.run('CREATE TABLE rows (content)'));
    const stub = sinon.stub(CheckpointThread.prototype, 'checkpoint').rejects(new Error('ERR_ACCESS_DENIED'));
    try {
      for (let n = 0; n < 4; n += 1)
        await file.write(() => {
          file.run('INSERT INTO rows VALUES (zeroblob(9000000))');
          file.run('UPDATE "log.state" SET number = number WHERE ? IS NULL', ['x'.repeat(1_100_000)]);
        });
      await file.write(() => undefined);
    } finally {
      stub.restore();
    }
    expect(fs.statSync(path).size).to.be.greaterThan(9_000_000);
    await file.close();
  });
});

describe('SQLite: the log of changes', () => {
  const log = (): string => join(directory, 'data', CHANGES_FILE);

  /** What a crash at this moment would leave. */
  async function crash(): Promise<void> {
    const data = join(directory, 'data');
    await rm(join(directory, 'crashed'), { recursive: true, force: true });
    await cp(data, join(directory, 'crashed'), { recursive: true });
  }

  /** Returns what a start after the crash finds. */
  async function contentAfterCrash(): Promise<readonly Row[]> {
    const database = await openDatabase({ DATA_DIR: join(directory, 'crashed') });
    try {
      return await contentOf(database);
    } finally {
      await database.close();
    }
  }

  it('has every change that was acknowledged, with its indexes, and none that failed', async () => {
    const database = await open();
    const rows = database.collection<Row>('rows');
    await fill(database);
    expect(await failure(rows.insert({ _id: 'twice', n: 1 }))).to.have.property('code', 'conflict');
    const expected = await contentOf(database);
    await crash();
    expect((await inspectSqlite(join(directory, 'crashed'))).collections).to.deep.equal([]);
    expect(await contentAfterCrash()).to.deep.equal(expected);
    expect((await inspectSqlite(join(directory, 'crashed'))).problems).to.deep.equal([]);
    await database.purge?.();
    await rows.insert({ _id: 'later', n: 1_000 });
    await crash();
    expect(await contentAfterCrash()).to.have.deep.members([...expected, { _id: 'later', n: 1_000 }]);
    await database.close();
    expect(await readdir(join(directory, 'data'))).to.not.include(CHANGES_FILE);
  });

  it('may be cut off anywhere, which takes back what was not acknowledged', async () => {
    const database = await open();
    const rows = database.collection<Row>('rows');
    await rows.insert({ _id: 'a', text: 'ü' });
    await rows.insert({ _id: 'b', text: '🎈' });
    const { length } = await readFile(log());
    await rows.update({ _id: 'a' }, { $set: { text: 'x'.repeat(9_000), at: new Date(5) } });
    const complete = await readFile(log());
    await crash();
    await database.close();
    const crashed = join(directory, 'crashed', CHANGES_FILE);
    const expected = [
      { _id: 'a', text: 'ü' },
      { _id: 'b', text: '🎈' },
    ];
    for (let end = length; end < complete.length; end += 397) {
      await rm(join(directory, 'data'), { recursive: true });
      await cp(join(directory, 'crashed'), join(directory, 'data'), { recursive: true });
      await writeFile(log(), complete.subarray(0, end));
      const cut = await open();
      expect(await contentOf(cut), `${end} bytes`).to.deep.equal(expected);
      // The log goes on behind what was acknowledged.
      await cut.collection<Row>('rows').insert({ _id: 'c' });
      await cut.close();
      const again = await open();
      expect(await contentOf(again), `${end} bytes`).to.deep.equal([...expected, { _id: 'c' }]);
      await again.close();
    }
    await writeFile(crashed, complete);
    expect(await contentAfterCrash()).to.have.deep.nested.property('[0].at', new Date(5));
  });

  it('is void once its changes are in the database, and refused if it is damaged before its end', async () => {
    const database = await open();
    const rows = database.collection<Row>('rows');
    await rows.insert({ _id: 'a', n: 1 });
    await rows.update({ _id: 'a' }, { $inc: { n: 1 } });
    const old = await readFile(log());
    await crash();
    const damaged = Buffer.from(old);
    damaged[100] = (old[100] ?? 0) ^ 1;
    await writeFile(join(directory, 'crashed', CHANGES_FILE), damaged);
    expect(String(await failure(contentAfterCrash()))).to.include(`${CHANGES_FILE} is damaged`);
    await database.close();
    await writeFile(log(), old);
    const reopened = await open();
    expect(await contentOf(reopened)).to.deep.equal([{ _id: 'a', n: 2 }]);
    await reopened.close();
  });

  it('takes back a change that it has no room for, and keeps everything else', async () => {
    const database = await open();
    const rows = database.collection<Row>('rows');
    await rows.ensureIndex({ n: 1 }, { unique: true, sparse: true });
    await rows.insertMany([
      { _id: 'a', n: 1 },
      { _id: 'b', n: 2 },
    ]);
    const { writeSync } = fs;
    // A part of it fits.
    const stub = sinon.stub(fs, 'writeSync').callsFake((...[file, bytes, , , position]: unknown[]) => {
      writeSync(file as number, bytes as Buffer, 0, 5, position as number);
      throw Object.assign(new Error('ENOSPC: no space left on device, write'), { code: 'ENOSPC' });
    });
    for (const write of [
      () => rows.insert({ _id: 'c', n: 3 }),
      () => rows.update({ _id: 'a' }, { $set: { n: 3 } }),
      () => rows.remove({}),
    ])
      expect(await failure(write())).to.be.instanceOf(StorageFullError);
    expect(await contentOf(database)).to.deep.equal([
      { _id: 'a', n: 1 },
      { _id: 'b', n: 2 },
    ]);
    expect(await failure(database.checkRoom!())).to.be.instanceOf(StorageFullError);
    stub.restore();
    await database.checkRoom?.();
    await rows.insert({ _id: 'd', n: 3 });
    await crash();
    expect((await contentAfterCrash()).map(({ _id }) => _id)).to.deep.equal(['a', 'b', 'd']);
    await database.close();
  });

  it('is applied after thirty seconds, and before it has many bytes', async () => {
    const clock = sinon.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    const database = await open();
    const rows = database.collection<Row>('rows');
    await rows.insert({ _id: 'a' });
    expect((await stat(log())).size).to.be.greaterThan(100);
    clock.tick(30_000);
    expect((await stat(log())).size).to.equal(0);
    for (let n = 0; n < 6; n += 1) await rows.insert({ _id: `${n}`, text: `${n}`.repeat(1_000_000) });
    expect((await stat(log())).size).to.be.below(1_500_000);
    clock.restore();
    await database.close();
  });

  it('is void after a commit even if it cannot be emptied, and what was committed is acknowledged', async () => {
    const database = await open();
    const rows = database.collection<Row>('rows');
    await rows.insert({ _id: 'first' });
    const { ftruncateSync } = fs;
    const stub = sinon.stub(fs, 'ftruncateSync').callsFake((file, length) => {
      if (length === 0) throw Object.assign(new Error('EIO: i/o error, ftruncate'), { code: 'EIO' });
      ftruncateSync(file, length);
    });
    const warnings = sinon.stub(process, 'emitWarning');
    for (let n = 0; warnings.notCalled; n += 1) await rows.insert({ _id: `${n}`, text: `${n}`.repeat(1_000_000) });
    const committed = await contentOf(database);
    stub.restore();
    warnings.restore();
    await rows.insert({ _id: 'last' });
    await crash();
    expect((await contentAfterCrash()).map(({ _id }) => _id)).to.deep.equal([
      ...committed.map(({ _id }) => _id),
      'last',
    ]);
    await database.close();
  });

  it('is part of a backup, and of what is repaired', async () => {
    const database = await open();
    await fill(database);
    const expected = await contentOf(database);
    expect((await data('backup', join(directory, 'backup'))).code).to.equal(0);
    await crash();
    await database.close();
    const crashed = join(directory, 'crashed');
    const repaired = await data('repair', '--dir', crashed);
    expect(repaired.output).to.match(/rows: \d+ documents\n.*nothing is damaged/);
    expect(await contentAfterCrash()).to.deep.equal(expected);
    const copy = await openDatabase({ DATA_DIR: join(directory, 'backup') });
    expect(await contentOf(copy)).to.deep.equal(expected);
    await copy.close();
  });
});

describe('SQLite: a data directory that its process loses', () => {
  const data = (name = ''): string => join(directory, 'data', name);
  const anotherCommits = (): void => damage('UPDATE "log.state" SET number = number + 1');

  const LOSSES: Readonly<Record<string, () => unknown>> = {
    'is moved': () => rename(data(), join(directory, 'moved')),
    'has no lock file any more': () => rm(data(LOCK_FILE)),
    'has another database': async () => {
      await copyFile(data(SQLITE_FILE), data('copy'));
      await rename(data('copy'), data(SQLITE_FILE));
    },
    'has been written to by another process': anotherCommits,
  };
  for (const [how, lose] of Object.entries(LOSSES))
    it(`${how}: fails everything within a second, what was read before too`, async () => {
      const clock = sinon.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
      try {
        const database = await openFilled(3);
        // Nobody can write during a transaction of this process.
        await database.purge?.();
        const rows = database.collection<Row>('rows');
        const lists = new RepeatedReads<readonly Row[]>(rows);
        const read = (): Promise<readonly Row[]> => lists.read('all', () => rows.find({}));
        clock.tick(2_000);
        expect(await read()).to.have.length(3);
        await lose();
        clock.tick(1_000);
        const error = await database.lost;
        expect(error).to.be.instanceOf(StoreLostError).and.include({ retryable: false, httpStatus: 503 });
        expect(error)
          .to.have.property('message')
          .that.includes(data())
          .and.match(/lost.*start the program again/);
        for (const operate of [read, () => rows.count({}), () => rows.insert({ _id: 'late' }), () => rows.remove({})])
          expect(await failure(operate())).to.equal(error);
        await database.close();
      } finally {
        clock.restore();
      }
    });

  it('refuses the next write after that of another process', async () => {
    const database = await openFilled(3);
    await database.purge?.();
    anotherCommits();
    expect(await failure(database.collection<Row>('rows').insert({ _id: 'late' }))).to.equal(await database.lost);
    await database.close();
  });

  it('leaves what was acknowledged to the next process', async () => {
    const clock = sinon.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
    try {
      const database = await openFilled(3);
      await rm(data(LOCK_FILE));
      clock.tick(1_000);
      const next = await open();
      await database.close();
      await next.collection<Row>('rows').insert({ _id: 'next' });
      expect(await contentOf(next)).to.have.length(4);
      await next.close();
      const reopened = await open();
      expect(await contentOf(reopened)).to.have.length(4);
      await reopened.close();
    } finally {
      clock.restore();
    }
  });
});

describe('SQLite: the version of a collection', () => {
  it('is another one after each write, and the same after reads and writes of other collections', async () => {
    const database = await openFilled(3);
    const rows = database.collection<Row>('rows');
    const versions = new Set<number | undefined>();
    const write = async (writing: Promise<unknown>): Promise<void> => {
      await writing;
      versions.add(rows.version);
    };
    await write(rows.insert({ _id: 'a', n: 10 }));
    await write(rows.insertMany([{ _id: 'b', n: 11 }]));
    await write(rows.update({ _id: 'a' }, { $set: { text: 'x' } }));
    await write(rows.update({}, { $set: { text: 'y' } }, { multi: true }));
    await write(rows.upsertMany([{ _id: 'c', selector: {}, modifier: { $set: { n: 12 } } }]));
    await write(rows.remove({ _id: 'c' }));
    expect(versions.size).to.equal(6);
    await rows.find({});
    await database.collection('others').insert({ _id: 'a' });
    await rows.remove({ _id: 'unknown' });
    versions.add(rows.version);
    expect(versions.size).to.equal(6);
    expect(versions.has(undefined)).to.equal(false);
    await database.close();
  });
});

describe('SQLite: removal', () => {
  it('reads no document that SQL can find if ids and indexed numbers are all that is asked for', async () => {
    const database = await openFilled(300);
    const rows = database.collection<Row>('rows');
    await database.purge?.();
    damage(`UPDATE rows SET checksum = 1`);
    expect(String(await failure(rows.find({})))).to.include('is damaged');
    expect(await rows.find({ n: { $lt: 2 } }, { sort: { n: -1 }, fields: { _id: 1 } })).to.deep.equal([
      { _id: '1' },
      { _id: '0' },
    ]);
    expect(await rows.find({ n: { $lt: 2 } }, { sort: { n: 1 }, fields: { _id: 1, n: 1 } })).to.deep.equal([
      { _id: '0', n: 0 },
      { _id: '1', n: 1 },
    ]);
    expect(String(await failure(rows.find({ n: 1 }, { fields: { at: 1 } })))).to.include('is damaged');
    expect(await rows.remove({ n: { $in: Array.from({ length: 250 }, (_, n) => n) } })).to.equal(250);
    expect(await rows.count({})).to.equal(50);
    await database.close();
  });

  for (const selector of [{ n: { $lt: 1_000 } }, { n: { $lt: 1_000 }, text: 'x' }])
    it(`leaves what matches ${JSON.stringify(selector)} no more when its turn comes`, async () => {
      const database = await openFilled(300);
      const rows = database.collection<Row>('rows');
      const removing = rows.remove(selector);
      await rows.update({ _id: '250' }, { $set: { n: 2_000 } });
      expect(await removing).to.equal(299);
      expect((await rows.find({})).map(({ _id }) => _id)).to.deep.equal(['250']);
      await database.close();
    });
});

if (process.platform === 'linux')
  describe('SQLite: what is written', () => {
    it('is little for a small change', async () => {
      const database = await openFilled(10);
      const rows = database.collection<Row>('rows');
      const before = await bytesWritten();
      for (let at = 0; at < 100; at += 1) await rows.update({ _id: '1' }, { $set: { text: `${at}` } });
      expect(((await bytesWritten()) - before) / 100).to.be.below(3_000);
      await database.close();
    });
  });

describe('SQLite: damaged files', () => {
  it(`notices ${DAMAGES} damages at a start, at a read or in a check, or they change nothing (seed ${SEED})`, async function () {
    const random = seededRandom(SEED);
    const database = await open();
    await fill(database);
    const expected = JSON.stringify(await contentOf(database));
    await database.close();
    const path = join(directory, 'data', SQLITE_FILE);
    const original = await readFile(path);
    let noticed = 0;
    for (let round = 0; round < DAMAGES; round += 1) {
      const at = Math.floor(random() * original.length);
      const damaged = Buffer.from(original);
      damaged[at] = (original[at] ?? 0) ^ (1 << Math.floor(random() * 8));
      for (const name of await readdir(join(directory, 'data')))
        await rm(join(directory, 'data', name), { recursive: true });
      await writeFile(path, round % 4 === 3 ? original.subarray(0, at) : damaged);
      const message = `seed ${SEED}, round ${round}: byte ${at}`;
      try {
        const opened = await open();
        // oxlint-disable-next-line typescript/no-misused-promises -- `finally` waits for what is returned
        const found = await contentOf(opened).finally(() => opened.close());
        if (JSON.stringify(found) !== expected) {
          expect((await inspectSqlite(join(directory, 'data'))).problems, message).to.not.deep.equal([]);
          noticed += 1;
        }
      } catch (error) {
        if (!isLLMError(error)) throw error;
        expect(error.message, message).to.include(SQLITE_FILE);
        noticed += 1;
      }
    }
    expect(noticed).to.be.greaterThan(DAMAGES / 10);
  });
});

describe('SQLite: deletion', () => {
  it('leaves nothing of a document in any file after a purge', async () => {
    const database = await open();
    const rows = database.collection<Row>('rows');
    await rows.ensureIndex({ text: 1 });
    for (let n = 0; n < 50; n += 1)
      await rows.insert({ _id: `${n}`, n, text: `canary ${n} ${'canary'.repeat(n % 5 === 0 ? 2_000 : 1)}` });
    await rows.update({ n: 3 }, { $set: { text: 'other' } });
    await rows.remove({ text: { $prefix: 'canary' } });
    await database.purge?.();
    const files = await readdir(join(directory, 'data'), { recursive: true, withFileTypes: true });
    for (const file of files.filter((entry) => entry.isFile()))
      expect((await readFile(join(file.parentPath, file.name))).includes('canary'), file.name).to.equal(false);
    expect(await rows.count({})).to.equal(1);
    await database.close();
  });
});

describe('SQLite: the data commands', () => {
  it('repairs indexes without a loss, and leaves out documents only if that is accepted', async () => {
    const database = await open();
    await fill(database);
    const expected = await contentOf(database);
    await database.close();
    const path = join(directory, 'data', SQLITE_FILE);
    damage(`UPDATE rows SET "k:at" = 5 WHERE _id = '4'`);
    expect((await data('check')).output).to.match(/rows, row \d+: its columns do not fit the document/);
    expect((await data('repair')).code).to.equal(0);
    const repaired = await open();
    expect(await contentOf(repaired)).to.deep.equal(expected);
    await repaired.close();
    damage(`UPDATE rows SET document = replace(document, '90', '91'), checksum = 1 WHERE _id = '4'`);
    expect((await data('check')).code).to.equal(1);
    const before = await readFile(path);
    expect((await data('repair')).output).to.match(/Cannot be read: rows, row \d+: .*accept the loss/s);
    expect((await readFile(path)).equals(before)).to.equal(true);
    expect((await data('repair', '--accept-loss')).code).to.equal(0);
    const rest = await open();
    expect(await contentOf(rest)).to.deep.equal(expected.filter(({ _id }) => _id !== '4'));
    await rest.close();
  });
});
