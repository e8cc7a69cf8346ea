/** Prints the bill of materials of what Bolide ships, as CycloneDX: `npm run --silent sbom > sbom.cdx.json`. */
import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { BUNDLED_PACKAGES } from './package/inlinedPackages';
import { packageManifest } from './package/packageManifest';
import { selectShippedComponents } from './package/selectShippedComponents';
import type { CycloneDx, PackageLock } from './package/selectShippedComponents';

const ROOT = join(__dirname, '..');
/** npm describes each installed package in about a kilobyte, development dependencies included. */
const MAX_OUTPUT_BYTES = 64 * 1024 * 1024;

async function printSbom(): Promise<void> {
  // The lock file alone, so that it needs neither a network nor an installation for this platform.
  const { stdout } = await promisify(execFile)('npm', ['sbom', '--sbom-format', 'cyclonedx', '--package-lock-only'], {
    cwd: ROOT,
    maxBuffer: MAX_OUTPUT_BYTES,
  });
  const lock = JSON.parse(await readFile(join(ROOT, 'package-lock.json'), 'utf8')) as PackageLock;
  const dependencies = Object.keys(packageManifest().dependencies);
  const selected = selectShippedComponents(JSON.parse(stdout) as CycloneDx, lock, dependencies, BUNDLED_PACKAGES);
  process.stdout.write(`${JSON.stringify(selected, null, 2)}\n`);
}

printSbom().catch((error: unknown) => {
  console.error(error);
  process.exitCode = 1;
});
