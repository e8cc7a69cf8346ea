/** The dashboard as a server sends it: its bundled files, and the page that loads them. */
import type { DashboardFiles } from '../../api/dashboard/dashboardPages';

/** Bundled files by name. Names of scripts, styles and fonts contain a hash of their contents. */
export type DashboardAssets = ReadonlyMap<string, Buffer>;

/** The path of the files below the server's root. The page and the icons are at the root itself. */
export const DASHBOARD_PATH = '/dashboard/';

/** Signing in at an OpenID provider, as the sign-in page offers it. */
export interface OpenIdLink {
  readonly name: string;
  readonly url: string;
  /** Whether this is the only way to sign in. */
  readonly isOnly: boolean;
}

/** @param simulationNotice shown on every page if responses are simulated */
export function dashboardFiles(
  assets: DashboardAssets,
  simulationNotice?: string,
  openId?: OpenIdLink,
): DashboardFiles {
  const files = new Map(
    [...assets].map(([name, body]) => [
      name.startsWith('favicon.') ? `/${name}` : DASHBOARD_PATH + name,
      { contentType: typeOf(name), body },
    ]),
  );
  const paths = [...files.keys()];
  return { page: pageOf(paths, simulationNotice, openId), notFoundPage: notFoundPageOf(paths), files };
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
function pageOf(paths: readonly string[], simulationNotice = '', openId?: OpenIdLink): string {
  // The other scripts are loaded by it.
  const script = paths.find((path) => path.startsWith(`${DASHBOARD_PATH}dashboard-`) && path.endsWith('.js')) ?? '';
  return documentOf(
    paths,
    'Bolide',
    `    <script type="module" src="${script}"></script>
  </head>
  <body>
    <div id="app" data-simulated="${escapeAttribute(simulationNotice)}"${openIdAttributes(openId)}></div>
    <noscript>The dashboard needs JavaScript.</noscript>`,
  );
}

function openIdAttributes(link: OpenIdLink | undefined): string {
  if (link === undefined) return '';
  const { name, url, isOnly } = link;
  const only = isOnly ? ' data-openid-only' : '';
  return ` data-openid-name="${escapeAttribute(name)}" data-openid-url="${escapeAttribute(url)}"${only}`;
}

function notFoundPageOf(paths: readonly string[]): string {
  return documentOf(
    paths,
    'Page not found · Bolide',
    `  </head>
  <body>
    <div class="bolide">
      <main class="centered-page">
        <div class="placeholder">
          <h1>Page not found</h1>
          <p class="placeholder-text">This address doesn’t exist on this server.</p>
          <a class="button" href="/">Go to the dashboard</a>
        </div>
      </main>
    </div>`,
  );
}

/** @param content from within the head to the end of the body */
function documentOf(paths: readonly string[], title: string, content: string): string {
  const styles = paths.find((path) => path.endsWith('.css')) ?? '';
  return `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <meta name="color-scheme" content="light dark">
    <title>${title}</title>
    <link rel="icon" href="/favicon.ico" sizes="48x48">
    <link rel="icon" href="/favicon.svg" sizes="any" type="image/svg+xml">
    <link rel="stylesheet" href="${styles}">
${content}
  </body>
</html>
`;
}

function escapeAttribute(text: string): string {
  return text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}
