/** Reads the OAuth settings that an admin enters, and completes them for the authorization servers known here. */
import {
  invalid,
  line,
  listOf,
  oneOf,
  optional,
  optionalValue,
  readObject,
  required,
  webUrl,
} from '../../../ai/domain/util/arguments';
import type { HttpRule } from '../../../ai/domain/util/arguments';
import type { JsonObject } from '../../../ai/domain/types/VendorTypes';
import { CLIENT_AUTHENTICATIONS, DISCOVERY_METHODS } from '../../domain/types/OAuthSettings';
import type { OAuthSettings } from '../../domain/types/OAuthSettings';
import { KNOWN_SERVERS } from '../../domain/knownServers';
import type { KnownServerName, KnownServer } from '../../domain/knownServers';
import { MAX_LIST_LENGTH, MAX_TEXT_LENGTH, MAX_URL_LENGTH } from '../argumentLimits';

export const OAUTH_FIELDS = [
  'server',
  'tenant',
  'issuer',
  'discovery',
  'authorizationEndpoint',
  'tokenEndpoint',
  'revocationEndpoint',
  'clientId',
  'clientSecret',
  'clientAuthentication',
  'scopes',
  'resources',
  'authorizationParameters',
] as const;

const SERVER_NAMES = Object.keys(KNOWN_SERVERS) as readonly KnownServerName[];

const text = line(MAX_TEXT_LENGTH);

/**
 * @param fields of `auth`: those of `OAUTH_FIELDS`
 * @throws LLMInvalidRequestError with the field's path
 */
export function readOAuthSettings(
  fields: JsonObject,
  kind: 'oauth_app' | 'oauth_user',
  allowInsecure: HttpRule,
): OAuthSettings {
  const serverName = optionalValue(fields, 'server', oneOf(SERVER_NAMES), 'auth.server') ?? 'generic';
  const server: KnownServer = KNOWN_SERVERS[serverName];
  const url = webUrl(MAX_URL_LENGTH, { allowHttp: allowInsecure });
  const { placeholders: _placeholders, appScopes, ...defaults } = server;
  const settings: OAuthSettings = {
    ...defaults,
    scopes: kind === 'oauth_app' ? (appScopes ?? defaults.scopes) : defaults.scopes,
    ...optional(fields, 'authorizationEndpoint', url, 'auth.authorizationEndpoint'),
    ...optional(fields, 'tokenEndpoint', url, 'auth.tokenEndpoint'),
    ...optional(fields, 'revocationEndpoint', url, 'auth.revocationEndpoint'),
    ...optional(fields, 'discovery', oneOf(DISCOVERY_METHODS), 'auth.discovery'),
    ...optional(fields, 'clientAuthentication', oneOf(CLIENT_AUTHENTICATIONS), 'auth.clientAuthentication'),
    ...optional(fields, 'scopes', readScopes, 'auth.scopes'),
    ...optional(fields, 'resources', listOf(MAX_LIST_LENGTH, url), 'auth.resources'),
    ...optional(fields, 'authorizationParameters', readParameters, 'auth.authorizationParameters'),
    issuer: optionalValue(fields, 'issuer', url, 'auth.issuer') ?? issuerOf(server, fields),
    clientId:
      optionalValue(fields, 'clientId', text, 'auth.clientId') ??
      defaults.clientId ??
      required(fields, 'clientId', text, 'auth.clientId'),
  };
  checkEndpoints(settings, kind);
  return settings;
}

function issuerOf(server: KnownServer, fields: JsonObject): string {
  if (server.placeholders?.includes('tenant') === true) {
    const tenant = required(fields, 'tenant', text, 'auth.tenant');
    if (!/^[A-Za-z0-9][A-Za-z0-9.-]*$/.test(tenant))
      throw invalid('auth.tenant', 'must be the id or domain of a tenant');
    if (['common', 'organizations', 'consumers'].includes(tenant))
      throw invalid(
        'auth.tenant',
        'must be a single tenant, because the tokens of multi-tenant endpoints have no issuer that can be verified',
      );
    return server.issuer.replace('{tenant}', tenant);
  }
  if (server.issuer.includes('{')) throw invalid('auth.issuer', 'is required');
  return server.issuer;
}

function checkEndpoints(
  { discovery, authorizationEndpoint, tokenEndpoint }: OAuthSettings,
  kind: 'oauth_app' | 'oauth_user',
): void {
  if (discovery !== 'none') return;
  if (tokenEndpoint === undefined) throw invalid('auth.tokenEndpoint', REQUIRED_WITHOUT_DISCOVERY);
  if (kind === 'oauth_user' && authorizationEndpoint === undefined)
    throw invalid('auth.authorizationEndpoint', REQUIRED_WITHOUT_DISCOVERY);
}

const REQUIRED_WITHOUT_DISCOVERY = 'is required if discovery is none';

/** RFC 6749, 3.3. */
function readScopes(value: unknown, path: string): readonly string[] {
  return listOf(MAX_LIST_LENGTH, (each, entryPath) => {
    const scope = text(each, entryPath);
    if (!/^[\x21\x23-\x5b\x5d-\x7e]+$/.test(scope)) throw invalid(entryPath, 'must be one scope, without spaces');
    return scope;
  })(value, path);
}

/** The protocol's security depends on these parameters, so settings can't override them. */
const RESERVED_PARAMETERS: readonly string[] = [
  'client_id',
  'client_secret',
  'redirect_uri',
  'callback_url',
  'response_type',
  'response_mode',
  'state',
  'scope',
  'nonce',
  'code_challenge',
  'code_challenge_method',
  'request',
  'request_uri',
  'resource',
];

function readParameters(value: unknown, path: string): Readonly<Record<string, string>> {
  const names = typeof value === 'object' && value !== null ? Object.keys(value) : [];
  const fields = readObject(value, names, path);
  const rejected = names.find((name) => RESERVED_PARAMETERS.includes(name) || !/^[\w.-]{1,60}$/.test(name));
  if (rejected !== undefined) throw invalid(path, `must not contain "${rejected.slice(0, 60)}"`);
  return Object.fromEntries(names.map((name) => [name, text(fields[name], `${path}.${name}`)]));
}
