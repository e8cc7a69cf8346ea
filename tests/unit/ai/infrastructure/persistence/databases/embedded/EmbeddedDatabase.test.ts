import { expect } from 'chai';
import Nedb from '@seald-io/nedb';
import { mkdir, mkdtemp, readFile, readdir, readlink, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import sinon from 'sinon';
import { LLMInvalidRequestError } from '../../../../../../../imports/business/ai/domain/errors/LLMErrors';
import type { StoredDocument } from '../../../../../../../imports/business/ai/domain/interfaces/DocumentCollection';
import { AppendedFile } from '../../../../../../../imports/business/ai/infrastructure/persistence/databases/embedded/AppendedFile';
import { CorruptDataFileError } from '../../../../../../../imports/business/ai/infrastructure/persistence/databases/embedded/CorruptDataFileError';
import { openEmbeddedDatabase } from '../../../../../../../imports/business/ai/infrastructure/persistence/databases/embedded/EmbeddedDatabase';
import type {
  EmbeddedDatabase,
  EmbeddedDatabaseOptions,
} from '../../../../../../../imports/business/ai/infrastructure/persistence/databases/embedded/EmbeddedDatabase';
import { openDatabase } from '../../../../../../../imports/business/ai/infrastructure/persistence/databases/openDatabase';
import { StoreError } from '../../../../../../../imports/business/ai/infrastructure/persistence/databases/databaseErrors';
import { deferred } from '../../../../../../support/deferred';
import { failure } from '../../../../../../support/failure';

interface Row extends StoredDocument {
  readonly [field: string]: unknown;
}

describe('EmbeddedDatabase', () => {
  let directory: string;
  let database: EmbeddedDatabase | undefined;

  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), 'bolide-embedded-'));
  });
  afterEach(async () => {
    sinon.restore();
    await database?.close();
    database = undefined;
    await rm(directory, { recursive: true, force: true });
  });

  const open = async (options: Partial<EmbeddedDatabaseOptions> = {}): Promise<EmbeddedDatabase> => {
    await database?.close();
    database = await openEmbeddedDatabase({ directory, ...options });
    return database;
  };
  const allRows = async (): Promise<readonly Row[]> =>
    (await open()).collection<Row>('rows').find({}, { sort: { _id: 1 } });
  const file = (): string => join(directory, 'rows.nedb');

  it('restores documents, dates and indexes when reopened', async () => {
    const document = {
      _id: 'a',
      at: new Date(0),
      text: '\u2028\u2029\u0085\r\n\u0000🎈',
      list: [{ deep: [new Date(5)] }],
      none: null,
    };
    const rows = (await open()).collection<Row>('rows');
    await rows.insert(document);
    await rows.insert({ _id: 'b', n: 1 });
    await rows.insert({ _id: 'c', n: 1 });
    await rows.update({ _id: 'b' }, { $inc: { n: 1 } });
    await rows.remove({ _id: 'c' });
    await rows.ensureIndex({ n: 1 }, { unique: true, sparse: true });
    expect(await allRows()).to.deep.equal([document, { _id: 'b', n: 2 }]);
  });

  it('rewrites a file at the start only if most of its lines are outdated', async () => {
    const rows = (await open()).collection<Row>('rows');
    await rows.insertMany(Array.from({ length: 10 }, (_, n) => ({ _id: `${n}`, n: 0 })));
    await rows.update({ _id: '3' }, { $inc: { n: 1 } });
    const written = await readFile(file(), 'utf8');
    expect(written.trimEnd().split('\n')).to.have.length(11);
    const expected = Array.from({ length: 10 }, (_, n) => ({ _id: `${n}`, n: n === 3 ? 1 : 0 }));
    expect(await allRows()).to.deep.equal(expected);
    expect(await readFile(file(), 'utf8')).to.equal(written);

    const reopened = (await open()).collection<Row>('rows');
    for (let times = 0; times < 10; times += 1) await reopened.update({ _id: '4' }, { $set: { n: 5 } });
    expect(await allRows()).to.deep.equal(expected.map((row) => (row._id === '4' ? { _id: '4', n: 5 } : row)));
    const lines = (await readFile(file(), 'utf8')).trimEnd().split('\n');
    expect(lines).to.have.length(10);
    // Later writes are appended, and later compactions rewrite the file.
    await database?.collection<Row>('rows').remove({ _id: '4' });
    expect(await allRows()).to.have.length(9);
  });

  it('preserves documents with characters that NeDB treats as line ends', async () => {
    const rows = (await open()).collection<Row>('rows');
    for (let n = 0; n < 50; n += 1)
      await rows.insert({ _id: `${n}`, text: n === 25 ? 'one\u2028two\u2029three\u0085four' : 'plain' });
    expect(await allRows()).to.have.length(50);
  });

  it('builds an index with the current options, not those of an earlier version', async () => {
    const rows = (await open()).collection<Row>('rows');
    await rows.ensureIndex({ n: 1 }, { unique: true });
    await rows.insert({ _id: 'a', n: 1 });
    await (await open()).collection('rows').ensureIndex({ n: 1 });
    await database?.collection<Row>('rows').insert({ _id: 'b', n: 1 });
    expect(await failure((await open()).collection('rows').ensureIndex({ n: 1 }, { unique: true }))).to.have.property(
      'code',
      'conflict',
    );
    expect(await allRows()).to.have.length(2);
  });

  it('restricts files and directory to their owner, even if they were not before', async () => {
    directory = join(directory, 'made', 'here');
    await (await open()).collection<Row>('rows').insert({ _id: 'a' });
    for (const name of ['old.nedb', 'old.nedb~'])
      await writeFile(join(directory, name), '{"_id":"a"}\n', { mode: 0o644 });
    await open();
    expect((await stat(directory)).mode & 0o777).to.equal(0o700);
    for (const name of await readdir(directory))
      if (name.endsWith('.nedb')) expect((await stat(join(directory, name))).mode & 0o777, name).to.equal(0o600);
  });

  describe('a file truncated by a crash', () => {
    const LAST = '{"_id":"c","text":"ü🎈"}\n';

    it('loses only its last line, wherever the line was cut', async () => {
      const complete =
        '{"_id":"a","n":1}\n{"_id":"b"}\n{"$$indexCreated":{"fieldName":"n","unique":true,"sparse":true}}\n{"_id":"a","n":2}\n{"$$deleted":true,"_id":"b"}\n';
      const bytes = Buffer.from(LAST);
      for (let length = 0; length <= bytes.length; length += 1) {
        await database?.close();
        await writeFile(file(), Buffer.concat([Buffer.from(complete), bytes.subarray(0, length)]));
        await rm(join(directory, 'files.json'), { force: true });
        const expected = [{ _id: 'a', n: 2 }, ...(length >= bytes.length - 1 ? [{ _id: 'c', text: 'ü🎈' }] : [])];
        expect(await allRows(), `${length} bytes of the last line`).to.deep.equal(expected);
        // The database remains writable.
        await database?.collection<Row>('rows').insert({ _id: 'd' });
        expect(await allRows(), `${length} bytes, then a new line`).to.deep.equal([...expected, { _id: 'd' }]);
      }
    });

    it('loses a last line that was filled with zeros', async () => {
      await writeFile(file(), Buffer.concat([Buffer.from('{"_id":"a"}\n'), Buffer.alloc(100)]));
      expect(await allRows()).to.deep.equal([{ _id: 'a' }]);
    });

    it('may be empty', async () => {
      await writeFile(file(), '');
      expect(await allRows()).to.deep.equal([]);
    });
  });

  for (const [what, content, line] of [
    ['a truncated line in the middle', '{"_id":"a"}\n{"_id":"b","te\n{"_id":"c"}\n', 2],
    ['a first line that is not JSON', 'hello\n{"_id":"c"}\n', 1],
    ['two lines in one', '{"_id":"a"}\n{"_id":"b"}{"_id":"c"}\n', 2],
    ['a line that is not a document', '{"_id":"a"}\n[1]\n', 2],
    ['a document without an _id', '{"_id":"a"}\n{"_id":"b"}\n{"n":1}\n', 3],
    ['an invalid last line that is terminated', '{"_id":"a"}\n{"_id":\n', 2],
    ['invalid UTF-8', Buffer.from([...Buffer.from('{"_id":"a"}\n{"_id":"'), 0xff, ...Buffer.from('"}\n')]), 2],
  ] as const) {
    it(`does not open with ${what}, names the place, and leaves the file unchanged`, async () => {
      await writeFile(file(), content);
      const error = await failure(open());
      expect(error).to.be.instanceOf(CorruptDataFileError);
      expect(error).to.include({ file: file(), line, retryable: false });
      expect((error as Error).message).to.include(`${file()}, line ${line}`);
      expect(await readFile(file())).to.deep.equal(Buffer.from(content));
      // The lock was released.
      await writeFile(file(), '{"_id":"a"}\n');
      expect(await allRows()).to.deep.equal([{ _id: 'a' }]);
    });
  }

  it('reads files of earlier versions, and gives their lines checksums at the start', async () => {
    const lines = ['{"_id":"a","n":1}', '{"_id":"b","at":{"$$date":5}}', '{"_id":"#1234567"}', '{"_id":"a","n":2}'];
    await writeFile(file(), `${lines.join('\n')}\n{"$$indexCreated":{"fieldName":"n","unique":true,"sparse":true}}\n`);
    const expected = [{ _id: '#1234567' }, { _id: 'a', n: 2 }, { _id: 'b', at: new Date(5) }];
    expect(await allRows()).to.deep.equal(expected);
    const rewritten = (await readFile(file(), 'utf8')).trimEnd().split('\n');
    expect(rewritten).to.have.length(4);
    for (const line of rewritten) expect(line).to.match(/\}#[0-9a-f]{8}$/);
    expect(await allRows()).to.deep.equal(expected);
    expect((await readFile(file(), 'utf8')).trimEnd().split('\n')).to.deep.equal(rewritten);
  });

  it('ignores other files in the directory', async () => {
    await mkdir(directory, { recursive: true });
    await writeFile(join(directory, 'secret.key'), 'not json');
    await writeFile(join(directory, 'notes.db'), 'not json');
    expect(await allRows()).to.deep.equal([]);
    expect(await readFile(join(directory, 'notes.db'), 'utf8')).to.equal('not json');
  });

  it('explains that a directory is a file', async () => {
    await writeFile(join(directory, 'taken'), '');
    const error = await failure(openEmbeddedDatabase({ directory: join(directory, 'taken') }));
    expect(error).to.be.instanceOf(StoreError);
    expect((error as Error).message).to.include(join(directory, 'taken'));
  });

  it('writes concurrent inserts together, before and after the other changes as they came', async () => {
    const rows = (await open()).collection<Row>('rows');
    await rows.insert({ _id: 'z', n: 0 });
    const append = sinon.spy(AppendedFile.prototype, 'append');
    const insert = (_id: string): Promise<void> => rows.insert({ _id, n: 1 });
    const first = ['a', 'b', 'z', 'c'].map(insert);
    const changed = rows.update({ n: 1 }, { $set: { n: 2 } }, { multi: true });
    const later = ['d', 'e'].map(insert);
    expect((await Promise.allSettled(first)).map(({ status }) => status)).to.deep.equal([
      'fulfilled',
      'fulfilled',
      'rejected',
      'fulfilled',
    ]);
    expect(await changed).to.equal(3);
    await Promise.all(later);
    expect((await rows.find({ n: 1 })).map(({ _id }) => _id)).to.have.members(['d', 'e']);
    append.resetHistory();
    await Promise.all(Array.from({ length: 70 }, (_, n) => insert(String(n))));
    expect(append.callCount).to.equal(3);
    append.restore();
  });

  it('compacts files periodically, with a timer that does not prevent the process from exiting', async () => {
    const clock = sinon.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
    const rows = (await open({ compactEvery: 1000 })).collection<Row>('rows');
    for (let n = 0; n < 20; n += 1) {
      if (n === 0) await rows.insert({ _id: 'a', n });
      else await rows.update({ _id: 'a' }, { $set: { n } });
    }
    const before = (await stat(file())).size;
    clock.tick(1001);
    // Queued behind the compaction.
    await rows.update({ _id: 'a' }, { $set: { n: 20 } });
    expect((await stat(file())).size).to.be.lessThan(before / 5);
    clock.restore();
    expect(await allRows()).to.deep.equal([{ _id: 'a', n: 20 }]);
  });

  it('appends to the new file after a compaction, through a descriptor that closes with the database', async () => {
    const clock = sinon.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
    const opened = await open({ compactEvery: 1000 });
    const rows = opened.collection<Row>('rows');
    await rows.insert({ _id: 'a', n: 1 });
    await rows.update({ _id: 'a' }, { $set: { n: 2 } });
    const first = await stat(file());
    clock.tick(1001);
    await rows.insert({ _id: 'b', at: new Date(0), n: 3 });
    clock.restore();
    expect((await stat(file())).ino).to.not.equal(first.ino);
    if (process.platform === 'linux') expect(await openFiles()).to.include(file());
    await opened.close();
    if (process.platform === 'linux') expect(await openFiles()).to.not.include(file());
    expect(await allRows()).to.deep.equal([
      { _id: 'a', n: 2 },
      { _id: 'b', at: new Date(0), n: 3 },
    ]);
  });

  it('does not rewrite unchanged files', async () => {
    const clock = sinon.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
    const rows = (await open({ compactEvery: 1000 })).collection<Row>('rows');
    await rows.insert({ _id: 'a' });
    clock.tick(1001);
    await rows.remove({ _id: 'nobody' });
    const first = await stat(file());
    clock.tick(1001);
    await rows.remove({ _id: 'nobody' });
    expect((await stat(file())).ino).to.equal(first.ino);
  });

  it('removes expired documents once a minute after an index is created', async () => {
    const clock = sinon.useFakeTimers({ now: 1_000_000, toFake: ['setInterval', 'clearInterval', 'Date'] });
    await (await open()).collection<Row>('rows').insert({ _id: 'a', at: new Date(1_000_000) });
    const rows = (await open()).collection<Row>('rows');
    await rows.ensureIndex({ at: 1 }, { expireAfterSeconds: 90 });
    await rows.insert({ _id: 'b', at: new Date(1_030_000) });
    for (const [minute, expected] of [
      ['first', 'ab'],
      ['second', 'b'],
      ['third', ''],
    ] as const) {
      clock.tick(60_000);
      await rows.update({ _id: 'nobody' }, { $set: { n: 1 } });
      expect((await rows.find({}, { sort: { _id: 1 } })).map((row) => row._id).join(''), minute).to.equal(expected);
    }
  });

  it('finishes pending writes when it is closed, and does nothing afterwards', async () => {
    const opened = await open();
    const rows = opened.collection<Row>('rows');
    const writes = Array.from({ length: 30 }, (_, n) => rows.insert({ _id: `${n}` }));
    await Promise.all([opened.close(), opened.close()]);
    await Promise.all(writes);
    expect(await failure(rows.find({}))).to.be.instanceOf(StoreError);
    expect(await failure(rows.insert({ _id: 'late' }))).to.be.instanceOf(StoreError);
    expect(() => opened.collection('rows')).to.throw(StoreError);
    expect(await allRows()).to.have.length(30);
  });

  it('does not close or release its lock while a file is loading', async () => {
    const opened = await open();
    const loaded = deferred();
    sinon.stub(Nedb.prototype, 'loadDatabaseAsync').returns(loaded.promise);
    opened.collection('rows');
    let isClosed = false;
    const closing = opened.close().then(() => (isClosed = true));
    for (let turn = 0; turn < 20; turn += 1) await new Promise((resolve) => setImmediate(resolve));
    expect(isClosed).to.equal(false);
    expect(await readdir(directory)).to.include('lock');
    loaded.resolve();
    await closing;
    expect(await readdir(directory)).to.not.include('lock');
  });

  it('rejects an index on the same fields with other options, in any order', async () => {
    const rows = (await open()).collection<Row>('rows');
    await rows.ensureIndex({ a: 1, b: 1 }, { unique: true });
    await rows.ensureIndex({ b: -1, a: 1 }, { unique: true });
    expect(await failure(rows.ensureIndex({ b: 1, a: 1 }))).to.be.instanceOf(LLMInvalidRequestError);
  });

  it('is opened by openDatabase without MONGO_URL', async () => {
    const opened = await openDatabase({ DATA_DIR: directory, DATA_ENGINE: 'nedb', MONGO_URL: '' });
    await opened.collection<Row>('rows').insert({ _id: 'a' });
    await opened.close();
    expect(await allRows()).to.deep.equal([{ _id: 'a' }]);
  });
});

/** The paths of this process's descriptors, on Linux. */
async function openFiles(): Promise<readonly string[]> {
  const links = (await readdir('/proc/self/fd')).map((descriptor) => readlink(`/proc/self/fd/${descriptor}`));
  const paths = await Promise.allSettled(links);
  return paths.flatMap((path) => (path.status === 'fulfilled' ? path.value : []));
}
