import { expect } from 'chai';
import { mkdir, mkdtemp, readdir, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import sinon from 'sinon';
import type {
  DocumentCollection,
  StoredDocument,
} from '../../../../../../../imports/business/ai/domain/interfaces/DocumentCollection';
import { StoreError } from '../../../../../../../imports/business/ai/infrastructure/persistence/databases/databaseErrors';
import { openEmbeddedDatabase } from '../../../../../../../imports/business/ai/infrastructure/persistence/databases/embedded/EmbeddedDatabase';
import type { EmbeddedDatabase } from '../../../../../../../imports/business/ai/infrastructure/persistence/databases/embedded/EmbeddedDatabase';
import { LargeText } from '../../../../../../../imports/business/ai/infrastructure/persistence/databases/query/LargeText';
import { failure } from '../../../../../../support/failure';

interface Row extends StoredDocument {
  readonly [field: string]: unknown;
}

describe('LargeTexts: long texts of documents', () => {
  let directory: string;
  let database: EmbeddedDatabase | undefined;

  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), 'bolide-texts-'));
  });
  afterEach(async () => {
    sinon.restore();
    await database?.close();
    database = undefined;
    await rm(directory, { recursive: true, force: true });
  });

  const LONG = '\u2028ü🎈'.repeat(5_000);
  const texts = (): string => join(directory, 'rows.texts');
  const files = async (): Promise<readonly string[]> => readdir(texts());
  const file = (): string => join(directory, 'rows.nedb');
  const reopen = async (): Promise<DocumentCollection<Row>> => {
    await database?.close();
    database = await openEmbeddedDatabase({ directory });
    return database.collection<Row>('rows');
  };
  const allRows = async (): Promise<readonly Row[]> => (await reopen()).find({}, { sort: { _id: 1 } });

  it('are read when a document is found, not at the start, nor for other fields', async () => {
    const inserted = { _id: 'a', n: 1, text: LONG, list: [{ text: LONG }, `${LONG}!`], short: 'x' };
    await (await reopen()).insert(inserted);
    expect(await files()).to.have.length(2);
    expect((await stat(file())).size).to.be.lessThan(1_000);
    for (const name of await files()) expect((await stat(join(texts(), name))).mode & 0o777).to.equal(0o600);
    expect(await allRows()).to.deep.equal([inserted]);

    const [damaged = '', ...others] = await files();
    await writeFile(join(texts(), damaged), 'something else');
    for (const name of others) await rm(join(texts(), name));
    const rows = await reopen();
    expect(await rows.find({ n: 1 }, { fields: { n: 1, short: 1 } })).to.deep.equal([{ _id: 'a', n: 1, short: 'x' }]);
    const error = await failure(rows.find({}, { fields: { text: 1 } }));
    expect(error).to.be.instanceOf(StoreError);
    expect(error).to.have.property('message').that.includes(texts());
    await rows.update({ _id: 'a' }, { $set: { text: LONG, list: [] } });
    expect(await rows.findOne({ _id: 'a' })).to.deep.equal({ ...inserted, list: [] });
  });

  it('stay as they are while other fields change, and go with the last document that has them', async () => {
    const rows = await reopen();
    await rows.insertMany([
      { _id: 'a', n: 1, text: LONG },
      { _id: 'b', n: 1, text: LONG },
    ]);
    const [name = ''] = await files();
    const { ino } = await stat(join(texts(), name));
    await rows.update({ _id: 'a' }, { $inc: { n: 1 } });
    expect((await stat(join(texts(), name))).ino).to.equal(ino);
    await rows.update({ _id: 'a' }, { $set: { text: 'short' } });
    expect(await rows.find({ text: { $prefix: '\u2028' } }, { fields: { n: 1 } })).to.deep.equal([{ _id: 'b', n: 1 }]);
    expect(await files()).to.deep.equal([name]);
    await rows.remove({ _id: 'b' });
    expect(await files()).to.deep.equal([]);
  });

  it('of documents that conflict with others leave nothing behind', async () => {
    const rows = await reopen();
    await rows.ensureIndex({ text: 1 }, { unique: true });
    await rows.insert({ _id: 'a', text: LONG });
    expect(await failure(rows.insert({ _id: 'b', text: LONG }))).to.have.property('code', 'conflict');
    expect(await failure(rows.insert({ _id: 'a', text: `${LONG}!` }))).to.have.property('code', 'conflict');
    expect(await files()).to.have.length(1);
    expect(await allRows()).to.deep.equal([{ _id: 'a', text: LONG }]);
  });

  it('are found by readers who began before they were removed', async () => {
    const rows = await reopen();
    await rows.insert({ _id: 'a', text: LONG });
    const load = sinon.stub(LargeText.prototype, 'load').callsFake(async function (this: LargeText) {
      load.restore();
      await rows.remove({ _id: 'a' });
      return this.load();
    });
    expect(await rows.find({})).to.deep.equal([{ _id: 'a', text: LONG }]);
    expect(await files()).to.deep.equal([]);
  });

  it('that cannot be written fail their own document only', async () => {
    const rows = await reopen();
    await rows.insert({ _id: 'a' });
    await writeFile(texts(), 'in the way');
    expect(await failure(rows.update({ _id: 'a' }, { $set: { text: LONG } }))).to.be.instanceOf(StoreError);
    await rm(texts());
    await rows.insert({ _id: 'b', text: LONG });
    expect(await allRows()).to.deep.equal([{ _id: 'a' }, { _id: 'b', text: LONG }]);
  });

  it('of a file by an earlier version are moved at the start', async () => {
    const at = new Date(5);
    const line = (id: string, text: string): string =>
      `${JSON.stringify({ _id: id, at: { $$date: 5 }, text }).replaceAll('\u2028', '\\u2028')}\n`;
    const outdated = line('a', `${LONG}?`);
    const lines = [outdated, line('a', LONG), line('b', 'short'), line('c', LONG), '{"$$deleted":true,"_id":"b"}\n'];
    await writeFile(file(), lines.join(''));
    const expected = ['a', 'c'].map((_id) => ({ _id, at, text: LONG }));
    expect(await allRows()).to.deep.equal(expected);
    expect((await stat(file())).size).to.be.lessThan(1_000);
    expect(await files()).to.have.length(1);
    expect(await allRows()).to.deep.equal(expected);
  });

  it('without a document are removed at the start, with their directory if there is no data file', async () => {
    await (await reopen()).insert({ _id: 'a', text: LONG });
    await writeFile(join(texts(), 'f'.repeat(64)), 'abandoned');
    await writeFile(join(texts(), `${'f'.repeat(64)}.tmp`), 'abandoned');
    await mkdir(join(directory, 'other.texts'));
    await reopen();
    expect(await files()).to.have.length(1);
    expect(await readdir(directory)).not.to.include('other.texts');
  });
});
