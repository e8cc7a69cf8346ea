/** The npm package's manifest, the repository's own, and what else lists the package's entries. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import ts from 'typescript';
import { ENTRIES } from '../../../scripts/package/entries';
import { packageManifest } from '../../../scripts/package/packageManifest';

const ROOT = join(__dirname, '../../..');
const read = (file: string): string => readFileSync(join(ROOT, file), 'utf8');

describe('The manifest of the npm package', () => {
  const manifest = packageManifest();
  const repository = JSON.parse(read('package.json')) as Readonly<Record<string, object>>;

  it('has an entry for every file of imports/entries', () => {
    expect(readdirSync(join(ROOT, 'imports/entries'))).to.have.members(Object.values(ENTRIES));
  });

  it('keeps the check of Node’s version in bundles, which each entry for servers has', () => {
    const checked = Object.entries(ENTRIES)
      .filter(([, file]) => read(`imports/entries/${file}`).endsWith('\nrequireNode();\n'))
      .map(([name]) => `./dist/${name}.js`);
    expect(checked).to.include.members(['./dist/core.js', './dist/node.js', './dist/meteor.js']);
    expect(manifest)
      .to.have.property('sideEffects')
      .that.has.members(['*.css', './dist/index.js', ...checked]);
  });

  it('is not the one of the Meteor app, which its bundlers would read wrongly', () => {
    // `type` makes the entries' imports a syntax error under Rspack; with `sideEffects`, it drops the entries.
    for (const field of ['type', 'sideEffects', 'exports', 'main', 'module', 'peerDependencies'])
      expect(repository, field).not.to.have.property(field);
    expect(repository).to.include({ private: true, name: manifest.name, version: manifest.version });
  });

  it('maps every entry to its source for TypeScript in this repository', () => {
    const { config } = ts.readConfigFile(join(ROOT, 'tsconfig.node.json'), (path) => ts.sys.readFile(path)) as {
      config: { compilerOptions: { paths: Readonly<Record<string, readonly string[]>> } };
    };
    for (const [name, file] of Object.entries(ENTRIES))
      expect(config.compilerOptions.paths[name === 'index' ? 'bolide' : `bolide/${name}`]).to.deep.equal([
        `./imports/entries/${file}`,
      ]);
  });

  it('has optional peers only, which are installed here for the tests', () => {
    const peers = Object.keys(manifest.peerDependencies);
    expect({ ...repository['dependencies'], ...repository['devDependencies'] }).to.include.all.keys(peers);
    expect(Object.keys(manifest.dependencies).filter((name) => peers.includes(name))).to.deep.equal([]);
  });
});
