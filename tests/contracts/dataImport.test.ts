/** The import of the data files of version 0.2: at a start and by hand, interrupted, and of damaged files. */
import { expect } from 'chai';
import { cp, mkdir, mkdtemp, readdir, readFile, rename, rm, utimes, writeFile } from 'node:fs/promises';
import { hostname, tmpdir } from 'node:os';
import { join } from 'node:path';
import { crc32 } from 'node:zlib';
import { isLLMError } from '../../imports/business/ai/domain/errors/LLMErrors';
import { CorruptDataFileError } from '../../imports/database/CorruptDataFileError';
import { openDatabase } from '../../imports/database/openDatabase';
import { DirectoryLockedError } from '../../imports/database/sqlite/lockDataDirectory';
import { SQLITE_FILE } from '../../imports/database/sqlite/openSqliteFile';
import { seededRandom } from '../../scripts/seed/seededRandom';
import { failure } from '../support/failure';
import { runBolide } from '../support/runBolide';
import { IS_SOAK } from '../support/soak';

const ROUNDS = IS_SOAK ? 400 : 40;
const SEED = Number(process.env['BOLIDE_SEED'] ?? Date.now() % 1_000_000);
/** A data directory that version 0.2 has written with NeDB. */
const FIXTURE = join(__dirname, '../fixtures/data-0.2');

interface Row {
  readonly _id: string;
  readonly n?: number;
  readonly text?: string;
}

/** What the fixture contains. */
const EXPECTED = [
  ...Array.from({ length: 12 }, (_, n) => {
    const long = `long ${n} ü\u2028`.repeat(920);
    const first = n % 5 === 0 ? long : `short ü\u2028${n}`;
    const text = n % 3 === 1 ? `changed ${n}` : first;
    return { _id: `${n}`, n, text, at: new Date(n), list: [{ deep: new Date(5), none: null }] };
  }),
  { _id: 'plain', n: 100, text: '\0large:not a reference' },
];

