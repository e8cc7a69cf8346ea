/** Makes a new name of a file survive a power failure. Windows does not open directories. */
import { open } from 'node:fs/promises';

export async function syncDirectory(directory: string): Promise<void> {
  if (process.platform === 'win32') return;
  const handle = await open(directory, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
