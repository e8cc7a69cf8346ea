/**
 * The engine with what simulated processes do with it, bundled once, and compiled into a function that takes clocks,
 * timers and randomness as parameters. Each call is an instance of its own: it shares no module with the others.
 */
import { readFile, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { compileFunction } from 'node:vm';
import { build } from 'esbuild';
import type { Plugin } from 'esbuild';
import { BuildCache } from '../../scripts/build/BuildCache.cjs';
import { GLOBAL_NAMES } from './ProcessGlobals';
import type * as program from './processProgram';

/** A change of the engine's source before it is bundled. */
export interface Replacement {
  /** Below the repository's root. */
  readonly file: string;
  /** Occurs in it exactly once. */
  readonly find: string;
  readonly replace: string;
}

/** @param globals the values of `GLOBAL_NAMES` */
export type EngineBundle = (globals: readonly unknown[]) => typeof program;

const ROOT = resolve(__dirname, '../..');
const FILE = 'engine.cjs';
const ENTRY_POINT = 'processProgram.ts';

/** The engine as it is, which is bundled again only when a source has changed. */
const cache = new BuildCache(undefined, undefined, ['imports', 'tests', 'node_modules/.package-lock.json']);

export async function bundledEngine(): Promise<EngineBundle> {
  const write = async (directory: string): Promise<void> =>
    writeFile(join(directory, FILE), await bundleOf(ENTRY_POINT, []));
  const directory = cache.find('simulated-engine') ?? (await cache.add('simulated-engine', write));
  return compile(await readFile(join(directory, FILE), 'utf8'));
}

/** @throws Error if a replacement's text does not occur exactly once, or the engine does not consist of its file */
export async function changedEngine(replacements: readonly Replacement[]): Promise<EngineBundle> {
  return compile(await bundleOf(ENTRY_POINT, replacements));
}

function compile(code: string): EngineBundle {
  // Boundary: the bundle is a module that exports what its entry point does.
  const compiled = compileFunction(code, ['module', ...GLOBAL_NAMES], {
    filename: FILE,
  }) as (module: { exports: unknown }, ...globals: readonly unknown[]) => void;
  return (globals) => {
    const module: { exports: unknown } = { exports: undefined };
    compiled(module, ...globals);
    return module.exports as typeof program;
  };
}

/**
 * @param entryPoint beside this file
 * @throws Error if a replacement's text does not occur exactly once, or the bundle does not consist of its file
 */
export async function bundleOf(entryPoint: string, replacements: readonly Replacement[]): Promise<string> {
  const left = new Set(replacements);
  const { outputFiles } = await build({
    entryPoints: [join(__dirname, entryPoint)],
    bundle: true,
    write: false,
    platform: 'node',
    format: 'cjs',
    target: 'node22',
    packages: 'external',
    tsconfig: join(ROOT, 'tsconfig.node.json'),
    logLevel: 'silent',
    plugins: [replacing(replacements, (replacement) => left.delete(replacement))],
  });
  for (const { file } of left) throw new Error(`The engine does not consist of ${file}.`);
  return outputFiles[0]!.text;
}

function replacing(replacements: readonly Replacement[], onReplaced: (replacement: Replacement) => void): Plugin {
  const byPath = new Map<string, readonly Replacement[]>();
  for (const replacement of replacements) {
    const path = join(ROOT, replacement.file);
    byPath.set(path, [...(byPath.get(path) ?? []), replacement]);
  }
  return {
    name: 'replacements',
    setup(bundling) {
      if (byPath.size === 0) return;
      bundling.onLoad({ filter: /[.]ts$/ }, async ({ path }) => {
        const found = byPath.get(path);
        if (found === undefined) return undefined;
        let contents = await readFile(path, 'utf8');
        for (const replacement of found) {
          const { find, replace, file } = replacement;
          const count = contents.split(find).length - 1;
          if (count !== 1) throw new Error(`${file} contains ${JSON.stringify(find)} ${count} times, not once.`);
          contents = contents.replace(find, () => replace);
          onReplaced(replacement);
        }
        return { contents, loader: 'ts' };
      });
    },
  };
}
