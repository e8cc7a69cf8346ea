/** What ships of other packages: the review in docs/dependencies.md is complete. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import ts from 'typescript';
import { BUNDLED_PACKAGES } from '../../scripts/package/inlinedPackages';
import { packageManifest } from '../../scripts/package/packageManifest';
import { INSTALLABLE_SDKS } from '../../scripts/package/preferInstalledSdks';
import { codeIn, readPage, ROOT, sectionOf, tableRowsOf } from '../support/docs/markdown';

interface Manifest {
  readonly version: string;
  readonly license?: string;
}

const readManifest = (directory: string): Manifest =>
  JSON.parse(readFileSync(join(directory, 'package.json'), 'utf8')) as Manifest;
const manifest = packageManifest();
const installed = (name: string): Manifest => readManifest(join(ROOT, 'node_modules', name));

describe('The review of dependencies', () => {
  const rows = tableRowsOf(sectionOf(readPage('docs/dependencies.md'), 'Review'))
    .filter(([names = '']) => codeIn(names).length > 0)
    .flatMap(([names = '', versions = '', licence = '', state = '']) => {
      const each = versions.split(', ');
      return codeIn(names).map((name, index) => ({ name, version: each[index], licence, state }));
    });

  it('has exactly one row for each package that ships or is an optional peer', () => {
    const shipped = [
      ...Object.keys(manifest.dependencies),
      ...BUNDLED_PACKAGES,
      ...Object.keys(manifest.peerDependencies),
    ];
    expect(rows.map(({ name }) => name).sort()).to.deep.equal([...new Set(shipped)].sort());
  });

  it('was made at the installed versions, with their licences', () => {
    for (const { name, version, licence, state } of rows) {
      const { version: current, license = 'none' } = installed(name);
      expect({ name, version, licence }).to.deep.equal({ name, version: current, licence: license });
      expect(state, name).not.to.equal('');
    }
  });

  it("says which SDKs of the app's are used, and which the package contains", () => {
    const sdks = tableRowsOf(sectionOf(readPage('docs/dependencies.md'), "The vendors' SDKs"))
      .filter(([names = '']) => codeIn(names).length > 0)
      .map(([names = '', version, instead]) => ({ name: codeIn(names)[0] ?? '', version, instead }));
    expect(sdks).to.deep.equal(
      ['openai', '@anthropic-ai/sdk', 'groq-sdk'].map((name) => {
        const { version } = installed(name);
        const isInstallable = Object.values(INSTALLABLE_SDKS).includes(name);
        return { name, version, instead: isInstallable ? `newer, of version ${version.split('.')[0]}` : 'never' };
      }),
    );
  });

  it('is right that no code of the end-of-life SDK is loaded', () => {
    const files = ts.sys.readDirectory(join(ROOT, 'imports'), ['.ts', '.tsx']);
    const importing = files.flatMap((file) =>
      [...readFileSync(file, 'utf8').matchAll(/^.*['"]@google\/generative-ai['"].*$/gm)].map(([line]) => line),
    );
    expect(importing).not.to.be.empty;
    for (const line of importing) expect(line).to.match(/^import type /);
  });
});
