/**
 * The sealing key of a plain-Node host without AI_SECRET_KEYS: generated once, in a file that only its owner can
 * read.
 */
import { randomBytes } from 'node:crypto';
import { chmod, link, mkdir, readFile, stat, unlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { KEY_BYTES } from './KeyRing';

export const SECRET_KEY_FILE = 'secret.key';

/**
 * @param directory the host's data directory
 * @returns the ring's text, `id:base64`
 */
export async function readOrCreateSecretKey(directory: string): Promise<string> {
  const path = join(directory, SECRET_KEY_FILE);
  const existing = await readExisting(path);
  if (existing !== undefined) return existing;
  await mkdir(directory, { recursive: true, mode: 0o700 });
  await createAtomically(
    path,
    `local-${randomBytes(4).toString('hex')}:${randomBytes(KEY_BYTES).toString('base64')}\n`,
  );
  const written = await readExisting(path);
  if (written === undefined) throw new Error(`${path} was deleted while it was being written.`);
  return written;
}

async function readExisting(path: string): Promise<string | undefined> {
  try {
    const { mode } = await stat(path);
    if ((mode & 0o077) !== 0) await chmod(path, 0o600);
    return (await readFile(path, 'utf8')).trim();
  } catch (error) {
    if (isCode(error, 'ENOENT')) return undefined;
    throw error;
  }
}

/** Writes a draft and links it to its name when complete, so that two hosts starting together end up with one key. */
async function createAtomically(path: string, text: string): Promise<void> {
  const draft = `${path}.${randomBytes(6).toString('hex')}`;
  await writeFile(draft, text, { mode: 0o600, flag: 'wx' });
  try {
    await link(draft, path);
  } catch (error) {
    if (!isCode(error, 'EEXIST')) throw error;
  } finally {
    await unlink(draft);
  }
}

function isCode(error: unknown, code: string): boolean {
  return error instanceof Error && 'code' in error && error.code === code;
}
