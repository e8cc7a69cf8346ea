/** Bundles the dashboard from its sources, in memory. */
import { readFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { build } from 'esbuild';
import { DASHBOARD_PATH } from '../imports/startup/node/dashboardFiles';
import type { DashboardAssets } from '../imports/startup/node/dashboardFiles';

/** @throws Error if the sources don't compile */
export async function bundleDashboard(): Promise<DashboardAssets> {
  const { outputFiles } = await build({
    entryPoints: { dashboard: join(__dirname, '../imports/ui/httpDashboard.ts') },
    bundle: true,
    write: false,
    minify: true,
    format: 'esm',
    // The code of a page is a file of its own.
    splitting: true,
    chunkNames: '[name]-[hash]',
    target: ['es2022', 'chrome110', 'firefox115', 'safari16.4'],
    jsx: 'automatic',
    define: { 'process.env.NODE_ENV': '"production"' },
    loader: { '.woff2': 'file' },
    outdir: '/dashboard',
    publicPath: DASHBOARD_PATH,
    entryNames: '[name]-[hash]',
    assetNames: '[name]-[hash]',
    legalComments: 'none',
    logLevel: 'error',
  });
  const assets = new Map(outputFiles.map(({ path, contents }) => [basename(path), Buffer.from(contents)]));
  for (const name of ['favicon.ico', 'favicon.svg'])
    assets.set(name, await readFile(join(__dirname, '../public', name)));
  return assets;
}
