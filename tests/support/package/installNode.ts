/** Installs a version of Node from npm's registry, where it is a package for each platform. */
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, rename, rm } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

const { packageName } = createRequire(__filename)('../../../scripts/installNode.cjs') as {
  readonly packageName: () => string;
};

/** @returns the path of its `node`, which later calls find there */
export async function installNode(version: string): Promise<string> {
  const name = packageName();
  const parent = join(tmpdir(), 'bolide-packages');
  const directory = join(parent, `${name}-${version}`);
  if (!existsSync(directory)) {
    await mkdir(parent, { recursive: true });
    const unfinished = await mkdtemp(join(parent, 'unfinished-'));
    const options = ['--no-save', '--no-audit', '--no-fund', '--prefix', unfinished];
    await promisify(execFile)('npm', ['install', ...options, `${name}@${version}`], { cwd: unfinished });
    await rename(unfinished, directory).catch(async (error: unknown) => {
      await rm(unfinished, { recursive: true });
      // Another process may have been faster.
      if (!existsSync(directory)) throw error;
    });
  }
  return join(directory, 'node_modules', name, 'bin/node');
}