describe('The data files of version 0.2', () => {
  let root: string;
  let printed: string[];
  beforeEach(async () => {
    root = await mkdtemp(join(tmpdir(), 'bolide-import-'));
    printed = [];
    await cp(FIXTURE, data(), { recursive: true });
  });
  afterEach(() => rm(root, { recursive: true }));

  const data = (): string => join(root, 'data');
  const print = (line: string): void => void printed.push(line);
  const file = (): string => join(data(), 'rows.nedb');
  /** Opens the directory as a start does. */
  const rowsAtStart = async (): Promise<readonly Row[]> => {
    const database = await openDatabase({ DATA_DIR: data() }, print);
    try {
      return (await database.collection<Row>('rows').find({})).toSorted((a, b) => (a._id < b._id ? -1 : 1));
    } finally {
      await database.close();
    }
  };
  const sorted = (rows: readonly Row[] = EXPECTED): readonly Row[] => rows.toSorted((a, b) => (a._id < b._id ? -1 : 1));
  const command = async (...args: readonly string[]): Promise<number> =>
    (await runBolide(['data', ...args], { environment: { DATA_DIR: data() }, print, printError: print })).code;

  it('are imported at the first start, which says where they are then', async () => {
    const before = await readFile(file());
    expect(await rowsAtStart()).to.deep.equal(sorted());
    expect(printed).to.deep.equal([
      `Importing 14 documents of 2 collections from ${data()} into SQLite.`,
      '14 documents are imported.',
      `The old files are in ${data()}/nedb-before-import. Delete them when you do not need them any more: they contain ` +
        'what users have deleted since.',
    ]);
    const aside = join(data(), 'nedb-before-import');
    expect(await readFile(join(aside, 'rows.nedb'))).to.deep.equal(before);
    expect(await readdir(aside)).to.have.members(['few.nedb', 'files.json', 'rows.nedb', 'rows.texts']);
    printed = [];
    expect(await rowsAtStart()).to.deep.equal(sorted());
    expect(printed).to.deep.equal([]);
  });

  it('are imported by hand', async () => {
    expect(await command('check')).to.equal(1);
    expect(printed.join('\n')).to.include('contains files of version 0.2: see `import`');
    expect(await command('import')).to.equal(0);
    expect(await command('check')).to.equal(0);
    expect(printed.join('\n')).to.include('rows: 13 documents');
    expect(await command('import')).to.equal(1);
    expect(printed.at(-1)).to.include('contains no files of version 0.2');
    expect(await rowsAtStart()).to.deep.equal(sorted());
  });

  it('are imported anew after an interruption, or only put aside', async () => {
    for (const ending of ['', '-wal', '-shm'])
      await writeFile(join(data(), `${SQLITE_FILE}.importing${ending}`), 'half');
    expect(await rowsAtStart()).to.deep.equal(sorted());
    expect((await readdir(data())).filter((name) => name.includes('importing'))).to.deep.equal([]);
    // The process seems to have died before it put the last file aside.
    await rename(join(data(), 'nedb-before-import/rows.nedb'), file());
    expect(await rowsAtStart()).to.deep.equal(sorted());
    expect(await readdir(join(data(), 'nedb-before-import'))).to.include('rows.nedb');
    // An old copy that is put into the directory later hides no copy.
    await writeFile(file(), 'other');
    expect(await rowsAtStart()).to.deep.equal(sorted());
    expect(await readFile(join(data(), 'nedb-before-import-2/rows.nedb'), 'utf8')).to.equal('other');
  });

  it('may lack checksums, have long texts in their lines, and end with a write that a crash has cut off', async () => {
    await rm(data(), { recursive: true });
    await mkdir(data());
    const long = 'x\u2028'.repeat(9_000);
    const lines = [
      { _id: 'a', n: 1, text: `${long}?` },
      { _id: 'a', n: 2, text: long },
      { $$indexCreated: { fieldName: 'n', unique: true, sparse: true } },
      { _id: 'b', n: 3 },
      { $$deleted: true, _id: 'b' },
      { _id: '#1234567' },
    ].map((record) => `${JSON.stringify(record)}\n`);
    const last = Buffer.from('{"_id":"c","text":"ü🎈"}');
    const ends = [Buffer.alloc(0), last.subarray(0, 5), last.subarray(0, -3), Buffer.alloc(100)];
    for (const [at, end] of [...ends, last, Buffer.concat([last, Buffer.from('\n')])].entries()) {
      await rm(data(), { recursive: true });
      await mkdir(data());
      await writeFile(file(), Buffer.concat([Buffer.from(lines.join('')), end]));
      const expected = [{ _id: '#1234567' }, { _id: 'a', n: 2, text: long }];
      expect(await rowsAtStart(), String(at)).to.deep.equal(
        at < ends.length ? expected : [...expected, { _id: 'c', text: 'ü🎈' }],
      );
    }
  });

  for (const [what, content, line] of [
    ['a truncated line in the middle', '{"_id":"a"}\n{"_id":"b","te\n{"_id":"c"}\n', 2],
    ['a first line that is not JSON', 'hello\n{"_id":"c"}\n', 1],
    ['two lines in one', '{"_id":"a"}\n{"_id":"b"}{"_id":"c"}\n', 2],
    ['a line that is not a document', '{"_id":"a"}\n[1]\n', 2],
    ['an invalid last line that is terminated', '{"_id":"a"}\n{"_id":\n', 2],
    ['invalid UTF-8', Buffer.from([...Buffer.from('{"_id":"a"}\n{"_id":"'), 0xff, ...Buffer.from('"}\n')]), 2],
    ['another checksum', `{"_id":"a"}\n{"_id":"b"}#${crc32('{"_id":"B"}').toString(16).padStart(8, '0')}\n`, 2],
  ] as const)
    it(`are not imported with ${what}, which is named, unless that loss is accepted`, async () => {
      await rm(join(data(), 'files.json'));
      await writeFile(file(), content);
      const error = await failure(rowsAtStart());
      expect(error).to.be.instanceOf(CorruptDataFileError);
      expect(String(error)).to.include(`${file()} has damaged lines: ${line}.`).and.include('import --accept-loss');
      expect(await readFile(file())).to.deep.equal(Buffer.from(content));
      expect(await readdir(data())).to.not.include(SQLITE_FILE);
      expect(await command('import', '--accept-loss')).to.equal(0);
      expect(printed.join('\n')).to.include(`has damaged lines: ${line}`);
      const rest = what === 'a first line that is not JSON' ? ['c'] : ['a'];
      expect((await rowsAtStart()).map(({ _id }) => _id))
        .to.include.members(rest)
        .and.not.include('b');
    });

  it('are not imported with lost texts or files, which are named, unless that loss is accepted', async () => {
    const [text = ''] = await readdir(join(data(), 'rows.texts'));
    await writeFile(join(data(), 'rows.texts', text), 'changed');
    expect(String(await failure(rowsAtStart()))).to.include(text);
    await rm(join(data(), 'few.nedb'));
    expect(String(await failure(rowsAtStart()))).to.include('few.nedb is missing');
    expect(await command('import', '--accept-loss')).to.equal(0);
    expect(printed.join('\n'))
      .to.include('few.nedb is missing')
      .and.match(/Left out: \d of rows: .*is damaged/);
    expect(await rowsAtStart()).to.have.length(12);
  });

  it('stay with a process of version 0.2 as long as it may be alive', async () => {
    const owner = join(data(), 'lock', 'owner.json');
    await mkdir(join(data(), 'lock'));
    await writeFile(owner, JSON.stringify({ pid: process.ppid, host: hostname() }));
    expect(await failure(rowsAtStart())).to.be.instanceOf(DirectoryLockedError);
    await writeFile(owner, JSON.stringify({ pid: 1, host: 'another container' }));
    expect(await failure(rowsAtStart())).to.be.instanceOf(DirectoryLockedError);
    await utimes(owner, new Date(0), new Date(0));
    expect(await rowsAtStart()).to.deep.equal(sorted());
    expect(await readdir(data())).to.not.include('lock');
  });

  it(`have all of ${ROUNDS} damages noticed, or they change nothing (seed ${SEED})`, async () => {
    const random = seededRandom(SEED);
    const expected = JSON.stringify(sorted());
    const names = ['few.nedb', 'files.json', 'rows.nedb', 'rows.nedb', 'rows.nedb'];
    for (const text of await readdir(join(FIXTURE, 'rows.texts'))) names.push(join('rows.texts', text));
    let noticed = 0;
    for (let round = 0; round < ROUNDS; round += 1) {
      await rm(data(), { recursive: true });
      await cp(FIXTURE, data(), { recursive: true });
      const name = names[Math.floor(random() * names.length)] ?? '';
      const content = await readFile(join(data(), name));
      const at = Math.floor(random() * content.length);
      const flipped = Buffer.from(content);
      flipped[at] = (content[at] ?? 0) ^ (1 << Math.floor(random() * 8));
      const damages = [
        flipped,
        Buffer.concat([content.subarray(0, at), content.subarray(at + 1)]),
        content.subarray(0, at),
      ];
      await writeFile(join(data(), name), damages[round % 3] ?? flipped);
      const message = `seed ${SEED}, round ${round}: ${name} at byte ${at}`;
      try {
        // A document of `few` is nowhere else.
        expect(JSON.stringify(await rowsAtStart()) === expected, message).to.equal(true);
        expect(await readdir(join(data(), 'nedb-before-import')), message).to.include('few.nedb');
      } catch (error) {
        if (!isLLMError(error)) throw error;
        expect(error.message, message).to.include(name);
        noticed += 1;
      }
    }
    expect(noticed).to.be.greaterThan(ROUNDS / 2);
  });
});
