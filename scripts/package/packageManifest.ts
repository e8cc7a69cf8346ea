/** The npm package's manifest: `package.npm.json`, completed with what the root `package.json` and the entries say. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ENTRIES } from './entries';

const ROOT = join(__dirname, '../..');

/** The folder that `npm run build` writes and `npm run package` packs. */
export const PACKAGE_DIRECTORY = join(ROOT, 'build/package');

export interface PackageManifest {
  readonly name: string;
  readonly version: string;
  readonly description: string;
  readonly license: string;
  readonly engines: { readonly node: string };
  readonly exports: Readonly<Record<string, unknown>>;
  readonly dependencies: Readonly<Record<string, string>>;
  readonly peerDependencies: Readonly<Record<string, string>>;
  readonly peerDependenciesMeta: Readonly<Record<string, { readonly optional: boolean }>>;
}

/** The oldest supported version of Node, as compilers name it. */
export const NODE_TARGET = (readJson('package.json') as RootManifest).engines.node.replace('>=', 'node');

interface Template {
  /** Names; the root manifest has their ranges. */
  readonly dependencies: readonly string[];
  readonly peerDependencies: Readonly<Record<string, string>>;
}

type RootManifest = Pick<PackageManifest, 'name' | 'version' | 'description' | 'license' | 'engines' | 'dependencies'>;

/** @throws Error if a dependency of the package is not in the root manifest's `dependencies` */
export function packageManifest(): PackageManifest {
  const { name, version, description, license, engines } = readJson('package.json') as RootManifest;
  const { dependencies, peerDependencies, ...fields } = readJson('package.npm.json') as Template;
  return {
    name,
    version,
    description,
    license,
    engines,
    ...fields,
    exports: packageExports(),
    dependencies: Object.fromEntries(dependencies.map((each) => [each, rootRange(each)])),
    peerDependencies,
    peerDependenciesMeta: Object.fromEntries(Object.keys(peerDependencies).map((each) => [each, { optional: true }])),
  };
}

/** @returns the range of a dependency in the root manifest: what is bundled is a version of it, too */
export function rootRange(name: string): string {
  const range = (readJson('package.json') as RootManifest).dependencies[name];
  if (range === undefined)
    throw new Error(`The npm package needs ${name}, which is not in the dependencies of package.json. Add it there.`);
  return range;
}

function packageExports(): Readonly<Record<string, unknown>> {
  const entries = Object.keys(ENTRIES).map((name): [string, unknown] => [
    name === 'index' ? '.' : `./${name}`,
    { types: `./dist/${name}.d.ts`, default: `./dist/${name}.js` },
  ]);
  return {
    ...Object.fromEntries<unknown>(entries),
    './meteor-methods': { types: './dist/meteor-methods.d.ts' },
    './react/styles.css': './react/styles.css',
    './package.json': './package.json',
  };
}

function readJson(file: string): unknown {
  return JSON.parse(readFileSync(join(ROOT, file), 'utf8')) as unknown;
}
