/** The dashboard as a server sends it: its bundled files, and the page that loads them. */
import type { DashboardFiles } from '../../api/dashboard/dashboardPages';
import { EncodedFile } from '../../api/dashboard/EncodedFile';

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

/** The asset that says what a page loads. It is not served. */
export const MANIFEST = 'manifest.json';

/** What a page loads, by the names of assets. */
export interface DashboardManifest {
  readonly script: string;
  /** What the script imports, and its styles. */
  readonly signIn: readonly string[];
  /** What is loaded in addition after sign-in, whichever page is shown. */
  readonly signedIn: readonly string[];
}

/**
 * @param assets those that are compressed with Brotli have the extension `.br`
 * @param simulationNotice shown on every page if responses are simulated
 */
export function dashboardFiles(
  assets: DashboardAssets,
  simulationNotice?: string,
  openId?: OpenIdLink,
): DashboardFiles {
  const manifest = readManifest(assets);
  const page = (hasSession: boolean): EncodedFile =>
    new EncodedFile({
      contentType: 'text/html; charset=utf-8',
      body: Buffer.from(pageOf(manifest, hasSession, simulationNotice, openId)),
    });
  return {
    page: page(false),
    signedInPage: page(true),
    notFoundPage: notFoundPageOf(manifest),
    files: new Map([...assets].filter(([asset]) => asset !== MANIFEST).map(toFile)),
  };
}

function readManifest(assets: DashboardAssets): DashboardManifest {
  const manifest = assets.get(MANIFEST);
  if (manifest === undefined) throw new Error(`The dashboard has no ${MANIFEST}.`);
  // Boundary: `bundleDashboard` has written it.
  return JSON.parse(manifest.toString()) as DashboardManifest;
}

function toFile([asset, body]: readonly [string, Buffer]): readonly [path: string, file: EncodedFile] {
  const isCompressed = asset.endsWith('.br');
  const name = isCompressed ? asset.slice(0, -'.br'.length) : asset;
  return [
    name.startsWith('favicon.') ? `/${name}` : DASHBOARD_PATH + name,
    new EncodedFile({ contentType: typeOf(name), body, stored: isCompressed ? 'br' : 'identity' }),
  ];
}

const TYPES: Readonly<Record<string, string>> = {
  js: 'text/javascript; charset=utf-8',
  css: 'text/css; charset=utf-8',
  woff2: 'font/woff2',
  ico: 'image/x-icon',
  svg: 'image/svg+xml',
};

function typeOf(name: string): string {
  return TYPES[extensionOf(name)] ?? 'application/octet-stream';
}

function extensionOf(name: string): string {
  return name.slice(name.lastIndexOf('.') + 1);
}

/** Without inline scripts and styles, so that it works under a strict Content-Security-Policy. */
function pageOf(
  { script, signIn, signedIn }: DashboardManifest,
  hasSession: boolean,
  simulationNotice = '',
  openId?: OpenIdLink,
): string {
  const links = [...signIn.map(linkTo), ...signedIn.flatMap(hasSession ? linkTo : deferredLinkTo)];
  const session = hasSession ? ' data-session' : '';
  return documentOf(
    links,
    'Bolide',
    `    <script type="module" src="${DASHBOARD_PATH}${script}"></script>
  </head>
  <body>
    <div id="app"${session} data-simulated="${escapeAttribute(simulationNotice)}"${openIdAttributes(openId)}></div>
    <noscript>The dashboard needs JavaScript.</noscript>`,
  );
}

/** Loads the asset with the page. */
function linkTo(name: string): string {
  const url = DASHBOARD_PATH + name;
  switch (extensionOf(name)) {
    case 'css':
      return `<link rel="stylesheet" href="${url}">`;
    case 'woff2':
      return `<link rel="preload" href="${url}" as="font" type="font/woff2" crossorigin>`;
    default:
      return `<link rel="modulepreload" href="${url}">`;
  }
}

/** The page's script enables the style sheet with the sign-in; other assets are loaded by scripts and style sheets. */
function deferredLinkTo(name: string): readonly string[] {
  return extensionOf(name) === 'css'
    ? [`<link rel="stylesheet" href="${DASHBOARD_PATH}${name}" disabled data-deferred>`]
    : [];
}

function openIdAttributes(link: OpenIdLink | undefined): string {
  if (link === undefined) return '';
  const { name, url, isOnly } = link;
  const only = isOnly ? ' data-openid-only' : '';
  return ` data-openid-name="${escapeAttribute(name)}" data-openid-url="${escapeAttribute(url)}"${only}`;
}

function notFoundPageOf({ signIn }: DashboardManifest): string {
  return documentOf(
    signIn.filter((name) => extensionOf(name) === 'css').map(linkTo),
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
function documentOf(links: readonly string[], title: string, content: string): string {
  return `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <meta name="color-scheme" content="light dark">
    <title>${title}</title>
    <link rel="icon" href="/favicon.ico" sizes="48x48">
    <link rel="icon" href="/favicon.svg" sizes="any" type="image/svg+xml">
    ${links.join('\n    ')}
${content}
  </body>
</html>
`;
}

function escapeAttribute(text: string): string {
  return text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}
