/** The app as Meteor's server has it: its sources, and beside them its packages without development dependencies. */
import { cp, mkdtemp, realpath, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { installOnce } from './installOnce';
import { REPOSITORY } from './repository';

/** What Meteor's bundlers read of the repository. */
const SOURCES = [
  '.babelrc',
  '.meteorignore',
  '.swcrc',
  'client',
  'imports',
  'package.json',
  'package-lock.json',
  'public',
  'rspack.config.js',
  'server',
  'tsconfig.json',
];

/** @returns the absolute path of the app, in a new folder that the caller deletes */
export async function copyProductionApp(): Promise<string> {
  const modules = await installOnce(REPOSITORY);
  const app = await realpath(await mkdtemp(join(tmpdir(), 'bolide-meteor-')));
  await Promise.all(SOURCES.map((name) => cp(join(REPOSITORY, name), join(app, name), { recursive: true })));
  await symlink(modules, join(app, 'node_modules'), 'dir');
  return app;
}
