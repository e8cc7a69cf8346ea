/** What an admin says of an authorization server, together with what is known of it already. */
import { CLIENT_AUTHENTICATIONS, DISCOVERY_METHODS } from '../../domain/types/OAuthSettings';
import type { OAuthSettings } from '../../domain/types/OAuthSettings';
import { SERVER_ROWS } from '../../domain/knownServers';
import type { ServerName, ServerRow } from '../../domain/knownServers';
import { fieldsOf, oneOf, optional, text, textList, webUrl, wrong } from '../readFields';
import type { Fields } from '../readFields';

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

/** @throws LLMInvalidRequestError with the path of what is wrong */
export function readOAuthSettings(
  fields: Fields,
  kind: 'oauth_app' | 'oauth_user',
  allowInsecure: boolean,
): OAuthSettings {
  const row: ServerRow =
    SERVER_ROWS[
      optional(fields, 'server', (value, path) => oneOf(value, path, SERVER_NAMES), 'auth.server') ?? 'generic'
    ];
  const url = (name: string): string | undefined =>
    optional(fields, name, (value, path) => webUrl(value, path, allowInsecure), `auth.${name}`);
  const given = {
    authorizationEndpoint: url('authorizationEndpoint'),
    tokenEndpoint: url('tokenEndpoint'),
    revocationEndpoint: url('revocationEndpoint'),
    discovery: optional(fields, 'discovery', (value, path) => oneOf(value, path, DISCOVERY_METHODS), 'auth.discovery'),
    clientAuthentication: optional(
      fields,
      'clientAuthentication',
      (value, path) => oneOf(value, path, CLIENT_AUTHENTICATIONS),
      'auth.clientAuthentication',
    ),
    scopes: optional(fields, 'scopes', readScopes, 'auth.scopes'),
    resources: optional(
      fields,
      'resources',
      (value, path) => textList(value, path).map((each) => webUrl(each, path, allowInsecure)),
      'auth.resources',
    ),
    authorizationParameters: optional(
      fields,
      'authorizationParameters',
      readParameters,
      'auth.authorizationParameters',
    ),
  };
  const { placeholders: _placeholders, appScopes, ...known } = row;
  const scopes = kind === 'oauth_app' ? (appScopes ?? known.scopes) : known.scopes;
  const settings: OAuthSettings = {
    ...known,
    scopes,
    ...defined(given),
    issuer: readIssuer(fields, row, url),
    clientId: optional(fields, 'clientId', text, 'auth.clientId') ?? known.clientId ?? required('auth.clientId'),
  };
  checkEndpoints(settings, kind);
  return settings;
}

const SERVER_NAMES = Object.keys(SERVER_ROWS) as readonly ServerName[];

function readIssuer(fields: Fields, row: ServerRow, url: (name: string) => string | undefined): string {
  const given = url('issuer');
  if (given !== undefined) return given;
  if (row.placeholders?.includes('tenant') === true) {
    const tenant = optional(fields, 'tenant', text, 'auth.tenant') ?? required('auth.tenant');
    if (!/^[A-Za-z0-9][A-Za-z0-9.-]*$/.test(tenant))
      throw wrong('auth.tenant', 'must be the id or the domain of one tenant');
    if (['common', 'organizations', 'consumers'].includes(tenant))
      throw wrong('auth.tenant', 'must be one tenant: tokens of the others name no issuer that can be checked');
    return row.issuer.replace('{tenant}', tenant);
  }
  return row.issuer.includes('{') ? required('auth.issuer') : row.issuer;
}

function checkEndpoints(
  { discovery, authorizationEndpoint, tokenEndpoint }: OAuthSettings,
  kind: 'oauth_app' | 'oauth_user',
): void {
  if (discovery !== 'none') return;
  if (tokenEndpoint === undefined) required('auth.tokenEndpoint');
  if (kind === 'oauth_user' && authorizationEndpoint === undefined) required('auth.authorizationEndpoint');
}

/** RFC 6749, 3.3. */
function readScopes(value: unknown, path: string): readonly string[] {
  const scopes = textList(value, path);
  const odd = scopes.findIndex((scope) => !/^[\x21\x23-\x5b\x5d-\x7e]+$/.test(scope));
  if (odd >= 0) throw wrong(`${path}[${odd}]`, 'must be one scope, without spaces');
  return scopes;
}

/** Parameters that the protocol's safety rests upon are never taken from a row. */
const RESERVED: readonly string[] = [
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
  const fields = fieldsOf(value, path, names);
  const reserved = names.find((name) => RESERVED.includes(name) || !/^[\w.-]{1,60}$/.test(name));
  if (reserved !== undefined) throw wrong(path, `must not contain '${reserved.slice(0, 60)}'`);
  return Object.fromEntries(names.map((name) => [name, text(fields[name], `${path}.${name}`)]));
}

function defined<T extends object>(fields: T): { [K in keyof T]?: Exclude<T[K], undefined> } {
  // Those that are left are defined.
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as {
    [K in keyof T]?: Exclude<T[K], undefined>;
  };
}

function required(path: string): never {
  throw wrong(path, 'is needed');
}
