/** Version 0.2 locks a directory by a file in the directory `lock`, which its process touches every two seconds. */
import { existsSync, statSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { DirectoryLockedError } from '../lockDataDirectory';
import { isRecord } from '../../query/fieldPaths';

export const OLD_LOCK = 'lock';
/** Milliseconds after which an owner in another container or on another host is dead. */
const SILENCE_MS = 10_000;

/** @throws DirectoryLockedError while a process of version 0.2 may be alive */
export async function refuseOldOwner(directory: string): Promise<void> {
  const lock = join(directory, OLD_LOCK);
  if (!existsSync(lock)) return;
  for (const name of await readdir(lock)) {
    const owner = parse(await readFile(join(lock, name), 'utf8'));
    if (owner === undefined) continue;
    const isHere = owner['host'] === hostname() && typeof owner['pid'] === 'number' && owner['pid'] !== process.pid;
    const age = Date.now() - statSync(join(lock, name)).mtimeMs;
    if (isHere ? isAlive(Number(owner['pid'])) : age < SILENCE_MS) throw new DirectoryLockedError(directory);
  }
}

/** Undefined for a file that was cut off when the machine stopped. */
function parse(text: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const owner: unknown = JSON.parse(text);
    return isRecord(owner) ? owner : undefined;
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    // EPERM: the process exists and belongs to another user.
    return error instanceof Error && 'code' in error && error.code === 'EPERM';
  }
}
