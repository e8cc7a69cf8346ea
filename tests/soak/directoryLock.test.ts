/** The lock of the embedded database between processes. */
import { expect } from 'chai';
import { once } from 'node:events';
import { mkdtemp, readFile, readdir, rm, writeFile } from 'node:fs/promises';
import { hostname, tmpdir } from 'node:os';
import { join } from 'node:path';
import { ConflictError } from '../../imports/business/ai/domain/errors/LLMErrors';
import {
  DirectoryLockedError,
  lockDirectory,
} from '../../imports/business/ai/infrastructure/persistence/databases/embedded/DirectoryLock';
import { openEmbeddedDatabase } from '../../imports/business/ai/infrastructure/persistence/databases/embedded/EmbeddedDatabase';
import { nextLine, startChild } from '../support/embeddedChildren';
import type { Child } from '../support/embeddedChildren';
import { failure } from '../support/failure';

/** Elsewhere, processes on the same host name are in the same container. */
const hasProc = process.platform === 'linux';
/** Above the largest that a system gives. */
const DEAD_PID = 2 ** 22 + 1;

describe('DirectoryLock', () => {
  let directory: string;
  const children: Child[] = [];

  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), 'bolide-lock-'));
  });
  afterEach(async () => {
    await Promise.all(children.splice(0).map((child) => child.kill()));
    await rm(directory, { recursive: true });
  });

  const start = (...args: readonly string[]): Child => {
    const child = startChild(...args);
    children.push(child);
    return child;
  };

  it('excludes a second process while the first is alive, naming directory and process, and admits it once the first is killed', async () => {
    const first = start('hold', directory);
    expect(await nextLine(first)).to.equal(`open ${first.process.pid}`);
    const error = await failure(openEmbeddedDatabase({ directory }));
    expect(error).to.be.instanceOf(DirectoryLockedError).and.instanceOf(ConflictError);
    expect(error).to.include({ directory, pid: first.process.pid, code: 'conflict', retryable: false });
    expect((error as Error).message)
      .to.include(directory)
      .and.include(`process ${first.process.pid}`);
    await first.kill();
    const database = await openEmbeddedDatabase({ directory });
    await database.close();
  });

  it('gives a second process a clear error', async () => {
    const lock = await lockDirectory(directory);
    const second = start('hold', directory);
    expect(await nextLine(second)).to.match(
      new RegExp(`^DirectoryLockedError .*${directory}.* process ${process.pid}\\b`),
    );
    const [code] = (await once(second.process, 'exit')) as [number];
    expect(code).to.equal(1);
    await lock.release();
    await (await lockDirectory(directory)).release();
  });

  it("gives a dead process's lock to exactly one of many processes", async () => {
    for (let round = 0; round < 2; round += 1) {
      const dead = start('hold', directory);
      await nextLine(dead);
      await dead.kill();
      const several = Array.from({ length: 5 }, () => start('hold', directory));
      const lines = await Promise.all(several.map(nextLine));
      expect(
        lines.filter((line) => line.startsWith('open')),
        lines.join('\n'),
      ).to.have.length(1);
      expect(lines.filter((line) => line.startsWith('DirectoryLockedError'))).to.have.length(4);
      await Promise.all(several.map((child) => child.kill()));
    }
  });

  it('does not prevent a process from exiting', async () => {
    const child = start('leave', directory);
    const [code] = (await once(child.process, 'exit')) as [number];
    expect(code).to.equal(0);
    expect(await readdir(directory)).to.include('lock');
    const database = await openEmbeddedDatabase({ directory });
    expect(await database.collection('rows').find({})).to.have.length(1);
    await database.close();
  });

  describe('of an owner whose pid means nothing here, as in a container that was replaced', () => {
    const HEARTBEAT_MS = 100;

    /** Opens the directory in a process that looks as if it ran in another container. */
    const startElsewhere = async (): Promise<Child> => {
      const child = start('hold', directory, String(HEARTBEAT_MS));
      expect(await nextLine(child)).to.match(/^open/);
      const [name = ''] = await readdir(join(directory, 'lock'));
      const file = join(directory, 'lock', name);
      const owner = JSON.parse(await readFile(file, 'utf8')) as object;
      await writeFile(file, JSON.stringify({ ...owner, host: 'container-1', pidNamespace: 'of container-1' }));
      return child;
    };

    it('is refused as long as there is a heartbeat, and taken over after it has stopped', async () => {
      const owner = await startElsewhere();
      const error = (await failure(lockDirectory(directory))) as Error;
      expect(error).to.be.instanceOf(DirectoryLockedError);
      expect(error.message).to.include('on container-1').and.not.include('remove');
      owner.process.stdin!.write('a\n');
      expect(await nextLine(owner)).to.equal('written');
      await owner.kill();
      const database = await openEmbeddedDatabase({ directory });
      expect(await database.collection('rows').count({ _id: 'a' })).to.equal(1);
      await database.close();
    });

    if (hasProc)
      it('is refused to a process on the same host name, too', async () => {
        await startElsewhere();
        const [name = ''] = await readdir(join(directory, 'lock'));
        const file = join(directory, 'lock', name);
        const owner = JSON.parse(await readFile(file, 'utf8')) as object;
        // With the same pid as a process that has died, as it is 1 in each container.
        await writeFile(file, JSON.stringify({ ...owner, host: hostname(), pid: DEAD_PID }));
        expect(await failure(lockDirectory(directory))).to.be.instanceOf(DirectoryLockedError);
      });

    it('goes to exactly one of many processes', async () => {
      const owner = await startElsewhere();
      await owner.kill();
      const several = Array.from({ length: 4 }, () => start('hold', directory));
      const lines = await Promise.all(several.map(nextLine));
      expect(lines.filter((line) => line.startsWith('open'))).to.have.length(1);
      expect(lines.filter((line) => line.startsWith('DirectoryLockedError'))).to.have.length(3);
    });

    it('is noticed by an owner that was stopped meanwhile, which writes nothing more', async () => {
      const owner = await startElsewhere();
      owner.process.kill('SIGSTOP');
      const database = await openEmbeddedDatabase({ directory });
      await database.collection('rows').insert({ _id: 'b' });
      const written = await readFile(join(directory, 'rows.nedb'), 'utf8');
      owner.process.stdin!.write('late\n');
      owner.process.kill('SIGCONT');
      expect(await nextLine(owner)).to.match(/^StoreError .* lost the data directory/);
      expect(await readFile(join(directory, 'rows.nedb'), 'utf8')).to.equal(written);
      await database.close();
    });
  });
});
