/** `npm run sbom` lists what ships of other packages. */
import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect } from 'chai';
import ts from 'typescript';
import { BUNDLED_PACKAGES } from '../../scripts/package/inlinedPackages';
import { packageManifest } from '../../scripts/package/packageManifest';
import { BUNDLED_PROPERTY, selectShippedComponents } from '../../scripts/package/selectShippedComponents';
import type { CycloneDx } from '../../scripts/package/selectShippedComponents';
import { ROOT } from '../support/docs/markdown';

interface Manifest {
  readonly name: string;
  readonly version: string;
  readonly dependencies?: Readonly<Record<string, string>>;
}

const readManifest = (directory: string): Manifest =>
  JSON.parse(readFileSync(join(directory, 'package.json'), 'utf8')) as Manifest;
const manifest = packageManifest();
const installed = (name: string): Manifest => readManifest(join(ROOT, 'node_modules', name));

/** Where Node finds a package from a folder. */
function directoryOf(name: string, from: string): string {
  for (let directory = from; directory.length >= ROOT.length; directory = join(directory, '..')) {
    const candidate = join(directory, 'node_modules', name);
    if (ts.sys.fileExists(join(candidate, 'package.json'))) return candidate;
  }
  throw new Error(`${name} is not installed for ${from}.`);
}

/** What an app installs with Bolide, by walking the installed packages: `name@version`. */
function installedWithBolide(): ReadonlySet<string> {
  const seen = new Map<string, string>();
  const visit = (name: string, from: string): void => {
    const directory = directoryOf(name, from);
    if (seen.has(directory)) return;
    const { version, dependencies = {} } = readManifest(directory);
    seen.set(directory, `${name}@${version}`);
    for (const each of Object.keys(dependencies)) visit(each, directory);
  };
  for (const name of Object.keys(manifest.dependencies)) visit(name, ROOT);
  return new Set(seen.values());
}

describe('The bill of materials', () => {
  let sbom: CycloneDx;
  before(async () => {
    // A registry that nobody answers for: the command needs no network.
    const env = { ...process.env, npm_config_registry: 'http://127.0.0.1:1' };
    const options = { cwd: ROOT, env, maxBuffer: 16 * 1024 * 1024 };
    sbom = JSON.parse((await promisify(execFile)('npm', ['run', '--silent', 'sbom'], options)).stdout) as CycloneDx;
  });

  const refsOf = (isBundled: boolean): readonly string[] =>
    sbom.components
      .filter(({ properties = [] }) => properties.some(({ name }) => name === BUNDLED_PROPERTY) === isBundled)
      .map((each) => each['bom-ref']);

  it('lists exactly what an app installs with Bolide, and what the files contain', () => {
    const bundled = BUNDLED_PACKAGES.map((name) => `${name}@${installed(name).version}`);
    expect(refsOf(true)).to.have.members(bundled);
    expect(refsOf(false)).to.have.members([...installedWithBolide()].filter((ref) => !bundled.includes(ref)));
  });

  it('is a CycloneDX document about Bolide whose references resolve', () => {
    expect(sbom).to.include({ bomFormat: 'CycloneDX' });
    expect(sbom.metadata.component).to.include({ name: manifest.name, version: manifest.version });
    const known = new Set([sbom.metadata.component, ...sbom.components].map((each) => each['bom-ref']));
    for (const { ref, dependsOn } of sbom.dependencies) expect([...known]).to.include.members([ref, ...dependsOn]);
  });

  it('names a package that it should list and that is not installed', () => {
    const lock = { name: 'app', packages: { '': {} } };
    expect(() => selectShippedComponents(sbom, lock, [], ['absent'])).to.throw(
      'The package absent is not in package-lock.json, so it cannot be listed. Run: npm install.',
    );
  });
});
