/** Who holds a lock, and whether it is alive. */
import { open, readFile, readlink } from 'node:fs/promises';
import { hostname } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { isRecord } from '../query/fieldPaths';
import { codeOf } from './fileErrors';

export interface LockOwner {
  readonly pid: number;
  readonly host: string;
  /** Tells apart the processes that have had this pid; null on systems without /proc. */
  readonly incarnation: string | null;
  /** Where the pid is valid: a running kernel, and a container's namespace in it. Null on systems without /proc. */
  readonly pidNamespace: string | null;
  /** The owner touches its file so often, in milliseconds; null if an earlier version wrote it, which does not. */
  readonly heartbeatMs: number | null;
}

/** An owner is dead after so many missed heartbeats. */
export const MISSED_HEARTBEATS = 5;
const CHECKS_PER_HEARTBEAT = 4;

export async function thisProcess(heartbeatMs: number): Promise<LockOwner> {
  return {
    pid: process.pid,
    host: hostname(),
    incarnation: (await processState(process.pid))?.incarnation ?? null,
    pidNamespace: await pidNamespace(),
    heartbeatMs,
  };
}

/** Undefined for a file that is missing, or was cut off when the machine stopped. */
export async function readOwner(file: string): Promise<LockOwner | undefined> {
  try {
    const owner: unknown = JSON.parse(await readFile(file, 'utf8'));
    if (!isRecord(owner) || typeof owner.pid !== 'number' || typeof owner.host !== 'string') return undefined;
    return {
      pid: owner.pid,
      host: owner.host,
      incarnation: typeof owner.incarnation === 'string' ? owner.incarnation : null,
      pidNamespace: typeof owner.pidNamespace === 'string' ? owner.pidNamespace : null,
      heartbeatMs: typeof owner.heartbeatMs === 'number' ? owner.heartbeatMs : null,
    };
  } catch (error) {
    if (error instanceof SyntaxError || codeOf(error) === 'ENOENT') return undefined;
    throw error;
  }
}

/**
 * By its pid, if that is valid here. Otherwise, as for a container that has been replaced, by its heartbeat, which
 * takes as long as `MISSED_HEARTBEATS` of them if it is dead. Without either, an owner counts as alive.
 * @param file of the owner
 */
export async function isOwnerAlive(owner: LockOwner, file: string): Promise<boolean> {
  const here = await pidNamespace();
  const isPidValid =
    owner.pidNamespace === null || here === null ? owner.host === hostname() : owner.pidNamespace === here;
  if (isPidValid) return isProcessAlive(owner);
  return owner.heartbeatMs === null || hasHeartbeat(file, owner.heartbeatMs);
}

/** Counts checks instead of time, and compares no clocks: this process may be stopped in between, too. */
async function hasHeartbeat(file: string, heartbeatMs: number): Promise<boolean> {
  const first = await touchedAt(file);
  for (let check = 0; check < MISSED_HEARTBEATS * CHECKS_PER_HEARTBEAT; check += 1) {
    await sleep(heartbeatMs / CHECKS_PER_HEARTBEAT);
    const last = await touchedAt(file);
    if (last === undefined) return false;
    if (last !== first) return true;
  }
  return false;
}

/** Opens the file, since network file systems answer from their cache otherwise. */
async function touchedAt(file: string): Promise<number | undefined> {
  try {
    const handle = await open(file, 'r');
    try {
      return (await handle.stat()).mtimeMs;
    } finally {
      await handle.close();
    }
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return undefined;
    throw error;
  }
}

async function isProcessAlive(owner: LockOwner): Promise<boolean> {
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
  return ifReadable(async () => {
    const stat = await readFile(`/proc/${pid}/stat`, 'utf8');
    // The second field is the command's name in parentheses and may contain anything.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return { isDead: fields[0] === 'Z' || fields[0] === 'X', incarnation: `${await bootId()}/${fields[19] ?? ''}` };
  });
}

async function pidNamespace(): Promise<string | null> {
  return (await ifReadable(async () => `${await bootId()}/${await readlink('/proc/self/ns/pid')}`)) ?? null;
}

async function bootId(): Promise<string> {
  return (await readFile('/proc/sys/kernel/random/boot_id', 'utf8')).trim();
}

async function ifReadable<Result>(read: () => Promise<Result>): Promise<Result | undefined> {
  try {
    return await read();
  } catch (error) {
    if (['ENOENT', 'EACCES', 'ESRCH', 'ENOTDIR'].includes(codeOf(error))) return undefined;
    throw error;
  }
}
