/**
 * One process at a time in a data directory. The lock is a directory `lock` that holds one file about its owner: it
 * appears whole, by a rename that fails while another stands there, and a dead owner's is taken apart by removing
 * that owner's file, whose name nobody else's has. So of two processes that find the same stale lock one gets it,
 * and no living one's is ever removed.
 */
import { randomUUID } from 'node:crypto';
import { mkdtemp, readdir, readFile, rename, rmdir, unlink, writeFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { ConflictError } from '../../../../domain/errors/LLMErrors';
import { isRecord } from '../query/fieldPaths';

/** Another process, or this one, has the data directory open. */
export class DirectoryLockedError extends ConflictError {
  readonly directory: string;
  /** The owner's process id, where its file could be read. */
  readonly pid: number | undefined;

  constructor(directory: string, owner: Owner | undefined) {
    const who =
      owner === undefined
        ? 'another process'
        : `process ${owner.pid}${owner.host === hostname() ? '' : ` on ${owner.host}`}`;
    const remedy =
      owner === undefined || owner.host === hostname() ? '' : ` If that host is gone, remove ${join(directory, LOCK)}.`;
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

interface Owner {
  readonly pid: number;
  readonly host: string;
  /** Which of the processes that have had this pid; unknown where there is no /proc. */
  readonly incarnation: string | null;
}

const LOCK = 'lock';
const ATTEMPTS = 50;

/**
 * @param directory an existing one
 * @throws DirectoryLockedError while its owner lives
 */
export async function lockDirectory(directory: string): Promise<DirectoryLock> {
  const lock = join(directory, LOCK);
  const file = `${randomUUID()}.json`;
  const prepared = await mkdtemp(join(directory, `${LOCK}-`));
  const owner: Owner = {
    pid: process.pid,
    host: hostname(),
    incarnation: (await processState(process.pid))?.incarnation ?? null,
  };
  await writeFile(join(prepared, file), JSON.stringify(owner), { mode: 0o600 });
  try {
    await takeOver(directory, lock, prepared);
  } catch (error) {
    await removeWith(prepared, file);
    throw error;
  }
  return { release: () => removeWith(lock, file) };
}

async function takeOver(directory: string, lock: string, prepared: string): Promise<void> {
  let holder: Owner | undefined;
  for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
    if (await succeeds(rename(prepared, lock), TAKEN)) return;
    for (const file of await filesIn(lock)) {
      holder = await readOwner(join(lock, file));
      if (holder !== undefined && (await isAlive(holder))) throw new DirectoryLockedError(directory, holder);
      // A file that can't be read was cut off when the whole machine stopped: a living owner's was there in one
      // piece before it was seen.
      await succeeds(unlink(join(lock, file)), GONE);
    }
    await succeeds(rmdir(lock), [...GONE, ...TAKEN]);
  }
  throw new DirectoryLockedError(directory, holder);
}

/** Removes the owner's file and then the directory, unless somebody else is in it by now. */
async function removeWith(lock: string, file: string): Promise<void> {
  await succeeds(unlink(join(lock, file)), GONE);
  await succeeds(rmdir(lock), [...GONE, ...TAKEN]);
}

/** EPERM is what Windows says of a directory in the way. */
const TAKEN = process.platform === 'win32' ? ['ENOTEMPTY', 'EEXIST', 'EPERM'] : ['ENOTEMPTY', 'EEXIST'];
const GONE = ['ENOENT'];

/** False for one of the named errors; any other is thrown. */
async function succeeds(action: Promise<void>, expected: readonly string[]): Promise<boolean> {
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
    if (GONE.includes(codeOf(error))) return [];
    throw error;
  }
}

async function readOwner(path: string): Promise<Owner | undefined> {
  try {
    const owner: unknown = JSON.parse(await readFile(path, 'utf8'));
    if (!isRecord(owner) || typeof owner.pid !== 'number' || typeof owner.host !== 'string') return undefined;
    return {
      pid: owner.pid,
      host: owner.host,
      incarnation: typeof owner.incarnation === 'string' ? owner.incarnation : null,
    };
  } catch (error) {
    if (error instanceof SyntaxError || GONE.includes(codeOf(error))) return undefined;
    throw error;
  }
}

/** A process on another host counts as alive: it can't be asked. */
async function isAlive(owner: Owner): Promise<boolean> {
  if (owner.host !== hostname()) return true;
  try {
    process.kill(owner.pid, 0);
  } catch (error) {
    // EPERM: it is there and belongs to somebody else.
    if (codeOf(error) !== 'EPERM') return false;
  }
  const state = await processState(owner.pid);
  return (
    state === undefined || (!state.isDead && (owner.incarnation === null || owner.incarnation === state.incarnation))
  );
}

/** Linux: proc_pid_stat(5), fields 3 (state) and 22 (start time in ticks since boot); nothing elsewhere. */
async function processState(
  pid: number,
): Promise<{ readonly isDead: boolean; readonly incarnation: string } | undefined> {
  try {
    const stat = await readFile(`/proc/${pid}/stat`, 'utf8');
    const boot = await readFile('/proc/sys/kernel/random/boot_id', 'utf8');
    // The second field is the command's name in parentheses, and may hold anything.
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
