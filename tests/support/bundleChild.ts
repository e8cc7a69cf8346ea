/** One JavaScript file of a test's child process, so that children start without a compiler. */
import { mkdir } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { build } from 'esbuild';

/** Where Node still finds the packages, which stay outside of the bundle. */
const DIRECTORY = join(__dirname, '../../node_modules/.cache/bolide-children');

/** @param entry a TypeScript file @returns the file to run */
export async function bundleChild(entry: string): Promise<string> {
  await mkdir(DIRECTORY, { recursive: true });
  const outfile = join(DIRECTORY, `${basename(entry, '.ts')}.${process.pid}.cjs`);
  await build({
    entryPoints: [entry],
    outfile,
    bundle: true,
    platform: 'node',
    format: 'cjs',
    target: 'node20',
    packages: 'external',
    logLevel: 'error',
  });
  return outfile;
}
