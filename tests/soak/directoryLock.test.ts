/** The lock of the embedded database between processes. */
import { expect } from 'chai';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ConflictError } from '../../imports/business/ai/domain/errors/LLMErrors';
import { DirectoryLockedError, LOCK_FILE, lockDataDirectory } from '../../imports/database/sqlite/lockDataDirectory';
import { openSqliteDatabase } from '../../imports/database/sqlite/SqliteDatabase';
import { nextLine, startChild } from '../support/embeddedChildren';
import type { Child } from '../support/embeddedChildren';
import { failure } from '../support/failure';

describe('the lock of a data directory', () => {
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

  it('excludes a second process at once while the first is alive, also while it is stopped, and admits it once that is killed', async () => {
    for (let round = 0; round < 20; round += 1) {
      const first = start('hold', directory);
      expect(await nextLine(first)).to.equal(`open ${first.process.pid}`);
      if (round % 2 === 1) first.process.kill('SIGSTOP');
      const error = await failure(openSqliteDatabase({ directory }));
      expect(error).to.be.instanceOf(DirectoryLockedError).and.instanceOf(ConflictError);
      expect(error).to.include({ directory, code: 'conflict', retryable: false });
      expect(error).to.have.property('message').that.includes(directory).and.includes('in use by another process');
      await first.kill();
      const database = await openSqliteDatabase({ directory });
      await database.close();
    }
  });

  it('gives a second process a clear error', async () => {
    const lock = lockDataDirectory(directory);
    // A refused attempt does not release the lock of this process.
    expect(await failure(openSqliteDatabase({ directory }))).to.be.instanceOf(DirectoryLockedError);
    const second = start('hold', directory);
    expect(await nextLine(second)).to.match(new RegExp(`^DirectoryLockedError .*${directory} is in use`));
    const [code] = (await once(second.process, 'exit')) as [number];
    expect(code).to.equal(1);
    lock.release();
    lockDataDirectory(directory).release();
  });

  it("gives a dead process's lock to exactly one of many processes", async () => {
    for (let round = 0; round < 4; round += 1) {
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

  it('is lost with its file, to a process that has all that the first one had acknowledged', async () => {
    const first = start('hold', directory);
    await nextLine(first);
    await rm(join(directory, LOCK_FILE));
    let [count, answer] = [-1, 'written'];
    for (; answer === 'written'; count += 1) {
      first.process.stdin?.write(`${count}\n`);
      answer = await nextLine(first);
    }
    expect(answer).to.match(new RegExp(`^StoreLostError The data directory ${directory} is lost`));
    const database = await openSqliteDatabase({ directory });
    expect(await database.collection('rows').count({})).to.equal(count);
    await database.close();
  });

  it('does not prevent a process from exiting', async () => {
    const child = start('leave', directory);
    const [code] = (await once(child.process, 'exit')) as [number];
    expect(code).to.equal(0);
    const database = await openSqliteDatabase({ directory });
    expect(await database.collection('rows').find({})).to.have.length(1);
    await database.close();
  });
});
