import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { build } from 'esbuild';
import type { Plugin } from 'esbuild';
import { compileWithSwc } from './compileWithSwc';
import type { SwcConfiguration } from './compileWithSwc';
import { REPOSITORY } from './reachableFiles';

/** Bundles client/main.tsx: every file compiled by SWC with Meteor's options, `meteor/*` replaced by its stubs. */
export async function bundleMeteorClient(
  configuration: SwcConfiguration,
): Promise<{ readonly script: string; readonly styles: string }> {
  const { outputFiles } = await build({
    absWorkingDir: REPOSITORY,
    entryPoints: ['client/main.tsx'],
    bundle: true,
    write: false,
    format: 'iife',
    outdir: '/bundle',
    define: { 'process.env.NODE_ENV': '"development"' },
    loader: { '.woff2': 'dataurl' },
    logLevel: 'silent',
    plugins: [compileSources(configuration), replaceMeteor],
  });
  const textOf = (extension: string): string => outputFiles.find((file) => file.path.endsWith(extension))?.text ?? '';
  return { script: textOf('.js'), styles: textOf('.css') };
}

const compileSources = (configuration: SwcConfiguration): Plugin => ({
  name: 'compile-sources',
  setup(bundler) {
    bundler.onLoad({ filter: /\.tsx?$/ }, async ({ path: file }) => {
      const name = path.relative(REPOSITORY, file);
      const source = await readFile(file, 'utf8');
      return { contents: compileWithSwc(name, source, 'web.browser', configuration).swcOutput, loader: 'js' };
    });
  },
});

const replaceMeteor: Plugin = {
  name: 'replace-meteor',
  setup(bundler) {
    bundler.onResolve({ filter: /^meteor\// }, ({ path: specifier }) => ({
      path: path.join(REPOSITORY, 'tests/stubs/client', `${specifier.slice('meteor/'.length)}.ts`),
    }));
  },
};
