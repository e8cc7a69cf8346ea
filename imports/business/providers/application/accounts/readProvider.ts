/** Reads a provider as an admin describes it, and separates its secrets from what may be stored unencrypted. */
import { randomUUID } from 'node:crypto';
import {
  boolean,
  integer,
  invalid,
  line,
  listOf,
  oneOf,
  optional,
  optionalValue,
  readObject,
  required,
  secret,
  webUrl,
} from '../../../ai/domain/util/arguments';
import type { HttpRule } from '../../../ai/domain/util/arguments';
import { omitUndefined } from '../../../ai/domain/util/omitUndefined';
import { VENDORS, SCHEME_OF_WIRE } from '../../../ai/domain/types/VendorTypes';
import type { JsonObject, WireName } from '../../../ai/domain/types/VendorTypes';
import { AUTH_KINDS, isProviderId, MAX_ID_LENGTH, SYSTEM_OWNER } from '../../domain/entities/Provider';
import type { Provider, ProviderAccess, ProviderAuth, ProviderLimits } from '../../domain/entities/Provider';
import { OAUTH_FIELDS, readOAuthSettings } from '../oauth/readOAuthSettings';
import { MAX_LIST_LENGTH, MAX_SECRET_LENGTH, MAX_TEXT_LENGTH, MAX_URL_LENGTH } from '../argumentLimits';

export interface ParsedProvider {
  readonly provider: Omit<Provider, 'createdAt' | 'updatedAt'>;
  /** For the vault only. */
  readonly secrets: ProviderSecrets;
}

export interface ProviderSecrets {
  readonly apiKey?: string;
  readonly clientSecret?: string;
}

const PROVIDER_FIELDS = [
  'providerId',
  'name',
  'vendor',
  'auth',
  'apiKey',
  'wire',
  'baseURL',
  'deployment',
  'apiVersion',
  'defaultModel',
  'allowedModels',
  'sharedObjects',
  'hostedTools',
  'owner',
  'access',
  'limits',
  'enabled',
] as const;

/** Fields that `null` removes. */
const CLEARABLE = [
  'wire',
  'baseURL',
  'deployment',
  'apiVersion',
  'defaultModel',
  'allowedModels',
  'sharedObjects',
  'hostedTools',
  'limits',
] as const;

const WIRES = Object.keys(SCHEME_OF_WIRE) as readonly WireName[];

const text = line(MAX_TEXT_LENGTH);
const texts = listOf(MAX_LIST_LENGTH, text);
const secretText = secret(MAX_SECRET_LENGTH);

/**
 * The id is `providerId` or `_id`. Without one, an id is generated from the name.
 * @param allowInsecure which URLs may be plain http
 * @throws LLMInvalidRequestError with the field's path
 */
export function readNewProvider(argument: unknown, allowInsecure: HttpRule): ParsedProvider {
  const { _id, ...others } = readObject(argument, [...PROVIDER_FIELDS, '_id']);
  const fields: JsonObject = _id === undefined ? others : { providerId: _id, ...others };
  const { auth, clientSecret } = readAuth(fields['auth'], allowInsecure);
  const changes = readChanges(fields, allowInsecure);
  const name = required(fields, 'name', text);
  const provider = {
    _id: fields['providerId'] === undefined ? generateId(name) : readProviderId(fields),
    name,
    vendor: required(fields, 'vendor', oneOf(VENDORS)),
    owner: SYSTEM_OWNER,
    // Only admins, unless `access` grants more.
    access: { kind: 'admins' } as const,
    enabled: true,
    ...changes,
    auth,
  };
  return { provider, secrets: readSecrets(fields, auth, clientSecret) };
}

/**
 * @param current the stored provider: fields that `argument` omits stay, and `null` removes an optional one
 * @throws LLMInvalidRequestError with the field's path
 */
export function readProviderChange(argument: unknown, current: Provider, allowInsecure: HttpRule): ParsedProvider {
  const fields = readObject(argument, PROVIDER_FIELDS);
  const read = fields['auth'] === undefined ? undefined : readAuth(fields['auth'], allowInsecure);
  const { createdAt: _createdAt, updatedAt: _updatedAt, ...existing } = current;
  const cleared = CLEARABLE.filter((name) => fields[name] === null);
  const rest = Object.fromEntries(Object.entries(existing).filter(([name]) => !cleared.some((each) => each === name)));
  const remaining = Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== null));
  const auth = read?.auth ?? current.auth;
  // Only optional fields were removed.
  const provider = { ...(rest as typeof existing), ...readChanges(remaining, allowInsecure), auth };
  return { provider, secrets: readSecrets(fields, auth, read?.clientSecret) };
}

