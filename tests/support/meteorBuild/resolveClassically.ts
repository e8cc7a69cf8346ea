import { readFileSync, statSync } from 'node:fs';
import path from 'node:path';
import type { MeteorArch } from './MeteorArch';
import { REPOSITORY } from './reachableFiles';

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
 * @returns undefined if it finds no file
 */
export function resolveClassically(specifier: string, arch: MeteorArch): string | undefined {
  const [, name = '', subpath = ''] = /^((?:@[^/]+\/)?[^/]+)\/?(.*)$/.exec(specifier) ?? [];
  const directory = path.join(REPOSITORY, 'node_modules', name);
  const targets = subpath === '' ? [...mainFilesOf(directory, arch), 'index'] : [subpath];
  return targets
    .flatMap((target) => ['', '.js', '.json', '/index.js'].map((ending) => path.join(directory, target + ending)))
    .find((file) => statSync(file, { throwIfNoEntry: false })?.isFile());
}

function mainFilesOf(directory: string, arch: MeteorArch): readonly string[] {
  const fields = JSON.parse(readFileSync(path.join(directory, 'package.json'), 'utf8')) as Record<string, unknown>;
  return MAIN_FIELDS[arch].map((name) => fields[name]).filter((value) => typeof value === 'string');
}
