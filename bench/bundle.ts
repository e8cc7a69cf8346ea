/** Bundles the benchmark's processes and contenders. Writes only to `.build`. */
import path from 'node:path';
import { build } from 'esbuild';
import type { BuildOptions, Plugin } from 'esbuild';
import type { ContenderRow } from './contenders';

export const BUILD = path.join(__dirname, '.build');
const CONTENDERS = path.join(__dirname, 'contenders');
export const PACKAGE = path.join(__dirname, '..', 'build/package/dist');

/** The module that exports a contender's `create`. */
export function moduleOf({ file, loads, checkout }: ContenderRow): string {
  if (loads === 'tsx' || !file.endsWith('.ts')) return path.join(CONTENDERS, file);
  const folder = checkout === undefined ? 'contenders' : 'against';
  return path.join(BUILD, folder, file.replace(/\.ts$/, loads === 'package, ESM' ? '.mjs' : '.js'));
}

/** The packages that another checkout's sources import are this checkout's. */
export async function bundle(rows: readonly ContenderRow[]): Promise<void> {
  const entriesOf = (isIncluded: (row: ContenderRow) => boolean): { in: string; out: string }[] =>
    rows
      .filter((row) => row.file.endsWith('.ts') && row.loads !== 'tsx' && isIncluded(row))
      .map((row) => ({
        in: path.join(row.checkout === undefined ? CONTENDERS : path.join(row.checkout, 'bench/contenders'), row.file),
        out: path.relative(BUILD, moduleOf(row)).replace(/\.m?js$/, ''),
      }));
  await Promise.all([
    build({
      ...SHARED,
      format: 'cjs',
      entryPoints: [
        ...['measure', 'simulator', 'regression/pairs'].map((name) => ({
          in: path.join(__dirname, `${name}.ts`),
          out: name,
        })),
        ...entriesOf(({ loads }) => loads === undefined),
      ],
    }),
    build({
      ...SHARED,
      format: 'cjs',
      plugins: [builtPackage('../index.cjs')],
      entryPoints: entriesOf(({ loads }) => loads === 'package'),
    }),
    build({
      ...SHARED,
      format: 'esm',
      outExtension: { '.js': '.mjs' },
      plugins: [builtPackage('index.js')],
      entryPoints: entriesOf(({ loads }) => loads === 'package, ESM'),
    }),
  ]);
}

const SHARED = {
  outdir: BUILD,
  bundle: true,
  packages: 'external',
  platform: 'node',
  target: 'node22',
  // In a file of its own, which counts in no measurement.
  sourcemap: 'linked',
  logLevel: 'warning',
} as const satisfies BuildOptions;

function builtPackage(file: string): Plugin {
  return {
    name: 'built-package',
    setup(bundler) {
      bundler.onResolve({ filter: /^bolide$/ }, () => ({ path: path.join(PACKAGE, file), external: true }));
    },
  };
}
