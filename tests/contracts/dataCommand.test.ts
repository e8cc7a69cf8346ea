/** `bolide data`: checks, repairs, backs up and restores the files of the embedded database. */
import { expect } from 'chai';
import { cp, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import fsPromises from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import sinon from 'sinon';
import { openEmbeddedDatabase } from '../../imports/business/ai/infrastructure/persistence/databases/embedded/EmbeddedDatabase';
import { runDataCommand } from '../../imports/startup/node/runDataCommand';
import { seededRandom } from '../../scripts/seed/seededRandom';
import { IS_SOAK } from '../support/soak';

const ROUNDS = IS_SOAK ? 400 : 10;
const SEED = Number(process.env['BOLIDE_SEED'] ?? Date.now() % 1_000_000);
const NOW = new Date('2026-01-02T03:04:05.678Z');

interface Outcome {
  readonly code: number;
  readonly output: string;
}

describe('bolide data', () => {
  let directory: string;

  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), 'bolide-data-'));
    await fill(data());
  });
  afterEach(async () => {
    sinon.restore();
    await rm(directory, { recursive: true });
  });

  const data = (): string => join(directory, 'data');
  const file = (): string => join(data(), 'rows.nedb');
  const run = async (...args: readonly string[]): Promise<Outcome> => {
    const lines: string[] = [];
    const print = (line: string): void => void lines.push(line);
    const environment = { DATA_DIR: data() };
    const code = await runDataCommand(args, { environment, print, printError: print, now: () => NOW });
    return { code, output: lines.join('\n') };
  };
  /** Changes a line so that it cannot be corrected. */
  const ruinLine = async (line: number): Promise<void> => {
    const lines = (await readFile(file(), 'utf8')).split('\n');
    lines[line - 1] = (lines[line - 1] ?? '').replace('short', 'SHORT');
    await writeFile(file(), lines.join('\n'));
  };

  it('checks a directory without changing it, whether a process uses it or not', async () => {
    const before = await contentOf(data());
    expect(await run('check')).to.deep.equal({
      code: 0,
      output: `few.nedb: 1 records, 0 long texts\nrows.nedb: 13 records, 1 long texts\n${data()}: nothing is damaged.`,
    });
    const database = await openEmbeddedDatabase({ directory: data() });
    expect(await run('check')).to.include({ code: 0 });
    await database.close();
    expect(await contentOf(data())).to.deep.equal(before);
  });

  it('names damaged lines, texts and missing files, and repairs nothing that would lose a state unless that is accepted', async () => {
    await ruinLine(2);
    const [text = ''] = await readdir(join(data(), 'rows.texts'));
    await writeFile(join(data(), 'rows.texts', text), 'changed');
    await rm(join(data(), 'few.nedb'));
    const checked = await run('check');
    expect(checked.code).to.equal(1);
    expect(checked.output).to.include('damaged: line 2').and.include(text).and.include('document "0"');
    expect(checked.output).to.include('few.nedb is missing');

    const before = await readFile(file());
    const refused = await run('repair');
    expect(refused.code).to.equal(1);
    expect(refused.output).to.include('line 2 cannot be corrected').and.include('--accept-loss');
    expect(await readFile(file())).to.deep.equal(before);

    const repaired = await run('repair', '--accept-loss');
    expect(repaired.output).to.include('left out line 2').and.include('before-repair-2026-01-02T03-04-05.678Z');
    // The text of document 0 is lost: nobody but its reader is told.
    expect(repaired.code).to.equal(1);
    expect(await readFile(join(data(), 'before-repair-2026-01-02T03-04-05.678Z', 'rows.nedb'))).to.deep.equal(before);
    const database = await openEmbeddedDatabase({ directory: data() });
    expect(await database.collection('rows').count({})).to.equal(9);
    await database.close();
  });

  it(`corrects flipped bits, and keeps the files as they were (${ROUNDS} rounds, seed ${SEED})`, async function () {
    const random = seededRandom(SEED);
    const original = await contentOf(data());
    let corrected = 0;
    for (let round = 0; round < ROUNDS; round += 1) {
      const copy = join(directory, 'copy');
      await rm(copy, { recursive: true, force: true });
      await cp(data(), copy, { recursive: true });
      const content = await readFile(file());
      const at = Math.floor(random() * content.length);
      const bit = Math.floor(random() * 8);
      content[at] = (content[at] ?? 0) ^ (1 << bit);
      await writeFile(join(copy, 'rows.nedb'), content);
      const message = `seed ${SEED}, round ${round}: byte ${at}, bit ${bit}`;
      const { code, output } = await run('repair', '--dir', copy);
      const after = await contentOf(copy);
      if (code === 0) {
        corrected += 1;
        expect(after.get('rows.nedb') === original.get('rows.nedb'), message).to.equal(true);
        const copies = after.get('before-repair-2026-01-02T03-04-05.678Z/rows.nedb');
        expect(copies === content.toString('latin1'), message).to.equal(true);
      } else {
        // A letter became the end of a line.
        expect(content[at], message).to.equal(10);
        expect(output, message).to.include('cannot be corrected');
        expect(after.get('rows.nedb') === content.toString('latin1'), message).to.equal(true);
      }
    }
    expect(corrected).to.be.greaterThan(0.9 * ROUNDS);
  });

  it('repairs no directory that a process uses', async () => {
    const database = await openEmbeddedDatabase({ directory: data() });
    const { code, output } = await run('repair');
    expect(code).to.equal(1);
    expect(output).to.include(`in use by process ${process.pid}`);
    await database.close();
  });

  it('backs up long texts that come and go meanwhile', async () => {
    const database = await openEmbeddedDatabase({ directory: data() });
    const rows = database.collection<{ _id: string; text: string }>('rows');
    const other = 'other ü'.repeat(2_000);
    const copyFile = sinon.stub(fsPromises, 'copyFile').callsFake(async (from, to) => {
      copyFile.restore();
      await rows.update({ _id: '0' }, { $set: { text: other } });
      await rows.insert({ _id: 'new', text: 'new' });
      return fsPromises.copyFile(from, to);
    });
    const target = join(directory, 'backup');
    expect(await run('backup', target)).to.include({ code: 0 });
    await database.close();
    expect(await readdir(join(target, 'rows.texts'))).to.have.length(1);
    const copy = await openEmbeddedDatabase({ directory: target });
    const found = await copy.collection<{ _id: string; text: string }>('rows').find({ _id: { $in: ['0', 'new'] } });
    expect(found.map(({ text }) => text === other || text)).to.have.members([true, 'new']);
    await copy.close();
  });

  it('backs up to a new directory only, and says what is not part of the backup', async () => {
    await writeFile(join(data(), 'secret.key'), 'key');
    const target = join(directory, 'backups', 'first');
    const { code, output } = await run('backup', target);
    expect(code).to.equal(0);
    expect(output).to.include('2 data files').and.include('secret.key is not part of it');
    expect(await readdir(target)).to.have.members(['few.nedb', 'files.json', 'rows.nedb', 'rows.texts']);
    expect(await run('backup', target)).to.include({ code: 1 });
    await ruinLine(2);
    const refused = await run('backup', join(directory, 'backups', 'second'));
    expect(refused.code).to.equal(1);
    expect(refused.output).to.include(`${file()}, line 2, is damaged`);
    expect(await readdir(join(directory, 'backups'))).to.deep.equal(['first']);
  });

  it('restores a backup, but over no data unless it may move it aside, and never under a running process', async () => {
    const target = join(directory, 'backup');
    await run('backup', target);
    const expected = await contentOf(target);
    const empty = join(directory, 'new', 'data');
    expect(await run('restore', target, '--dir', empty)).to.include({ code: 0 });
    expect(await contentOf(empty)).to.deep.equal(expected);

    const database = await openEmbeddedDatabase({ directory: data() });
    await database.collection('rows').insert({ _id: 'later' });
    const live = await run('restore', target, '--overwrite');
    expect(live.code).to.equal(1);
    expect(live.output).to.include('in use by process');
    await database.close();

    const before = await readFile(file());
    const refused = await run('restore', target);
    expect(refused.code).to.equal(1);
    expect(refused.output).to.include('--overwrite');
    expect(await readFile(file())).to.deep.equal(before);

    const restored = await run('restore', target, '--overwrite');
    expect(restored.code).to.equal(0);
    expect(restored.output).to.include('before-restore-');
    expect(await readFile(join(data(), 'before-restore-2026-01-02T03-04-05.678Z', 'rows.nedb'))).to.deep.equal(before);
    const reopened = await openEmbeddedDatabase({ directory: data() });
    expect(await reopened.collection('rows').count({ _id: 'later' })).to.equal(0);
    await reopened.close();

    await writeFile(join(target, 'rows.nedb'), 'damaged');
    expect(await run('restore', target, '--overwrite')).to.include({ code: 1 });
    expect(await run('restore', join(directory, 'nowhere'))).to.include({ code: 1 });
    await mkdir(join(directory, 'nothing'));
    expect(await run('restore', join(directory, 'nothing'))).to.include({ code: 1 });
  });

  it('explains itself, and refuses what it does not know', async () => {
    const help = await run('--help');
    expect(help.code).to.equal(0);
    for (const word of ['check', 'repair', 'backup', 'restore', 'Exit codes']) expect(help.output).to.include(word);
    for (const args of [[], ['unknown'], ['check', 'more'], ['backup'], ['restore', 'a', 'b'], ['check', '--wrong']])
      expect(await run(...args), args.join(' ')).to.include({ code: 2 });
    expect(await run('check', '--dir', join(directory, 'nowhere'))).to.include({ code: 1 });
  });
});

/** Documents that were changed and removed, one with a long text. */
async function fill(directory: string): Promise<void> {
  const database = await openEmbeddedDatabase({ directory });
  const rows = database.collection<{ _id: string; n: number; text: string }>('rows');
  for (let n = 0; n < 10; n += 1)
    await rows.insert({ _id: `${n}`, n, text: n === 0 ? 'long ü'.repeat(2_000) : `short ü${n}` });
  await rows.update({ _id: '3' }, { $set: { n: 33 } });
  await rows.insert({ _id: 'removed', n: 0, text: 'short' });
  await rows.remove({ _id: 'removed' });
  await database.collection('few').insert({ _id: 'a' });
  await database.close();
}

/** The files by path, as strings of bytes. */
async function contentOf(directory: string): Promise<ReadonlyMap<string, string>> {
  const content = new Map<string, string>();
  const entries = await readdir(directory, { recursive: true, withFileTypes: true });
  for (const entry of entries.filter((found) => found.isFile())) {
    const path = join(entry.parentPath, entry.name);
    content.set(path.slice(directory.length + 1), await readFile(path, 'latin1'));
  }
  return content;
}
