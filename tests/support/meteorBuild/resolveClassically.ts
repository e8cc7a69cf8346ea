import { readFileSync, statSync } from 'node:fs';
import path from 'node:path';
import type { MeteorArch } from './MeteorArch';
import { REPOSITORY } from './repository';

/** In order of preference; the first that names a file wins. */
const MAIN_FIELDS: Readonly<Record<MeteorArch, readonly string[]>> = {
  os: ['main'],
  'web.browser': ['browser', 'module', 'main'],
  'web.browser.legacy': ['browser', 'main', 'module'],
};

/**
 * Resolves a package specifier as Meteor's classic bundler does: by the package's main fields or by a path within it,
 * never by its `exports`.
 * https://github.com/meteor/meteor/blob/release/METEOR%403.4.1/tools/isobuild/resolver.ts
 * @param modules the node_modules folder in which it looks
 * @returns undefined if it finds no file
 */
export function resolveClassically(
  specifier: string,
  arch: MeteorArch,
  modules = path.join(REPOSITORY, 'node_modules'),
): string | undefined {
  return resolvePath(path.join(modules, specifier), arch);
}

/** A file, one with an extension that is not written, or a folder by its `package.json` or its index. */
function resolvePath(base: string, arch: MeteorArch): string | undefined {
  const file = ['', '.js', '.json'].map((extension) => base + extension).find(isFile);
  if (file !== undefined) return file;
  return [...mainFilesOf(base, arch), 'index.js'].map((main) => path.join(base, main)).find(isFile);
}

function mainFilesOf(directory: string, arch: MeteorArch): readonly string[] {
  const manifest = path.join(directory, 'package.json');
  if (!isFile(manifest)) return [];
  const fields = JSON.parse(readFileSync(manifest, 'utf8')) as Record<string, unknown>;
  return MAIN_FIELDS[arch]
    .map((name) => fields[name])
    .filter((value) => typeof value === 'string')
    .flatMap((main) => [main, `${main}.js`, `${main}.json`, `${main}/index.js`]);
}

function isFile(name: string): boolean {
  return statSync(name, { throwIfNoEntry: false })?.isFile() === true;
}
