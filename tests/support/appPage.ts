/** A page of an application of its own, on the server's origin and with the dashboard's session. */
import { join } from 'node:path';
import { build } from 'esbuild';
import type { Page } from 'playwright-core';
import type { DashboardBrowser } from './DashboardBrowser';

/** @param entry a file beside this one @returns its script, with all that it imports */
export async function bundlePage(entry: string): Promise<string> {
  const { outputFiles } = await build({
    entryPoints: [join(__dirname, entry)],
    bundle: true,
    write: false,
    format: 'esm',
    jsx: 'automatic',
    logLevel: 'error',
  });
  return outputFiles[0]?.text ?? '';
}

/** Resolves once the page's `#status` is `ready`. */
export async function openPage(app: DashboardBrowser, script: string, query: string): Promise<Page> {
  const { page } = await app.openSignedIn();
  await page.route('**/app.html*', (route) =>
    route.fulfill({ contentType: 'text/html', body: '<!doctype html><script type="module" src="/app.js"></script>' }),
  );
  await page.route('**/app.js', (route) => route.fulfill({ contentType: 'text/javascript', body: script }));
  await page.goto(`${app.server.url}/app.html?${query}`);
  await page.waitForSelector('#status:text("ready")');
  return page;
}
