/** A provider on the test authorization server, and the steps that connect a user to it. */
import type { TestAuthorizationServer } from './TestAuthorizationServer';
import { CLIENT } from './TestAuthorizationServer';
import { CookieBrowser } from './CookieBrowser';
import type { Page } from './CookieBrowser';
import { ADMIN } from './ProvidersHost';
import type { ProvidersHost } from './ProvidersHost';

export const PROVIDER_ID = 'acme';

/** The argument of `create` for this provider. */
export function providerArgument(
  server: TestAuthorizationServer,
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
  server: TestAuthorizationServer,
  more?: Readonly<Record<string, unknown>>,
  auth?: Readonly<Record<string, unknown>>,
): Promise<void> {
  await app.operations['ai.providers.create'](ADMIN, providerArgument(server, more, auth));
}

/** Completes the flow as a signed-in user. The browser stops before it requests a URL that `stopAt` accepts. */
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

/** Matches the callback URL, which delivers the authorization response. */
export function atCallback(url: string): boolean {
  return new URL(url).pathname.startsWith('/oauth/callback');
}