export const PROVIDER_ID_RULE = `must be 1 to ${MAX_ID_LENGTH} letters, digits, ".", "_" or "-", starting with a letter or digit`;

function readProviderId(fields: JsonObject): string {
  const { providerId } = fields;
  if (!isProviderId(providerId)) throw invalid('providerId', PROVIDER_ID_RULE);
  return providerId;
}

/** An id that resembles the name, because it appears in paths and in `providerId/model`. */
function generateId(name: string): string {
  const slug = name
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-+|-+$/g, '')
    .slice(0, 40);
  return `${slug === '' ? 'provider' : slug}-${randomUUID().slice(0, 8)}`;
}

type ProviderChanges = Partial<Omit<Provider, '_id' | 'auth' | 'createdAt' | 'updatedAt'>>;

function readChanges(fields: JsonObject, allowInsecure: HttpRule): ProviderChanges {
  return {
    ...optional(fields, 'name', text),
    ...optional(fields, 'vendor', oneOf(VENDORS)),
    ...optional(fields, 'wire', oneOf(WIRES)),
    ...optional(fields, 'baseURL', webUrl(MAX_URL_LENGTH, { allowHttp: allowInsecure })),
    ...optional(fields, 'deployment', text),
    ...optional(fields, 'apiVersion', text),
    ...optional(fields, 'defaultModel', text),
    ...optional(fields, 'allowedModels', texts),
    ...optional(fields, 'sharedObjects', texts),
    ...optional(fields, 'hostedTools', texts),
    ...optional(fields, 'owner', line(MAX_ID_LENGTH)),
    ...optional(fields, 'access', readAccess),
    ...optional(fields, 'limits', readLimits),
    ...optional(fields, 'enabled', boolean),
  };
}

function readAuth(
  value: unknown,
  allowInsecure: HttpRule,
): { readonly auth: ProviderAuth; readonly clientSecret?: string } {
  // `auth: 'api_key'` is short for `auth: { kind: 'api_key' }`.
  const fields = readObject(typeof value === 'string' ? { kind: value } : value, ['kind', ...OAUTH_FIELDS], 'auth');
  const kind = required(fields, 'kind', oneOf(AUTH_KINDS), 'auth.kind');
  if (kind === 'api_key' || kind === 'user_api_key') {
    readObject(fields, ['kind'], 'auth');
    return { auth: { kind } };
  }
  const oauth = readOAuthSettings(fields, kind, allowInsecure);
  if (kind === 'oauth_app' && oauth.protocol === 'key_exchange')
    throw invalid('auth.kind', 'must be oauth_user for a server that issues API keys to users');
  return { auth: { kind, oauth }, ...optional(fields, 'clientSecret', secretText, 'auth.clientSecret') };
}

function readSecrets(fields: JsonObject, auth: ProviderAuth, clientSecret: string | undefined): ProviderSecrets {
  const apiKey = optional(fields, 'apiKey', secretText);
  if ('apiKey' in apiKey && auth.kind !== 'api_key')
    throw invalid('apiKey', 'is allowed only for providers with one shared key (auth.kind api_key)');
  return omitUndefined({ ...apiKey, clientSecret });
}

const ACCESS_KINDS = ['admins', 'everyone', 'list'] as const;

function readAccess(value: unknown, path: string): ProviderAccess {
  if (value === 'admins' || value === 'everyone') return { kind: value };
  // Each entry of a plain list may be a user id or a role.
  if (Array.isArray(value)) {
    const names = texts(value, path);
    return { kind: 'list', users: names, roles: names };
  }
  const fields = readObject(value, ['kind', 'users', 'roles'], path);
  const kind = optionalValue(fields, 'kind', oneOf(ACCESS_KINDS), `${path}.kind`) ?? 'list';
  if (kind !== 'list') return { kind };
  return {
    kind,
    users: optionalValue(fields, 'users', texts, `${path}.users`) ?? [],
    roles: optionalValue(fields, 'roles', texts, `${path}.roles`) ?? [],
  };
}

const MIN_WINDOW_MS = 1_000;
const MAX_WINDOW_MS = 366 * 24 * 3_600_000;

function readLimits(value: unknown, path: string): ProviderLimits {
  const fields = readObject(value, ['windowMs', 'window', 'requests', 'tokens'], path);
  const count = integer(0, Number.MAX_SAFE_INTEGER);
  const limits = {
    ...optional(fields, 'requests', count, `${path}.requests`),
    ...optional(fields, 'tokens', count, `${path}.tokens`),
  };
  if (Object.keys(limits).length === 0) throw invalid(path, 'must limit requests, tokens or both');
  const windowMs = integer(MIN_WINDOW_MS, MAX_WINDOW_MS)(fields['windowMs'] ?? fields['window'], `${path}.windowMs`);
  return { windowMs, ...limits };
}
