/** Settings of well-known authorization servers, so that admins need not enter them. */
import type { OAuthSettings } from './types/OAuthSettings';

/** All settings except the client id and secret, which differ for every app. */
export interface KnownServer extends Omit<OAuthSettings, 'clientId'> {
  readonly clientId?: string;
  /** The scopes of client credentials, if they differ. */
  readonly appScopes?: readonly string[];
  /** Names in braces in the issuer, to be replaced when a provider is created. */
  readonly placeholders?: readonly string[];
}

export const KNOWN_SERVERS = {
  /**
   * Gemini with a user's own Google account. Without `offline` and `consent`, a second connection returns no refresh
   * token.
   * https://ai.google.dev/gemini-api/docs/oauth
   * https://developers.google.com/identity/protocols/oauth2/web-server
   */
  google: {
    protocol: 'oauth2',
    issuer: 'https://accounts.google.com',
    discovery: 'oidc',
    clientAuthentication: 'client_secret_post',
    scopes: [
      'https://www.googleapis.com/auth/cloud-platform',
      'https://www.googleapis.com/auth/generative-language.retriever',
    ],
    authorizationParameters: { access_type: 'offline', prompt: 'consent' },
  },
  /**
   * Azure OpenAI with Entra ID. Requires a single tenant, because the metadata of `common` has no issuer to compare.
   * https://learn.microsoft.com/entra/identity-platform/v2-oauth2-auth-code-flow
   */
  azure: {
    protocol: 'oauth2',
    issuer: 'https://login.microsoftonline.com/{tenant}/v2.0',
    discovery: 'oidc',
    clientAuthentication: 'client_secret_post',
    scopes: ['https://cognitiveservices.azure.com/.default', 'offline_access'],
    appScopes: ['https://cognitiveservices.azure.com/.default'],
    placeholders: ['tenant'],
  },
  /** https://openrouter.ai/docs/guides/overview/auth/oauth */
  openrouter: {
    protocol: 'key_exchange',
    issuer: 'https://openrouter.ai',
    discovery: 'none',
    authorizationEndpoint: 'https://openrouter.ai/auth',
    tokenEndpoint: 'https://openrouter.ai/api/v1/auth/keys',
    clientId: 'none',
    scopes: [],
  },
  /** Any server that follows OAuth 2.1. Whoever creates the provider enters the issuer, client id and scopes. */
  generic: { protocol: 'oauth2', issuer: '{issuer}', discovery: 'auto', scopes: [], placeholders: ['issuer'] },
} as const satisfies Record<string, KnownServer>;
export type KnownServerName = keyof typeof KNOWN_SERVERS;
