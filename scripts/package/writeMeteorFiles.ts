/**
 * What Meteor's classic bundler and TypeScript's `node10` resolution read instead of `exports`: a folder for each
 * subpath, whose `package.json` names a CommonJS file.
 *
 * The bundler leaves files of npm packages to Node's `require` on the server, but compiles ES modules itself. So the
 * server's files end in `.cjs` and require the ES module, which then exists once per process. A browser has no
 * `require` that could, so the client's files are CommonJS, and so are the ones that they share.
 */
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { transform } from 'esbuild';
import { build } from 'rolldown';
import type { Plugin } from 'rolldown';
import { ENTRIES } from './entries';

/** Entries that run in browsers, in a Meteor app. */
const CLIENT_ENTRIES: readonly string[] = ['react', 'svelte', 'vue', 'element', 'meteor-client'];

/** @param directory of the package, in which the ES modules are in `dist` */
export async function writeMeteorFiles(directory: string): Promise<void> {
  for (const name of Object.keys(ENTRIES)) {
    const folder = name === 'index' ? directory : join(directory, name);
    await mkdir(folder, { recursive: true });
    if (name !== 'index') {
      const manifest = { main: './index.cjs', types: `../dist/${name}.d.ts` };
      await writeFile(join(folder, 'package.json'), `${JSON.stringify(manifest, null, 2)}\n`);
    }
    const module = name === 'index' ? './dist/index.js' : `../dist/${name}.js`;
    if (!CLIENT_ENTRIES.includes(name))
      await writeFile(join(folder, 'index.cjs'), `module.exports = require('${module}');\n`);
  }
  await writeMethodTypes(directory);
  await bundleAsCommonJS(directory);
}

/** Writes declarations without a module, which are not compiled: Meteor's types here are those of the stubs. */
async function writeMethodTypes(directory: string): Promise<void> {
  const declarations = await readFile('imports/ui/data/meteor/meteorMethods.d.ts', 'utf8');
  const packed = declarations.replace("'./createBolide'", "'./meteor-client.js'");
  await writeFile(join(directory, 'dist/meteor-methods.d.ts'), packed);
  await mkdir(join(directory, 'meteor-methods'), { recursive: true });
  const manifest = { types: '../dist/meteor-methods.d.ts' };
  await writeFile(join(directory, 'meteor-methods/package.json'), `${JSON.stringify(manifest, null, 2)}\n`);
}

/** Bundles ES modules for a bundler that parses none; the frameworks are the app's. */
async function bundleAsCommonJS(directory: string): Promise<void> {
  await build({
    input: Object.fromEntries(CLIENT_ENTRIES.map((name) => [name, join(directory, `dist/${name}.js`)])),
    external: /^(?:react|react-dom|vue)(?:\/|$)/,
    platform: 'browser',
    output: {
      dir: directory,
      format: 'cjs',
      exports: 'named',
      entryFileNames: '[name]/index.cjs',
      chunkFileNames: 'meteor-client/[name].cjs',
      // It would be part of React's file.
      codeSplitting: { groups: [{ name: 'runtime', test: /rolldown[-/]runtime/ }] },
    },
    plugins: [minifyForBrowsers()],
  });
}

/** Rolldown's own minifier writes template strings, which Meteor's bundler does not recognize as names of modules. */
function minifyForBrowsers(): Plugin {
  return {
    name: 'bolide:minify-for-browsers',
    async generateBundle(_, files) {
      for (const file of Object.values(files)) {
        if (file.type !== 'chunk') continue;
        const { code } = await transform(file.code, {
          minify: true,
          format: 'cjs',
          platform: 'browser',
          // The same browsers as in `bundleDashboard`.
          target: ['es2022', 'chrome110', 'firefox115', 'safari16.4'],
          legalComments: 'none',
        });
        file.code = code;
      }
    },
  };
}
