/** Bundles the entry point of a child process into one JavaScript file, so that children start without a compiler. */
import { mkdir } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { build } from 'esbuild';

/** Inside node_modules, so that Node still resolves the packages, which are not bundled. */
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
    target: 'node22',
    packages: 'external',
    // Maps `meteor/*` to the stubs.
    tsconfig: join(__dirname, '../../tsconfig.node.json'),
    logLevel: 'error',
  });
  return outfile;
}
