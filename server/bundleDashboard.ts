/** Bundles the dashboard in memory when the server starts, so that there is no separate build step. */
import { readFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { build } from 'esbuild';
import type { DashboardFiles } from '../imports/api/dashboard/dashboardPages';

const FILES = '/dashboard/';

/**
 * @param simulationNotice shown on every page if responses are simulated
 * @throws Error if the sources don't compile
 */
export async function bundleDashboard(simulationNotice?: string): Promise<DashboardFiles> {
  const { outputFiles } = await build({
    entryPoints: { dashboard: join(__dirname, '../imports/ui/httpDashboard.ts') },
    bundle: true,
    write: false,
    minify: true,
    format: 'esm',
    target: ['es2022', 'chrome110', 'firefox115', 'safari16.4'],
    jsx: 'automatic',
    define: { 'process.env.NODE_ENV': '"production"' },
    loader: { '.woff2': 'file' },
    outdir: '/dashboard',
    publicPath: FILES,
    entryNames: '[name]-[hash]',
    assetNames: '[name]-[hash]',
    legalComments: 'none',
    logLevel: 'error',
  });
  const files = new Map(
    outputFiles.map(({ path, contents }) => {
      const name = basename(path);
      return [
        FILES + name,
        {
          contentType: typeOf(name),
          body: Buffer.from(contents),
        },
      ];
    }),
  );
  const page = pageOf([...files.keys()], simulationNotice);
  for (const name of ['favicon.ico', 'favicon.svg'])
    files.set(`/${name}`, { contentType: typeOf(name), body: await readFile(join(__dirname, '../public', name)) });
  return { page, files };
}

const TYPES: Readonly<Record<string, string>> = {
  js: 'text/javascript; charset=utf-8',
  css: 'text/css; charset=utf-8',
  woff2: 'font/woff2',
  ico: 'image/x-icon',
  svg: 'image/svg+xml',
};

function typeOf(name: string): string {
  return TYPES[name.slice(name.lastIndexOf('.') + 1)] ?? 'application/octet-stream';
}

/** Without inline scripts and styles, so that it works under a strict Content-Security-Policy. */
function pageOf(paths: readonly string[], simulationNotice = ''): string {
  const script = paths.find((path) => path.endsWith('.js')) ?? '';
  const styles = paths.find((path) => path.endsWith('.css')) ?? '';
  return `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <meta name="color-scheme" content="light dark">
    <title>Bolide</title>
    <link rel="icon" href="/favicon.ico" sizes="48x48">
    <link rel="icon" href="/favicon.svg" sizes="any" type="image/svg+xml">
    <link rel="stylesheet" href="${styles}">
    <script type="module" src="${script}"></script>
  </head>
  <body>
    <div id="app" data-simulated="${escapeAttribute(simulationNotice)}"></div>
    <noscript>The dashboard needs JavaScript.</noscript>
  </body>
</html>
`;
}

function escapeAttribute(text: string): string {
  return text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}
