/** Replaces a file at once: after a crash, there is either the old one or the new one. */
import { open, rename, rm } from 'node:fs/promises';
import type { FileHandle } from 'node:fs/promises';
import { dirname } from 'node:path';

/**
 * @param temporary in the same directory; removed if the file cannot be written
 * @param write writes the content
 */
export async function replaceFile(
  file: string,
  temporary: string,
  write: (handle: FileHandle) => Promise<void>,
): Promise<void> {
  try {
    const handle = await open(temporary, 'w', 0o600);
    try {
      // An existing one may have other permissions.
      await handle.chmod(0o600);
      await write(handle);
      await handle.sync();
    } finally {
      await handle.close();
    }
    await rename(temporary, file);
  } catch (error) {
    await rm(temporary, { force: true });
    throw error;
  }
  await syncDirectory(dirname(file));
}

/** So that the new name survives a power failure. Windows does not open directories. */
export async function syncDirectory(directory: string): Promise<void> {
  if (process.platform === 'win32') return;
  const handle = await open(directory, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
