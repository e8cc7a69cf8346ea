/** Builds the app as Meteor's classic bundler does: by its rules of resolution, with its compilers SWC and Reify. */
import { cp, mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { build } from 'esbuild';
import type { Plugin } from 'esbuild';
import { compileWithSwc } from './compileWithSwc';
import type { SwcConfiguration } from './compileWithSwc';
import { isCompiled, reachableFiles, readSource } from './reachableFiles';
import { REPOSITORY } from './repository';
import { resolveClassically } from './resolveClassically';

const STUBS = path.join(REPOSITORY, 'tests/stubs');

/**
 * Compiles every module of the server program, each to a file of its own below `directory`.
 * @returns the absolute path of the entry
 */
export async function buildServerClassically(
  entry: string,
  directory: string,
  configuration: SwcConfiguration,
): Promise<string> {
  for (const file of reachableFiles(entry).files) {
    const target = path.join(directory, file.replace(/\.tsx?$/, '.js'));
    await mkdir(path.dirname(target), { recursive: true });
    if (!isCompiled(file)) await cp(path.join(REPOSITORY, file), target);
    else await writeFile(target, compileWithSwc(file, readSource(file), 'os', configuration).code);
  }
  return path.join(directory, entry.replace(/\.tsx?$/, '.js'));
}

/**
 * Bundles a browser's program as one script, whose `meteor/*` are the client's stubs.
 * @param entry absolute, or within the repository
 * @param modules the node_modules folder that has its packages; default: the repository's
 * @throws esbuild's BuildFailure if a package is not found
 */
export async function bundleClientClassically(
  entry: string,
  configuration: SwcConfiguration,
  modules?: string,
): Promise<{ readonly script: string; readonly styles: string }> {
  const { outputFiles } = await build({
    absWorkingDir: REPOSITORY,
    entryPoints: [entry],
    bundle: true,
    write: false,
    format: 'iife',
    outdir: '/bundle',
    define: { 'process.env.NODE_ENV': '"development"' },
    loader: { '.woff2': 'dataurl' },
    logLevel: 'silent',
    plugins: [compileSources(configuration), replaceMeteor, resolvePackages(modules)],
  });
  const textOf = (extension: string): string => outputFiles.find((file) => file.path.endsWith(extension))?.text ?? '';
  return { script: textOf('.js'), styles: textOf('.css') };
}

const compileSources = (configuration: SwcConfiguration): Plugin => ({
  name: 'compile-sources',
  setup(bundler) {
    bundler.onLoad({ filter: /\.tsx?$/ }, ({ path: file }) => {
      const name = path.relative(REPOSITORY, file);
      return { contents: compileWithSwc(name, readSource(name), 'web.browser', configuration).swcOutput, loader: 'js' };
    });
  },
});

const replaceMeteor: Plugin = {
  name: 'replace-meteor',
  setup(bundler) {
    bundler.onResolve({ filter: /^meteor\// }, ({ path: specifier }) => ({
      path: path.join(STUBS, 'client', `${specifier.slice('meteor/'.length)}.ts`),
    }));
  },
};

const resolvePackages = (modules: string | undefined): Plugin => ({
  name: 'resolve-packages',
  setup(bundler) {
    bundler.onResolve({ filter: /^[^./]/ }, ({ path: specifier, importer }) => {
      // Packages find their own dependencies, and stubs are not part of the program.
      if (importer === '' || importer.includes('node_modules') || importer.startsWith(STUBS)) return undefined;
      const found = resolveClassically(specifier, 'web.browser', modules);
      return found === undefined ? { errors: [{ text: `Cannot find module "${specifier}"` }] } : { path: found };
    });
  },
});
