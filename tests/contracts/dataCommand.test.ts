/** `bolide data`: checks, backs up and restores the embedded database. Its repairs: sqliteEngine.test.ts. */
import { expect } from 'chai';
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { SQLITE_FILE } from '../../imports/database/sqlite/openSqliteFile';
import { openSqliteDatabase } from '../../imports/database/sqlite/SqliteDatabase';
import { runBolide } from '../support/runBolide';
import type { Ended } from '../support/runBolide';

const NOW = new Date('2026-01-02T03:04:05.678Z');

interface Row {
  readonly _id: string;
  readonly n: number;
  readonly text: string;
}

describe('bolide data', () => {
  let directory: string;

  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), 'bolide-data-'));
    await fill(data());
  });
  afterEach(() => rm(directory, { recursive: true }));

  const data = (): string => join(directory, 'data');
  const file = (): string => join(data(), SQLITE_FILE);
  const run = (...args: readonly string[]): Promise<Ended> =>
    runBolide(['data', ...args], { environment: { DATA_DIR: data() }, now: () => NOW });

  it('checks a directory without changing it, whether a process uses it or not', async () => {
    const before = await readFile(file());
    const output = `few: 1 documents\nrows: 10 documents\n${data()}: nothing is damaged.`;
    expect(await run('check')).to.deep.equal({ code: 0, output });
    const database = await openSqliteDatabase({ directory: data() });
    expect(await run('check')).to.deep.equal({ code: 0, output });
    await database.close();
    expect(await readFile(file())).to.deep.equal(before);
  });

  it('repairs no directory that a process uses', async () => {
    const database = await openSqliteDatabase({ directory: data() });
    const { code, output } = await run('repair');
    expect(code).to.equal(1);
    expect(output).to.include('in use by another process');
    await database.close();
  });

  it('backs up a database that is written meanwhile', async () => {
    const database = await openSqliteDatabase({ directory: data() });
    const rows = database.collection<Row>('rows');
    await rows.update({ _id: '0' }, { $set: { text: 'other ü'.repeat(2_000) } });
    await rows.insert({ _id: 'new', n: 1, text: 'new' });
    const target = join(directory, 'backup');
    const [{ code }] = await Promise.all([run('backup', target), rows.insert({ _id: 'later', n: 1, text: 'later' })]);
    expect(code).to.equal(0);
    await database.close();
    const copy = await openSqliteDatabase({ directory: target });
    const found = await copy.collection<Row>('rows').find({ _id: { $in: ['0', 'new'] } });
    expect(found.map(({ text }) => text)).to.have.members(['other ü'.repeat(2_000), 'new']);
    await copy.close();
  });

  it('backs up to a new directory only, and says what is not part of the backup', async () => {
    await writeFile(join(data(), 'secret.key'), 'key');
    const target = join(directory, 'backups', 'first');
    const { code, output } = await run('backup', target);
    expect(code).to.equal(0);
    expect(output).to.include('with 11 documents').and.include('secret.key is not part of it');
    expect(await readdir(target))
      .to.include(SQLITE_FILE)
      .and.not.include('secret.key');
    expect(await run('backup', target)).to.include({ code: 1 });
    await damage(file());
    const refused = await run('backup', join(directory, 'backups', 'second'));
    expect(refused.code).to.equal(1);
    expect(refused.output).to.include('is damaged');
    expect(await readdir(join(directory, 'backups'))).to.deep.equal(['first']);
  });

  it('restores a backup, but over no data unless it may move it aside, and never under a running process', async () => {
    const target = join(directory, 'backup');
    await run('backup', target);
    const empty = join(directory, 'new', 'data');
    expect(await run('restore', target, '--dir', empty)).to.deep.equal({
      code: 0,
      output: `Restored 11 documents in ${empty}.`,
    });

    const database = await openSqliteDatabase({ directory: data() });
    await database.collection('rows').insert({ _id: 'later' });
    const live = await run('restore', target, '--overwrite');
    expect(live.code).to.equal(1);
    expect(live.output).to.include('in use by another process');
    await database.close();

    const before = await readFile(file());
    const refused = await run('restore', target);
    expect(refused.code).to.equal(1);
    expect(refused.output).to.include('--overwrite');
    expect(await readFile(file())).to.deep.equal(before);

    const restored = await run('restore', target, '--overwrite');
    expect(restored.code).to.equal(0);
    expect(restored.output).to.include('before-restore-');
    expect(await readFile(join(data(), 'before-restore-2026-01-02T03-04-05.678Z', SQLITE_FILE))).to.deep.equal(before);
    const reopened = await openSqliteDatabase({ directory: data() });
    expect(await reopened.collection('rows').count({ _id: 'later' })).to.equal(0);
    await reopened.close();

    await damage(join(target, SQLITE_FILE));
    const now = await readFile(file());
    expect((await run('restore', target, '--overwrite')).output).to.include('is damaged');
    expect(await run('restore', join(directory, 'nowhere'))).to.include({ code: 1 });
    await mkdir(join(directory, 'nothing'));
    expect(await run('restore', join(directory, 'nothing'))).to.include({ code: 1 });
    expect(await readFile(file())).to.deep.equal(now);
    expect((await readdir(data())).filter((name) => name.startsWith('restoring'))).to.deep.equal([]);
  });

  it('creates nothing for wrong arguments, nor where no data is', async () => {
    for (const args of [['check', 'more'], ['backup'], ['restore', 'a', 'b']])
      expect(await run(...args), args.join(' ')).to.include({ code: 2 });
    for (const name of ['check', 'repair', 'import'])
      expect(await run(name, '--dir', join(directory, 'nowhere')), name).to.include({ code: 1 });
    expect(await readdir(directory)).to.deep.equal(['data']);
  });
});

/** Documents that were changed and removed, one with a long text. */
async function fill(directory: string): Promise<void> {
  const database = await openSqliteDatabase({ directory });
  const rows = database.collection<Row>('rows');
  for (let n = 0; n < 10; n += 1)
    await rows.insert({ _id: `${n}`, n, text: n === 0 ? 'long ü'.repeat(2_000) : `short ü${n}` });
  await rows.update({ _id: '3' }, { $set: { n: 33 } });
  await rows.insert({ _id: 'removed', n: 0, text: 'short' });
  await rows.remove({ _id: 'removed' });
  await database.collection('few').insert({ _id: 'a' });
  await database.close();
}

/** Changes a document. */
async function damage(file: string): Promise<void> {
  const content = await readFile(file, 'latin1');
  await writeFile(file, content.replaceAll('short', 'SHORT'), 'latin1');
}
