import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { cp, mkdir, mkdtemp, readFile, realpath, rename, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

const MANIFESTS = ['package.json', 'package-lock.json', '.npmrc'];

/**
 * Installs the packages that a folder's lock file lists, without development dependencies, once per lock file. They are
 * outside of the repository, so that nothing finds the repository's own packages instead.
 * @returns the absolute path of a node_modules folder, which must not be changed
 */
export async function installOnce(folder: string): Promise<string> {
  const hash = createHash('sha256');
  for (const name of MANIFESTS) hash.update(await readFile(join(folder, name)));
  const parent = join(await realpath(tmpdir()), 'bolide-packages');
  const directory = join(parent, hash.digest('hex').slice(0, 16));
  if (!existsSync(directory)) {
    await mkdir(parent, { recursive: true });
    const unfinished = await mkdtemp(join(parent, 'unfinished-'));
    for (const name of MANIFESTS) await cp(join(folder, name), join(unfinished, name));
    await promisify(execFile)('npm', ['ci', '--omit=dev', '--ignore-scripts', '--prefer-offline'], { cwd: unfinished });
    await rename(unfinished, directory).catch(async (error: unknown) => {
      await rm(unfinished, { recursive: true });
      // Another process may have been faster.
      if (!existsSync(directory)) throw error;
    });
  }
  return join(directory, 'node_modules');
}
