/** A browser that signs in to a server at the issuer of a test. */
import type { RunningServer } from '../../../imports/host/node/startServer';
import type { Environment } from '../../../imports/host/settings/environment';
import { CookieBrowser } from '../oauth/CookieBrowser';
import type { Page } from '../oauth/CookieBrowser';
import { CLIENT_ID, CLIENT_SECRET } from './TestIssuer';
import type { TestIssuer } from './TestIssuer';

export function oidcEnvironment({ url }: Pick<TestIssuer, 'url'>, more: Environment = {}): Environment {
  return { OIDC_ISSUER: url, OIDC_CLIENT_ID: CLIENT_ID, OIDC_CLIENT_SECRET: CLIENT_SECRET, OIDC_NAME: 'Acme', ...more };
}

/** The URL with which the browser comes back from the issuer. */
export function isCallback(url: string): boolean {
  return new URL(url).pathname === '/sign-in/callback';
}

/** @returns where the browser ends: the dashboard, or a page that says why not */
export function signIn(server: Pick<RunningServer, 'url'>, browser = new CookieBrowser()): Promise<Page> {
  return browser.open(`${server.url}/sign-in`);
}

/** What `/api/session` says of the browser's session. */
export async function sessionOf(
  server: Pick<RunningServer, 'url'>,
  browser: CookieBrowser,
): Promise<{ readonly userId: string; readonly isAdmin: boolean } | undefined> {
  const { status, body } = await browser.open(`${server.url}/api/session`);
  return status === 200 ? (JSON.parse(body) as { readonly userId: string; readonly isAdmin: boolean }) : undefined;
}
