/** The commit that this checkout is compared with, and its sources in a folder of their own. */
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, readFile, rename, rm } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);
const ROOT = path.join(__dirname, '..', '..');
const FOLDER = path.join(ROOT, 'node_modules', '.cache', 'bolide-bench');
/** What the bundles of the benchmark are made of. */
const SOURCES = ['imports', 'bench', 'packages', 'package.json', 'tsconfig.json', 'tsconfig.node.json'];
/** The file with the commit whose costs are accepted. */
export const ACCEPTED = 'bench/BASE';

/**
 * Returns the commit whose costs are accepted, so that several changes that are a little slower are found together.
 * Without it in the history, the parent.
 */
export async function baseCommit(): Promise<string | undefined> {
  const accepted = (await readFile(path.join(ROOT, ACCEPTED), 'utf8')).trim();
  return (await git('rev-parse', '--verify', '--quiet', `${accepted}^{commit}`)) ?? git('rev-parse', 'HEAD^');
}

export async function subjectOf(commit: string): Promise<string> {
  return (await git('log', '-1', '--format=%h, %cs: %s', commit)) ?? commit;
}

/** Extracts the commit's sources, once. @returns their folder */
export async function extract(commit: string): Promise<string> {
  const folder = path.join(FOLDER, commit);
  if (existsSync(folder)) return folder;
  // The cache keeps the sources of one base.
  await rm(FOLDER, { recursive: true, force: true });
  const partial = `${folder}.partial`;
  await mkdir(partial, { recursive: true });
  const present = (await run('git', ['ls-tree', '--name-only', commit], { cwd: ROOT })).stdout.split('\n');
  const archive = path.join(FOLDER, `${commit}.tar`);
  const sources = SOURCES.filter((name) => present.includes(name));
  await run('git', ['archive', '--output', archive, commit, ...sources], { cwd: ROOT });
  await run('tar', ['-xf', archive, '-C', partial]);
  await rm(archive);
  await rename(partial, folder);
  return folder;
}

/** @returns undefined if Git does not know it */
async function git(...args: readonly string[]): Promise<string | undefined> {
  const output = await run('git', args, { cwd: ROOT }).then(
    ({ stdout }) => stdout.trim(),
    () => '',
  );
  return output === '' ? undefined : output;
}
