/** The npm package's manifest and what else lists its entries. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import ts from 'typescript';
import { ENTRIES } from '../../../scripts/package/entries';

const ROOT = join(__dirname, '../../..');
const read = (file: string): string => readFileSync(join(ROOT, file), 'utf8');
const SUBPATHS = Object.keys(ENTRIES).filter((name) => name !== 'index');

describe('The manifest of the npm package', () => {
  const manifest = JSON.parse(read('package.json')) as {
    readonly exports: Readonly<Record<string, unknown>>;
    readonly files: readonly string[];
    readonly dependencies: Readonly<Record<string, string>>;
    readonly devDependencies: Readonly<Record<string, string>>;
    readonly peerDependencies: Readonly<Record<string, string>>;
    readonly peerDependenciesMeta: Readonly<Record<string, { readonly optional: boolean }>>;
  };

  it('exports every entry in both formats, each with its own declarations', () => {
    const { './package.json': _manifest, './react/styles.css': _styles, ...entries } = manifest.exports;
    expect(entries).to.deep.equal(
      Object.fromEntries(
        Object.keys(ENTRIES).map((name) => [
          name === 'index' ? '.' : `./${name}`,
          {
            import: { types: `./dist/${name}.d.mts`, default: `./dist/${name}.mjs` },
            require: { types: `./dist/${name}.d.cts`, default: `./dist/${name}.cjs` },
          },
        ]),
      ),
    );
  });

  it('has an entry for every file of imports/entries', () => {
    expect(readdirSync(join(ROOT, 'imports/entries'))).to.have.members(Object.values(ENTRIES));
  });

  it('packs the folder of every entry, which git, Meteor and Prettier ignore', () => {
    expect(manifest.files).to.include.members(SUBPATHS);
    for (const file of ['.gitignore', '.meteorignore', '.prettierignore']) {
      const ignored = read(file)
        .split('\n')
        .map((line) => line.replace(/^\/|\/$/g, ''));
      expect(ignored, file).to.include.members(['dist', ...SUBPATHS]);
    }
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
    const { peerDependencies, peerDependenciesMeta, devDependencies, dependencies } = manifest;
    const peers = Object.keys(peerDependencies);
    expect(Object.entries(peerDependenciesMeta).filter(([, { optional }]) => optional)).to.have.length(peers.length);
    expect(devDependencies).to.include.all.keys(peers);
    expect(Object.keys(dependencies).filter((name) => peers.includes(name))).to.deep.equal([]);
  });
});
