/** Bundles the dashboard from its sources, in memory. */
import { readFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { build } from 'esbuild';
import type { BuildOptions, Metafile, Plugin } from 'esbuild';
import { DASHBOARD_PATH, MANIFEST } from '../imports/host/node/dashboardFiles';
import type { DashboardAssets, DashboardManifest } from '../imports/host/node/dashboardFiles';

const UI = join(__dirname, '../imports/ui');
const ENTRY = join(UI, 'httpDashboard.tsx');
const SIGNED_IN = join(UI, 'HttpSignedIn.tsx');

const OPTIONS = {
  bundle: true,
  write: false,
  metafile: true,
  minify: true,
  target: ['es2022', 'chrome110', 'firefox115', 'safari16.4'],
  loader: { '.woff2': 'file' },
  outdir: '/dashboard',
  publicPath: DASHBOARD_PATH,
  entryNames: '[name]-[hash]',
  chunkNames: '[name]-[hash]',
  assetNames: '[name]-[hash]',
  legalComments: 'none',
  logLevel: 'error',
} as const satisfies BuildOptions;

/** @throws Error if the sources don't compile */
export async function bundleDashboard(): Promise<DashboardAssets> {
  const scripts = await build({
    ...OPTIONS,
    entryPoints: { dashboard: ENTRY },
    format: 'esm',
    // The code of a page is a file of its own.
    splitting: true,
    plugins: [mergeSharedFiles()],
    jsx: 'automatic',
    define: { 'process.env.NODE_ENV': '"production"' },
  });
  const styles = await build({
    ...OPTIONS,
    entryPoints: { signIn: join(UI, 'httpSignInStyles.ts'), signedIn: join(UI, 'httpSignedInStyles.ts') },
  });
  // The scripts of the style sheets' entries are empty.
  const files = [...scripts.outputFiles, ...styles.outputFiles.filter(({ path }) => !path.endsWith('.js'))];
  const assets = new Map(files.map(({ path, contents }) => [basename(path), Buffer.from(contents)]));
  for (const name of ['favicon.ico', 'favicon.svg'])
    assets.set(name, await readFile(join(__dirname, '../public', name)));
  const manifest = manifestOf(scripts.metafile, [...assets.keys()]);
  return assets.set(MANIFEST, Buffer.from(JSON.stringify(manifest)));
}

function manifestOf({ outputs }: Metafile, names: readonly string[]): DashboardManifest {
  const named = (pattern: RegExp): string => {
    const name = names.find((each) => pattern.test(each));
    if (name === undefined) throw new Error(`No file of the dashboard has a name like ${pattern.source}.`);
    return name;
  };
  /** The files that a script imports, and those that they import. */
  const importsOf = (script: string): readonly string[] =>
    Object.entries(outputs)
      .filter(([path]) => basename(path) === script)
      .flatMap(([, { imports }]) => imports.filter(({ kind }) => kind === 'import-statement'))
      .flatMap(({ path }) => [basename(path), ...importsOf(basename(path))]);
  const script = named(/^dashboard-.*\.js$/);
  const signedIn = named(/^HttpSignedIn-.*\.js$/);
  const before = new Set(importsOf(script));
  return {
    script,
    signIn: [named(/^signIn-.*\.css$/), ...before],
    signedIn: [
      named(/^signedIn-.*\.css$/),
      signedIn,
      ...new Set(importsOf(signedIn).filter((name) => !before.has(name))),
      named(/^inter-latin-wght-.*\.woff2$/),
    ],
  };
}

/**
 * Lets the files that are imported when they are needed import what is loaded before them. esbuild writes a file for
 * each set of importers that modules have in common: what every page has is one file then, instead of dozens.
 */
function mergeSharedFiles(): Plugin {
  return {
    name: 'bolide:merge-shared-files',
    setup(bundle) {
      bundle.onResolve({ filter: /^\./ }, async ({ kind, path, resolveDir }) =>
        kind === 'dynamic-import'
          ? {
              path: (await bundle.resolve(path, { kind: 'import-statement', resolveDir })).path,
              namespace: 'when-needed',
            }
          : undefined,
      );
      bundle.onLoad({ filter: /.*/, namespace: 'when-needed' }, ({ path }) => ({
        contents: [
          `import ${JSON.stringify(ENTRY)};`,
          ...(path === SIGNED_IN ? [] : [`import ${JSON.stringify(SIGNED_IN)};`]),
          `export * from ${JSON.stringify(path)};`,
        ].join('\n'),
        resolveDir: UI,
      }));
    },
  };
}
