/**
 * Lets one process at a time use a data directory. The lock is a directory `lock` that holds one file about its owner.
 * It is created atomically, by a rename that fails while another lock exists. A dead owner's lock is removed through
 * its file, whose name is unique. So if two processes find the same stale lock, one of them gets it, and a living
 * owner's lock is never removed.
 *
 * Whether an owner on another host or in another container is alive is known by its heartbeat alone. An owner that was
 * stopped for longer than that, and replaced, finds its file gone and writes nothing more.
 */
import { randomUUID } from 'node:crypto';
import { mkdtemp, readdir, rename, rmdir, unlink, utimes, writeFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { ConflictError } from '../../../../domain/errors/LLMErrors';
import { StoreError } from '../databaseErrors';
import { codeOf, toFileError } from './fileErrors';
import { isOwnerAlive, MISSED_HEARTBEATS, readOwner, thisProcess } from './LockOwner';
import type { LockOwner } from './LockOwner';

/** Another process, or this one, is using the data directory. */
export class DirectoryLockedError extends ConflictError {
  readonly directory: string;
  /** The owner's process id, if its file was readable. */
  readonly pid: number | undefined;

  constructor(directory: string, owner: LockOwner | undefined) {
    const who =
      owner === undefined
        ? 'another process'
        : `process ${owner.pid}${owner.host === hostname() ? '' : ` on ${owner.host}`}`;
    // Whether an owner with a heartbeat is dead needs nobody's judgement.
    const remedy =
      owner === undefined || owner.host === hostname() || owner.heartbeatMs !== null
        ? ''
        : ` If that host no longer exists, remove ${join(directory, LOCK)}.`;
    super(
      `The data directory ${directory} is in use by ${who}. Stop it, set DATA_DIR, or use MongoDB for several processes.${remedy}`,
    );
    this.directory = directory;
    this.pid = owner?.pid;
  }
}

export interface DirectoryLock {
  /** Before each write. @throws StoreError if another process has taken the directory */
  verify(): Promise<void>;
  /** Safe to call again. */
  release(): Promise<void>;
}

const LOCK = 'lock';
const MAX_ATTEMPTS = 50;
const HEARTBEAT_MS = 2_000;

/**
 * Waits up to `MISSED_HEARTBEATS` heartbeats of an owner in another container or on another host.
 * @param directory an existing directory
 * @param heartbeatMs milliseconds
 * @throws DirectoryLockedError while its owner is alive
 */
export async function lockDirectory(directory: string, heartbeatMs = HEARTBEAT_MS): Promise<DirectoryLock> {
  const lock = join(directory, LOCK);
  const file = `${randomUUID()}.json`;
  const prepared = await mkdtemp(join(directory, `${LOCK}-`));
  try {
    await writeFile(join(prepared, file), JSON.stringify(await thisProcess(heartbeatMs)), { mode: 0o600 });
    await acquire(directory, lock, prepared);
  } catch (error) {
    await removeLock(prepared, file);
    throw error;
  }
  return new HeldLock(directory, file, heartbeatMs);
}

class HeldLock implements DirectoryLock {
  private readonly directory: string;
  private readonly file: string;
  private readonly heartbeatMs: number;
  private readonly timer: NodeJS.Timeout;
  private isLost = false;
  /** By the clock, which runs while the machine sleeps, and by the monotonic one, which nobody sets back. */
  private last = { wall: Date.now(), monotonic: performance.now() };

  constructor(directory: string, file: string, heartbeatMs: number) {
    this.directory = directory;
    this.file = file;
    this.heartbeatMs = heartbeatMs;
    this.timer = setInterval(() => {
      // A failure is reported by the next write.
      void this.beat().catch(() => undefined);
    }, heartbeatMs);
    this.timer.unref();
  }

  async verify(): Promise<void> {
    if (!this.isLost && this.isLate()) await this.beat();
    if (this.isLost)
      throw new StoreError(
        `This process has lost the data directory ${this.directory}: its lock was removed, or another process has taken ` +
          `it after ${(MISSED_HEARTBEATS * this.heartbeatMs) / 1_000} s without a sign of life. Restart this process.`,
      );
  }

  async release(): Promise<void> {
    clearInterval(this.timer);
    await removeLock(join(this.directory, LOCK), this.file);
  }

  private isLate(): boolean {
    const late = 2 * this.heartbeatMs;
    return performance.now() - this.last.monotonic > late || Math.abs(Date.now() - this.last.wall) > late;
  }

  /** By its path, so that it is noticed if the file is gone. */
  private async beat(): Promise<void> {
    const now = { wall: Date.now(), monotonic: performance.now() };
    const path = join(this.directory, LOCK, this.file);
    try {
      await utimes(path, now.wall / 1_000, now.wall / 1_000);
      this.last = now;
    } catch (cause) {
      if (!MISSING_CODES.includes(codeOf(cause))) throw toFileError(`${path} could not be touched`, cause);
      this.isLost = true;
    }
  }
}

async function acquire(directory: string, lock: string, prepared: string): Promise<void> {
  let holder: LockOwner | undefined;
  for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt += 1) {
    if (await succeedsUnless(rename(prepared, lock), EXISTS_CODES)) return;
    for (const file of await filesIn(lock)) {
      const path = join(lock, file);
      holder = await readOwner(path);
      if (holder !== undefined && (await isOwnerAlive(holder, path))) throw new DirectoryLockedError(directory, holder);
      // An unreadable file was cut off when the machine stopped: a living owner's file is complete before it becomes
      // visible.
      await succeedsUnless(unlink(path), MISSING_CODES);
    }
    await succeedsUnless(rmdir(lock), [...MISSING_CODES, ...EXISTS_CODES]);
  }
  throw new DirectoryLockedError(directory, holder);
}

/** Removes the owner's file, then the directory unless another owner's file is in it by now. */
async function removeLock(lock: string, file: string): Promise<void> {
  await succeedsUnless(unlink(join(lock, file)), MISSING_CODES);
  await succeedsUnless(rmdir(lock), [...MISSING_CODES, ...EXISTS_CODES]);
}

/** On Windows, renaming onto an existing directory fails with EPERM. */
const EXISTS_CODES = process.platform === 'win32' ? ['ENOTEMPTY', 'EEXIST', 'EPERM'] : ['ENOTEMPTY', 'EEXIST'];
const MISSING_CODES = ['ENOENT'];

/** Returns false for the expected error codes and throws any other error. */
async function succeedsUnless(action: Promise<void>, expected: readonly string[]): Promise<boolean> {
  try {
    await action;
    return true;
  } catch (error) {
    if (expected.includes(codeOf(error))) return false;
    throw error;
  }
}

async function filesIn(lock: string): Promise<readonly string[]> {
  try {
    return await readdir(lock);
  } catch (error) {
    if (MISSING_CODES.includes(codeOf(error))) return [];
    throw error;
  }
}
