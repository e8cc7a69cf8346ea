/** The cache of what is built from the sources: no edit is missed, and two processes may build at once. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { mkdir, mkdtemp, rename, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { BuildCache } from '../../../scripts/build/BuildCache.cjs';
import { deferred } from '../../support/deferred';
import { failure } from '../../support/failure';

describe('BuildCache', () => {
  let root = '';
  let source = '';
  let directory = '';

  beforeEach(async () => {
    root = await mkdtemp(join(tmpdir(), 'bolide-build-'));
    directory = join(root, 'node_modules/.cache/bolide');
    await mkdir(join(root, 'imports/deep'), { recursive: true });
    source = join(root, 'imports/deep/source.ts');
    await writeFile(source, 'one');
  });

  afterEach(() => rm(root, { recursive: true, force: true }));

  /** Opens the cache as another process does. */
  const open = (): BuildCache => new BuildCache(directory, root);

  const build = (text = 'built') => open().add('program', (to) => writeFile(join(to, 'program.cjs'), text));

  it('finds what another process has built', async () => {
    expect(open().find('program')).to.equal(undefined);
    const built = await build();
    expect(open().find('program')).to.equal(built);
    expect(open().find('other')).to.equal(undefined);
    expect(readFileSync(join(built, 'program.cjs'), 'utf8')).to.equal('built');
  });

  const EDITS: readonly (readonly [string, () => Promise<void>])[] = [
    ['an edit', () => writeFile(source, 'longer')],
    [
      'an edit of the same size whose time of modification was set back',
      async () => {
        const { atime, mtime } = await stat(source);
        await writeFile(source, 'two');
        await utimes(source, atime, mtime);
      },
    ],
    ['a new file', () => writeFile(join(root, 'imports/new.ts'), '')],
    ['a file that is gone', () => rm(source)],
    ['a renamed file', () => rename(source, join(root, 'imports/deep/renamed.ts'))],
    ['a package that was installed', () => writeFile(join(root, 'node_modules/.package-lock.json'), '{}')],
    ['another setting of the compiler', () => writeFile(join(root, 'tsconfig.json'), '{}')],
  ];
  for (const [title, edit] of EDITS)
    it(`builds again after ${title}`, async () => {
      await build();
      await edit();
      expect(open().find('program')).to.equal(undefined);
    });

  it('does not build again because of files that no build reads', async () => {
    const built = await build();
    await writeFile(join(root, 'README.md'), '');
    await mkdir(join(root, 'tests'));
    await writeFile(join(root, 'tests/some.test.ts'), '');
    expect(open().find('program')).to.equal(built);
    expect([source, join(root, 'package.json')].map((file) => open().covers(file))).to.deep.equal([true, true]);
    expect(open().covers(join(root, 'tests/some.test.ts'))).to.equal(false);
  });

  it('misses no edit that is made while it builds', async () => {
    await open().add('program', async (to) => {
      await writeFile(join(to, 'program.cjs'), 'half of each');
      await writeFile(source, 'edited');
    });
    expect(open().find('program')).to.equal(undefined);
  });

  it('leaves nothing of a build that fails', async () => {
    const error = await failure(
      open().add('program', async (to) => {
        await writeFile(join(to, 'program.cjs'), 'half');
        throw new Error('does not compile');
      }),
    );
    expect(error).to.have.property('message', 'does not compile');
    expect(readdirSync(directory)).to.deep.equal([]);
  });

  it('keeps the first of two builds at once, and shows neither before it is complete', async () => {
    const first = deferred();
    const slow = open().add('program', async (to) => {
      await writeFile(join(to, 'program.cjs'), 'slow');
      await first.promise;
    });
    expect(open().find('program')).to.equal(undefined);
    const quick = await build('quick');
    first.resolve();
    expect(await slow).to.equal(quick);
    expect(readFileSync(join(quick, 'program.cjs'), 'utf8')).to.equal('quick');
    expect(readdirSync(directory)).to.have.length(1);
  });

  it('deletes old builds of the same name, and those that were interrupted', async () => {
    const other = await open().add('dashboard', () => Promise.resolve());
    const interrupted = join(directory, 'program.interrupted.tmp');
    const recent = join(directory, 'program.recent.tmp');
    await mkdir(interrupted);
    await mkdir(recent);
    await utimes(interrupted, new Date(0), new Date(0));
    const builds: string[] = [];
    for (let edit = 0; edit < 6; edit += 1) {
      await writeFile(source, 'x'.repeat(edit));
      const built = await build();
      // Their times could be equal otherwise.
      await utimes(built, new Date(), new Date(2026, 0, edit + 1));
      builds.push(built);
    }
    expect(builds.map((each) => existsSync(each))).to.deep.equal([false, false, true, true, true, true]);
    expect([existsSync(other), existsSync(recent), existsSync(interrupted)]).to.deep.equal([true, true, false]);
  });
});
