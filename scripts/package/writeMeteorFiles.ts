/**
 * What Meteor's classic bundler and TypeScript's `node10` resolution read instead of `exports`: a folder for each
 * subpath, whose `package.json` names a CommonJS file.
 *
 * The bundler leaves files of npm packages to Node's `require` on the server, but compiles ES modules itself. So the
 * server's files end in `.cjs` and require the ES module, which then exists once per process. A browser has no
 * `require` that could, so the client's files contain everything.
 */
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { build } from 'esbuild';
import { ENTRIES } from './entries';

/** Entries that run in browsers, in a Meteor app. */
const CLIENT_ENTRIES: readonly string[] = ['react', 'meteor-client'];

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
    const code = CLIENT_ENTRIES.includes(name)
      ? await bundleAsCommonJS(join(folder, module))
      : `module.exports = require('${module}');\n`;
    await writeFile(join(folder, 'index.cjs'), code);
  }
}

/** Bundles an ES module for a bundler that parses none; React is the app's. */
async function bundleAsCommonJS(module: string): Promise<string> {
  const {
    outputFiles: [bundle],
  } = await build({
    entryPoints: [module],
    bundle: true,
    write: false,
    minify: true,
    format: 'cjs',
    platform: 'browser',
    // The same browsers as in `bundleDashboard`.
    target: ['es2022', 'chrome110', 'firefox115', 'safari16.4'],
    external: ['react', 'react-dom'],
    legalComments: 'none',
    logLevel: 'error',
  });
  if (bundle === undefined) throw new Error(`esbuild wrote nothing for ${module}.`);
  return bundle.text;
}
