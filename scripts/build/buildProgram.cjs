/** Bundles a TypeScript program with the packages that it imports. */
'use strict';

const fs = require('node:fs');
const path = require('node:path');

const ROOT = path.join(__dirname, '../..');

/** Packages that stay where they are: loaded rarely, or with files that they look for. */
const EXTERNAL = ['@agendajs/mongo-backend', 'agenda', 'esbuild', 'gpt-tokenizer', 'mongodb', 'tsx'];

/**
 * Writes `program.cjs` and its source map.
 * @param {string} entry an absolute path
 * @param {string} directory
 * @returns {Promise<readonly string[]>} the sources that it read, without those of packages
 * @throws esbuild's BuildFailure if a source doesn't compile
 */
async function buildProgram(entry, directory) {
  const { build } = require('esbuild');
  const { metafile } = await build({
    entryPoints: { program: entry },
    outdir: directory,
    outExtension: { '.js': '.cjs' },
    absWorkingDir: ROOT,
    bundle: true,
    external: EXTERNAL.flatMap((name) => [name, `${name}/*`]),
    platform: 'node',
    format: 'cjs',
    target: 'node20.19',
    tsconfig: path.join(ROOT, 'tsconfig.node.json'),
    sourcemap: 'linked',
    sourcesContent: false,
    logLevel: 'silent',
    metafile: true,
    plugins: [locateSources],
  });
  return Object.keys(metafile.inputs)
    .filter((file) => !file.includes('node_modules/'))
    .map((file) => path.join(ROOT, file));
}

/** Keeps `__dirname` and `__filename` of sources what they are without a bundle. */
const locateSources = {
  name: 'locate-sources',
  /** @param {import('esbuild').PluginBuild} bundler */
  setup(bundler) {
    // One instance with that of run.cjs.
    bundler.onResolve({ filter: /BuildCache\.cjs$/ }, ({ path: specifier, resolveDir }) => ({
      path: path.join(resolveDir, specifier),
      external: true,
    }));
    bundler.onLoad({ filter: /\.tsx?$/ }, async ({ path: file }) => {
      if (file.includes('node_modules')) return undefined;
      const code = await fs.promises.readFile(file, 'utf8');
      if (!/\b__(?:dir|file)name\b/.test(code)) return undefined;
      const location = `const __dirname = ${JSON.stringify(path.dirname(file))}, __filename = ${JSON.stringify(file)};`;
      return { contents: `${location} ${code}`, loader: file.endsWith('x') ? 'tsx' : 'ts' };
    });
  },
};

module.exports = { buildProgram };
