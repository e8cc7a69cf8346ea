/** Bundles the dashboard in memory when the server starts, so that there is no separate build step. */
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
          contentType: TYPES[name.slice(name.lastIndexOf('.') + 1)] ?? 'application/octet-stream',
          body: Buffer.from(contents),
        },
      ];
    }),
  );
  return { page: pageOf([...files.keys()], simulationNotice), files };
}

const TYPES: Readonly<Record<string, string>> = {
  js: 'text/javascript; charset=utf-8',
  css: 'text/css; charset=utf-8',
  woff2: 'font/woff2',
};

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
    <link rel="icon" href="data:image/svg+xml,${encodeURIComponent(ICON)}">
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

const ICON =
  '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><path fill="#f0a27c" d="M28.5 3.5 16.6 11.2a8.2 8.2 0 0 0-3.1 3.6 6.9 6.9 0 0 1 4.6 4.3 8.2 8.2 0 0 0 3.2-3.3z"/><circle cx="11" cy="21" r="6.5" fill="#b93c0b"/></svg>';

function escapeAttribute(text: string): string {
  return text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}
