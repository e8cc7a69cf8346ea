/** The script of MeteorBrowser's page, which is bundled again only when a source of it has changed. */
import { join } from 'node:path';
import { build } from 'esbuild';
import { BuildCache } from '../../../scripts/build/BuildCache.cjs';

const STUBS = join(__dirname, '../../stubs/client');
const SOURCES = ['imports', 'tests/stubs/client', 'tests/support/meteorClient', 'node_modules/.package-lock.json'];

const cache = new BuildCache(undefined, undefined, SOURCES);

/** @returns its path. @throws esbuild's BuildFailure if a source doesn't compile */
export async function buildPage(): Promise<string> {
  return join(cache.find('test-page') ?? (await cache.add('test-page', writePage)), 'page.js');
}

async function writePage(directory: string): Promise<void> {
  await build({
    entryPoints: [join(__dirname, 'page.tsx')],
    bundle: true,
    outdir: directory,
    format: 'iife',
    target: 'es2022',
    jsx: 'automatic',
    define: { 'process.env.NODE_ENV': '"development"' },
    alias: Object.fromEntries(
      ['meteor', 'mongo', 'tracker'].map((name) => [`meteor/${name}`, join(STUBS, `${name}.ts`)]),
    ),
    logLevel: 'error',
  });
}
