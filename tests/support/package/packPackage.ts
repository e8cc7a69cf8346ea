/** Builds and packs the npm package, as `npm publish` would. */
import { execFile } from 'node:child_process';
import { mkdir, readdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { PACKAGE_DIRECTORY } from '../../../scripts/package/packageManifest';
import type { PackageManifest } from '../../../scripts/package/packageManifest';

const run = promisify(execFile);
const ROOT = join(__dirname, '../../..');

export interface PackedPackage {
  /** The unpacked package. */
  readonly directory: string;
  /** Paths within it. */
  readonly files: readonly string[];
  /** Bytes. */
  readonly packedSize: number;
  readonly unpackedSize: number;
  readonly manifest: PackageManifest;
}

/** @param parent an existing directory for the tarball and its contents */
export async function packPackage(parent: string): Promise<PackedPackage> {
  await run('npm', ['run', 'build'], { cwd: ROOT });
  const { stdout } = await run('npm', ['pack', PACKAGE_DIRECTORY, '--json', '--pack-destination', parent]);
  const [{ filename }] = JSON.parse(stdout) as [{ filename: string }];
  return unpackPackage(join(parent, filename), parent);
}

/** @param parent an existing directory for the tarball's contents */
export async function unpackPackage(tarball: string, parent: string): Promise<PackedPackage> {
  const unpacked = join(parent, 'unpacked');
  await mkdir(unpacked);
  await run('tar', ['-xzf', tarball, '-C', unpacked]);
  const directory = join(unpacked, 'package');
  const entries = await readdir(directory, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile()).map(({ parentPath, name }) => join(parentPath, name));
  const sizes = await Promise.all(files.map(async (file) => (await stat(file)).size));
  return {
    directory,
    files: files.map((file) => file.slice(directory.length + 1)).toSorted(),
    packedSize: (await stat(tarball)).size,
    unpackedSize: sizes.reduce((sum, each) => sum + each, 0),
    manifest: JSON.parse(await readFile(join(directory, 'package.json'), 'utf8')) as PackageManifest,
  };
}
