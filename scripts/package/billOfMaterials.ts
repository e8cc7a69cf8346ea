/** The bill of materials of what Bolide ships, from the lock file: it needs neither a network nor an installation. */
import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { BUNDLED_PACKAGES } from './inlinedPackages';
import { packageManifest } from './packageManifest';
import { selectShippedComponents } from './selectShippedComponents';
import type { CycloneDx, PackageLock } from './selectShippedComponents';

const ROOT = join(__dirname, '../..');
/** npm describes each installed package in about a kilobyte, development dependencies included. */
const MAX_OUTPUT_BYTES = 64 * 1024 * 1024;

export async function billOfMaterials(): Promise<CycloneDx> {
  const { stdout } = await promisify(execFile)('npm', ['sbom', '--sbom-format', 'cyclonedx', '--package-lock-only'], {
    cwd: ROOT,
    maxBuffer: MAX_OUTPUT_BYTES,
  });
  const lock = JSON.parse(await readFile(join(ROOT, 'package-lock.json'), 'utf8')) as PackageLock;
  const dependencies = Object.keys(packageManifest().dependencies);
  return selectShippedComponents(JSON.parse(stdout) as CycloneDx, lock, dependencies, BUNDLED_PACKAGES);
}
