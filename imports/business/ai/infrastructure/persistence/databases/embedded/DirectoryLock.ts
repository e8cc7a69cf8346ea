/**
 * Lets one process at a time use a data directory. The lock is a directory `lock` that holds one file about its owner.
 * It is created atomically, by a rename that fails while another lock exists. A dead owner's lock is removed through
 * its file, whose name is unique. So if two processes find the same stale lock, one of them gets it, and a living
 * owner's lock is never removed.
 */
import { randomUUID } from 'node:crypto';
import { mkdtemp, readdir, readFile, rename, rmdir, unlink, writeFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { ConflictError } from '../../../../domain/errors/LLMErrors';
import { isRecord } from '../query/fieldPaths';

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
    const remedy =
      owner === undefined || owner.host === hostname()
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
  /** Safe to call again. */
  release(): Promise<void>;
}

interface LockOwner {
  readonly pid: number;
  readonly host: string;
  /** Tells apart the processes that have had this pid; null on systems without /proc. */
  readonly incarnation: string | null;
}

const LOCK = 'lock';
const MAX_ATTEMPTS = 50;

/**
 * @param directory an existing directory
 * @throws DirectoryLockedError while its owner is alive
 */
export async function lockDirectory(directory: string): Promise<DirectoryLock> {
  const lock = join(directory, LOCK);
  const file = `${randomUUID()}.json`;
  const prepared = await mkdtemp(join(directory, `${LOCK}-`));
  const owner: LockOwner = {
    pid: process.pid,
    host: hostname(),
    incarnation: (await processState(process.pid))?.incarnation ?? null,
  };
  await writeFile(join(prepared, file), JSON.stringify(owner), { mode: 0o600 });
  try {
    await acquire(directory, lock, prepared);
  } catch (error) {
    await removeLock(prepared, file);
    throw error;
  }
  return { release: () => removeLock(lock, file) };
}

async function acquire(directory: string, lock: string, prepared: string): Promise<void> {
  let holder: LockOwner | undefined;
  for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt += 1) {
    if (await succeedsUnless(rename(prepared, lock), EXISTS_CODES)) return;
    for (const file of await filesIn(lock)) {
      holder = await readOwner(join(lock, file));
      if (holder !== undefined && (await isAlive(holder))) throw new DirectoryLockedError(directory, holder);
      // An unreadable file was cut off when the machine stopped: a living owner's file is complete before it becomes
      // visible.
      await succeedsUnless(unlink(join(lock, file)), MISSING_CODES);
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

async function readOwner(path: string): Promise<LockOwner | undefined> {
  try {
    const owner: unknown = JSON.parse(await readFile(path, 'utf8'));
    if (!isRecord(owner) || typeof owner.pid !== 'number' || typeof owner.host !== 'string') return undefined;
    return {
      pid: owner.pid,
      host: owner.host,
      incarnation: typeof owner.incarnation === 'string' ? owner.incarnation : null,
    };
  } catch (error) {
    if (error instanceof SyntaxError || MISSING_CODES.includes(codeOf(error))) return undefined;
    throw error;
  }
}

/** A process on another host counts as alive, since it cannot be checked. */
async function isAlive(owner: LockOwner): Promise<boolean> {
  if (owner.host !== hostname()) return true;
  try {
    process.kill(owner.pid, 0);
  } catch (error) {
    // EPERM: the process exists and belongs to another user.
    if (codeOf(error) !== 'EPERM') return false;
  }
  const state = await processState(owner.pid);
  return (
    state === undefined || (!state.isDead && (owner.incarnation === null || owner.incarnation === state.incarnation))
  );
}

/** On Linux, fields 3 (state) and 22 (start time in ticks since boot) of proc_pid_stat(5); undefined elsewhere. */
async function processState(
  pid: number,
): Promise<{ readonly isDead: boolean; readonly incarnation: string } | undefined> {
  try {
    const stat = await readFile(`/proc/${pid}/stat`, 'utf8');
    const boot = await readFile('/proc/sys/kernel/random/boot_id', 'utf8');
    // The second field is the command's name in parentheses and may contain anything.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return { isDead: fields[0] === 'Z' || fields[0] === 'X', incarnation: `${boot.trim()}/${fields[19] ?? ''}` };
  } catch (error) {
    if (['ENOENT', 'EACCES', 'ESRCH', 'ENOTDIR'].includes(codeOf(error))) return undefined;
    throw error;
  }
}

function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : '';
}
