import { expect } from 'chai';
import { mkdir, mkdtemp, readFile, readdir, rm, writeFile } from 'node:fs/promises';
import { hostname, tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  DirectoryLockedError,
  lockDirectory,
} from '../../../../../../../imports/business/ai/infrastructure/persistence/databases/embedded/DirectoryLock';
import { failure } from '../../../../../../support/failure';

/** Elsewhere, processes on the same host name are in the same container. */
const hasProc = process.platform === 'linux';
/** Above the largest that a system gives. */
const DEAD_PID = 2 ** 22 + 1;

describe('DirectoryLock', () => {
  let directory: string;

  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), 'bolide-lock-'));
  });
  afterEach(async () => {
    await rm(directory, { recursive: true });
  });

  /** Writes a lock as its former owner left it. */
  const leaveLock = async (owner: unknown, name = 'somebody.json'): Promise<void> => {
    await mkdir(join(directory, 'lock'));
    await writeFile(join(directory, 'lock', name), typeof owner === 'string' ? owner : JSON.stringify(owner));
  };
  const isTaken = async (): Promise<boolean> => {
    const lock = await lockDirectory(directory);
    await lock.release();
    return true;
  };

  it('excludes the same process too, and can be released once', async () => {
    const lock = await lockDirectory(directory);
    expect(await failure(lockDirectory(directory))).to.include({ pid: process.pid });
    expect(await readdir(directory)).to.deep.equal(['lock']);
    await lock.release();
    const next = await lockDirectory(directory);
    await lock.release();
    expect(await failure(lockDirectory(directory))).to.be.instanceOf(DirectoryLockedError);
    await next.release();
    expect(await readdir(directory)).to.deep.equal([]);
  });

  it('gives it to exactly one of many in the same process', async () => {
    await leaveLock({ pid: DEAD_PID, host: hostname(), incarnation: null });
    const results = await Promise.allSettled(Array.from({ length: 20 }, () => lockDirectory(directory)));
    const locks = results.flatMap((result) => (result.status === 'fulfilled' ? [result.value] : []));
    expect(locks).to.have.length(1);
    for (const result of results)
      if (result.status === 'rejected') expect(result.reason).to.be.instanceOf(DirectoryLockedError);
    await locks[0]!.release();
    expect(await readdir(directory)).to.deep.equal([]);
  });

  it('replaces remains of a lock: of a dead process, without an owner, or with a truncated file', async () => {
    await leaveLock({ pid: DEAD_PID, host: hostname(), incarnation: null });
    expect(await isTaken()).to.equal(true);
    await mkdir(join(directory, 'lock'));
    expect(await isTaken()).to.equal(true);
    await leaveLock('{"pid":');
    expect(await isTaken()).to.equal(true);
    await leaveLock('');
    expect(await isTaken()).to.equal(true);
  });

  it('treats a process on another host as alive and explains what to do', async () => {
    await leaveLock({ pid: 1, host: 'another-host', incarnation: null });
    const error = (await failure(lockDirectory(directory))) as Error;
    expect(error.message)
      .to.include('process 1 on another-host')
      .and.include(`remove ${join(directory, 'lock')}`);
  });

  if (hasProc)
    it("detects another process with the dead one's pid", async () => {
      const lock = await lockDirectory(directory);
      const [name = ''] = await readdir(join(directory, 'lock'));
      const owner = JSON.parse(await readFile(join(directory, 'lock', name), 'utf8')) as { incarnation: string };
      await lock.release();
      await leaveLock({ ...owner, incarnation: `${owner.incarnation}0` });
      expect(await isTaken()).to.equal(true);
      await leaveLock(owner);
      expect(await failure(lockDirectory(directory))).to.be.instanceOf(DirectoryLockedError);
    });
});
