/** What the embedded database does when the operating system refuses to write, and what it says. */
import { expect } from 'chai';
import Nedb from '@seald-io/nedb';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import fsPromises from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import sinon from 'sinon';
import { StorageFullError } from '../../../../../../../imports/business/ai/domain/errors/LLMErrors';
import type {
  DocumentCollection,
  StoredDocument,
} from '../../../../../../../imports/business/ai/domain/interfaces/DocumentCollection';
import { StoreError } from '../../../../../../../imports/business/ai/infrastructure/persistence/databases/databaseErrors';
import { openEmbeddedDatabase } from '../../../../../../../imports/business/ai/infrastructure/persistence/databases/embedded/EmbeddedDatabase';
import type { EmbeddedDatabase } from '../../../../../../../imports/business/ai/infrastructure/persistence/databases/embedded/EmbeddedDatabase';
import { toFileError } from '../../../../../../../imports/business/ai/infrastructure/persistence/databases/embedded/fileErrors';
import { failure } from '../../../../../../support/failure';
import { FaultyFiles, systemError } from '../../../../../../support/FaultyFiles';

interface Row extends StoredDocument {
  readonly [field: string]: unknown;
}

const LONG = 'long text '.repeat(2_000);

describe('EmbeddedDatabase: files that cannot be written', () => {
  let directory: string;
  let database: EmbeddedDatabase | undefined;
  let faults: FaultyFiles;

  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), 'bolide-faults-'));
    faults = await FaultyFiles.install();
  });
  afterEach(async () => {
    faults.restore();
    sinon.restore();
    await database?.close();
    database = undefined;
    await rm(directory, { recursive: true, force: true });
  });

  const file = (): string => join(directory, 'rows.nedb');
  const reopen = async (): Promise<DocumentCollection<Row>> => {
    await database?.close();
    database = await openEmbeddedDatabase({ directory });
    return database.collection<Row>('rows');
  };
  const allRows = async (rows: DocumentCollection<Row>): Promise<readonly Row[]> => rows.find({}, { sort: { _id: 1 } });

  it('answers each write to a full disk with an error, keeps everything else, and goes on when there is room', async () => {
    const rows = await reopen();
    await rows.ensureIndex({ key: 1 }, { unique: true, sparse: true });
    const stored = [
      { _id: 'a', key: 1, text: LONG },
      { _id: 'b', key: 2 },
    ];
    await rows.insertMany(stored);
    const written = await readFile(file(), 'utf8');
    const texts = await readdir(join(directory, 'rows.texts'));
    const attempts: readonly (() => Promise<unknown>)[] = [
      () => rows.insert({ _id: 'c', key: 3 }),
      () => rows.insertMany([{ _id: 'd' }, { _id: 'e', text: 'x'.repeat(5_000) }]),
      () => rows.insert({ _id: 'f', text: `${LONG}!` }),
      () => rows.update({ _id: 'a' }, { $set: { key: 3 } }),
      () => rows.update({}, { $set: { n: 1 } }, { multi: true }),
      () => rows.remove({ _id: 'b' }),
      () => rows.remove({}),
      () => rows.ensureIndex({ other: 1 }, { unique: true, sparse: true }),
    ];
    faults.writes = 'ENOSPC';
    for (const attempt of attempts) {
      const error = await failure(attempt());
      expect(error).to.be.instanceOf(StorageFullError);
      expect(error).to.include({ code: 'storage-full', httpStatus: 507, retryable: false });
      expect(error)
        .to.have.property('message')
        .that.includes('ENOSPC')
        .and.not.match(/remove|delete/);
      expect(await readFile(file(), 'utf8')).to.equal(written);
      expect(await readdir(join(directory, 'rows.texts'))).to.deep.equal(texts);
      expect(await allRows(rows)).to.deep.equal(stored);
    }
    faults.writes = undefined;
    // Unique keys are as they were.
    expect(await failure(rows.insert({ _id: 'c', key: 2 }))).to.have.property('code', 'conflict');
    for (const attempt of attempts.slice(0, 3)) await attempt();
    await rows.update({ _id: 'a' }, { $set: { key: 4, text: 'short' } });
    await rows.remove({ _id: 'b' });
    await rows.insert({ _id: 'g', key: 2 });
    const expected = [
      { _id: 'a', key: 4, text: 'short' },
      { _id: 'c', key: 3 },
      { _id: 'd' },
      { _id: 'e', text: 'x'.repeat(5_000) },
      { _id: 'f', text: `${LONG}!` },
      { _id: 'g', key: 2 },
    ];
    expect(await allRows(rows)).to.deep.equal(expected);
    expect(await allRows(await reopen())).to.deep.equal(expected);
    expect(await readdir(join(directory, 'rows.texts'))).to.have.length(1);
  });

  it('writes nothing behind the remains of a failed write, until they could be cut off', async () => {
    const rows = await reopen();
    await rows.insert({ _id: 'a' });
    const written = await readFile(file(), 'utf8');
    faults.writes = 'ENOSPC';
    faults.cuts = 'EIO';
    expect(await failure(rows.insert({ _id: 'b', text: LONG }))).to.be.instanceOf(StorageFullError);
    expect(await failure(rows.insert({ _id: 'c' }))).to.be.instanceOf(StorageFullError);
    faults.writes = undefined;
    const remains = await readFile(file(), 'utf8');
    expect(remains.length).to.be.greaterThan(written.length);
    const error = await failure(rows.insert({ _id: 'd' }));
    expect(error).to.be.instanceOf(StoreError).and.have.property('message').that.includes('EIO');
    expect(await readFile(file(), 'utf8')).to.equal(remains);
    expect(await allRows(rows)).to.deep.equal([{ _id: 'a' }]);
    faults.cuts = undefined;
    await rows.insert({ _id: 'e' });
    expect(await allRows(await reopen())).to.deep.equal([{ _id: 'a' }, { _id: 'e' }]);
  });

  it('leaves it to the next start to cut off the remains, if they stay until it is closed', async () => {
    const opened = await openEmbeddedDatabase({ directory });
    const rows = opened.collection<Row>('rows');
    await rows.insert({ _id: 'a' });
    faults.writes = 'ENOSPC';
    faults.cuts = 'EIO';
    await failure(rows.insert({ _id: 'b' }));
    expect(await failure(opened.close())).to.be.instanceOf(StoreError);
    expect(await readdir(directory)).to.deep.equal(['rows.nedb']);
    faults.writes = undefined;
    faults.cuts = undefined;
    expect(await allRows(await reopen())).to.deep.equal([{ _id: 'a' }]);
  });

  it('starts and compacts on a full disk, which leaves files as they are', async () => {
    const rows = await reopen();
    await rows.insert({ _id: 'a', n: 0 });
    for (let n = 1; n < 5; n += 1) await rows.update({ _id: 'a' }, { $set: { n } });
    const written = await readFile(file(), 'utf8');
    faults.writes = 'ENOSPC';
    expect(await failure(database!.purge())).to.be.instanceOf(StorageFullError);
    const warnings = sinon.stub(process, 'emitWarning');
    const reopened = await reopen();
    expect(warnings.args.map(([warning]) => String(warning)).join('\n')).to.include('could not be compacted');
    expect(await readFile(file(), 'utf8')).to.equal(written);
    expect(await readdir(directory)).to.have.members(['lock', 'rows.nedb']);
    faults.writes = undefined;
    expect(await allRows(reopened)).to.deep.equal([{ _id: 'a', n: 4 }]);
    await database!.purge();
    expect((await readFile(file(), 'utf8')).trimEnd().split('\n')).to.have.length(1);
  });

  it('appends to the new file if a compaction fails after it has replaced the old one', async () => {
    const rows = await reopen();
    await rows.insert({ _id: 'a' });
    const { rename } = fsPromises;
    const stub = sinon.stub(fsPromises, 'rename').callsFake(async (from, to) => {
      await rename(from, to);
      throw systemError('EIO');
    });
    expect(await failure(database!.purge())).to.be.instanceOf(StoreError);
    stub.restore();
    await rows.insert({ _id: 'b' });
    expect(await allRows(await reopen())).to.deep.equal([{ _id: 'a' }, { _id: 'b' }]);
  });

  it('names what the operating system refuses at a start, and advises nobody to delete data', async () => {
    await (await reopen()).insert({ _id: 'a' });
    await database!.close();
    for (const [code, words] of [
      ['EACCES', 'no permission'],
      ['EPERM', 'no permission'],
      ['EROFS', 'read-only'],
      ['ENOSPC', 'no space'],
      ['EIO', 'the device failed'],
      ['EMFILE', 'too many files open'],
    ] as const)
      for (const refused of ['mkdtemp', 'open', 'chmod'] as const) {
        const stub = sinon.stub(fsPromises, refused).rejects(systemError(code));
        const error = await failure(openEmbeddedDatabase({ directory }));
        stub.restore();
        expect(error, refused).to.be.instanceOf(code === 'ENOSPC' ? StorageFullError : StoreError);
        expect(error, refused).to.have.property('message').that.includes(words).and.includes(code);
        expect(error, refused)
          .to.have.property('message')
          .that.includes(directory)
          .and.not.match(/remove|delete|damaged/);
      }
    expect(await allRows(await reopen())).to.deep.equal([{ _id: 'a' }]);
  });

  it('opens a new collection once the operating system permits it', async () => {
    await reopen();
    const load = sinon.stub(Nedb.prototype, 'loadDatabaseAsync').rejects(systemError('EACCES'));
    const others = database!.collection<Row>('others');
    expect(await failure(others.find({}))).to.be.instanceOf(StoreError);
    load.restore();
    await others.insert({ _id: 'a' });
    expect(await others.count({})).to.equal(1);
  });

  it('reports an unknown error as it is', () => {
    expect(toFileError('It failed', new Error('Somehow.'))).to.have.property('message', 'It failed: Somehow.');
  });
});
