/** A provider on the tests' authorization server, and the steps that connect a user to it. */
import type { AuthorizationHost } from './AuthorizationHost';
import { CLIENT } from './AuthorizationHost';
import { CookieBrowser } from './CookieBrowser';
import type { Page } from './CookieBrowser';
import { ADMIN } from './ProvidersHost';
import type { ProvidersHost } from './ProvidersHost';

export const PROVIDER_ID = 'acme';

/** What an admin says of it. */
export function providerArgument(
  server: AuthorizationHost,
  more: Readonly<Record<string, unknown>> = {},
  auth: Readonly<Record<string, unknown>> = {},
): Record<string, unknown> {
  return {
    providerId: PROVIDER_ID,
    name: 'Acme',
    vendor: 'openai_compatible',
    baseURL: 'http://127.0.0.1:1/v1',
    access: 'everyone',
    auth: {
      kind: 'oauth_user',
      issuer: server.url,
      clientId: CLIENT.id,
      clientSecret: CLIENT.secret,
      scopes: ['openid', 'offline_access'],
      authorizationParameters: { prompt: 'consent' },
      ...auth,
    },
    ...more,
  };
}

export async function createProvider(
  app: ProvidersHost,
  server: AuthorizationHost,
  more?: Readonly<Record<string, unknown>>,
  auth?: Readonly<Record<string, unknown>>,
): Promise<void> {
  await app.module.operations.create(ADMIN, providerArgument(server, more, auth));
}

/** Goes the whole way as a signed-in user; `stopAt` leaves the browser before an address is asked for. */
export async function connectAs(
  app: ProvidersHost,
  userId: string,
  stopAt?: (url: string) => boolean,
  providerId = PROVIDER_ID,
): Promise<{ page: Page; browser: CookieBrowser }> {
  const browser = new CookieBrowser({ 'x-test-user': userId });
  const page = await browser.authorize(
    await browser.open(`${app.url}/oauth/${providerId}/start`, stopAt),
    `${userId}@acme`,
    stopAt,
  );
  return { page, browser };
}

/** Stops where the answer of the authorization server would be delivered. */
export function atCallback(url: string): boolean {
  return new URL(url).pathname.startsWith('/oauth/callback');
}
