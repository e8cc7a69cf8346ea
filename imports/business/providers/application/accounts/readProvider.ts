/** A provider as an admin describes it: checked as a whole, with secrets apart from what may be stored in the clear. */
import { randomUUID } from 'node:crypto';
import { VENDORS, SCHEME_OF_WIRE } from '../../../ai/domain/types/VendorTypes';
import type { WireName } from '../../../ai/domain/types/VendorTypes';
import { AUTH_KINDS, isProviderId, MAX_ID_LENGTH, SYSTEM_OWNER } from '../../domain/entities/Provider';
import type { Provider, ProviderAccess, ProviderAuth, ProviderLimits } from '../../domain/entities/Provider';
import { fieldsOf, flag, oneOf, optional, secret, text, textList, webUrl, wholeNumber, wrong } from '../readFields';
import type { Fields } from '../readFields';
import { OAUTH_FIELDS, readOAuthSettings } from '../oauth/readOAuthSettings';

export interface ReadProvider {
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
  'owner',
  'access',
  'limits',
  'enabled',
] as const;

/** What `null` takes away. */
const CLEARABLE = ['wire', 'baseURL', 'deployment', 'apiVersion', 'defaultModel', 'allowedModels', 'limits'] as const;

/**
 * The id is `providerId` or `_id`; a provider without one gets one that begins like its name.
 * @param allowInsecure permits plain http in URLs @throws LLMInvalidRequestError with the path of what is wrong
 */
export function readNewProvider(argument: unknown, allowInsecure: boolean): ReadProvider {
  const { _id, ...others } = fieldsOf(argument, 'argument', [...PROVIDER_FIELDS, '_id']);
  const fields: Fields = _id === undefined ? others : { providerId: _id, ...others };
  const { auth, clientSecret } = readAuth(fields['auth'], allowInsecure);
  const read = readChanges(fields, allowInsecure);
  const name = text(fields['name'], 'name');
  const provider = {
    _id: fields['providerId'] === undefined ? idFor(name) : readProviderId(fields),
    name,
    vendor: oneOf(fields['vendor'], 'vendor', VENDORS),
    owner: SYSTEM_OWNER,
    // Nobody but admins until somebody says otherwise.
    access: { kind: 'admins' } as const,
    enabled: true,
    ...read,
    auth,
  };
  return { provider, secrets: readSecrets(fields, auth, clientSecret) };
}

/**
 * @param current the provider that is changed; fields that are not named stay, and `null` takes an optional one
 * away
 */
export function readProviderChange(argument: unknown, current: Provider, allowInsecure: boolean): ReadProvider {
  const fields = fieldsOf(argument, 'argument', PROVIDER_FIELDS);
  const read = fields['auth'] === undefined ? undefined : readAuth(fields['auth'], allowInsecure);
  const { createdAt: _createdAt, updatedAt: _updatedAt, ...kept } = current;
  const cleared = CLEARABLE.filter((name) => fields[name] === null);
  const rest = Object.fromEntries(Object.entries(kept).filter(([name]) => !cleared.some((each) => each === name)));
  const remaining = Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== null));
  const auth = read?.auth ?? current.auth;
  // Only fields that a provider may lack were taken out.
  const provider = { ...(rest as typeof kept), ...readChanges(remaining, allowInsecure), auth };
  return { provider, secrets: readSecrets(fields, auth, read?.clientSecret) };
}

export function readProviderId(fields: Fields): string {
  const { providerId } = fields;
  if (!isProviderId(providerId))
    throw wrong(
      'providerId',
      `must be 1 to ${MAX_ID_LENGTH} letters, digits, '.', '_' and '-', beginning with a letter or digit`,
    );
  return providerId;
}

/** Stands in paths and in `providerId/model`, so it reads like the name where that can be. */
function idFor(name: string): string {
  const words = name
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-+|-+$/g, '')
    .slice(0, 40);
  return `${words === '' ? 'provider' : words}-${randomUUID().slice(0, 8)}`;
}

type Changes = Partial<Omit<Provider, '_id' | 'auth' | 'createdAt' | 'updatedAt'>>;

function readChanges(fields: Fields, allowInsecure: boolean): Changes {
  const changes = {
    name: optional(fields, 'name', text),
    vendor: optional(fields, 'vendor', (value, path) => oneOf(value, path, VENDORS)),
    wire: optional(fields, 'wire', (value, path) => oneOf(value, path, WIRES)),
    baseURL: optional(fields, 'baseURL', (value, path) => webUrl(value, path, allowInsecure)),
    deployment: optional(fields, 'deployment', text),
    apiVersion: optional(fields, 'apiVersion', text),
    defaultModel: optional(fields, 'defaultModel', text),
    allowedModels: optional(fields, 'allowedModels', textList),
    owner: optional(fields, 'owner', (value, path) => text(value, path, MAX_ID_LENGTH)),
    access: optional(fields, 'access', readAccess),
    limits: optional(fields, 'limits', readLimits),
    enabled: optional(fields, 'enabled', flag),
  };
  // Those that are left are defined.
  return Object.fromEntries(Object.entries(changes).filter(([, value]) => value !== undefined));
}

const WIRES = Object.keys(SCHEME_OF_WIRE) as readonly WireName[];

function readAuth(
  value: unknown,
  allowInsecure: boolean,
): { readonly auth: ProviderAuth; readonly clientSecret?: string } {
  // A kind that needs no settings may be said as a word.
  const fields = fieldsOf(typeof value === 'string' ? { kind: value } : value, 'auth', ['kind', ...OAUTH_FIELDS]);
  const kind = oneOf(fields['kind'], 'auth.kind', AUTH_KINDS);
  if (kind === 'api_key' || kind === 'user_api_key') {
    fieldsOf(fields, 'auth', ['kind']);
    return { auth: { kind } };
  }
  const oauth = readOAuthSettings(fields, kind, allowInsecure);
  if (kind === 'oauth_app' && oauth.protocol === 'key_exchange')
    throw wrong('auth.kind', 'must be oauth_user for a server that gives keys to users');
  const clientSecret = optional(fields, 'clientSecret', secret, 'auth.clientSecret');
  return { auth: { kind, oauth }, ...(clientSecret === undefined ? {} : { clientSecret }) };
}

function readSecrets(fields: Fields, auth: ProviderAuth, clientSecret: string | undefined): ProviderSecrets {
  const apiKey = optional(fields, 'apiKey', secret);
  if (apiKey !== undefined && auth.kind !== 'api_key')
    throw wrong('apiKey', 'belongs to providers with one shared key');
  return { ...(apiKey === undefined ? {} : { apiKey }), ...(clientSecret === undefined ? {} : { clientSecret }) };
}

function readAccess(value: unknown, path: string): ProviderAccess {
  if (value === 'admins' || value === 'everyone') return { kind: value };
  // Each word of a plain list is a user's id or a role.
  if (Array.isArray(value)) {
    const names = textList(value, path);
    return { kind: 'list', users: names, roles: names };
  }
  const fields = fieldsOf(value, path, ['kind', 'users', 'roles']);
  const kind =
    optional(fields, 'kind', (word, at) => oneOf(word, at, ['admins', 'everyone', 'list'] as const), `${path}.kind`) ??
    'list';
  if (kind !== 'list') return { kind };
  return {
    kind,
    users: optional(fields, 'users', textList, `${path}.users`) ?? [],
    roles: optional(fields, 'roles', textList, `${path}.roles`) ?? [],
  };
}

/** In milliseconds. */
const MIN_WINDOW = 1_000;
const MAX_WINDOW = 366 * 24 * 3_600_000;

function readLimits(value: unknown, path: string): ProviderLimits {
  const fields = fieldsOf(value, path, ['windowMs', 'window', 'requests', 'tokens']);
  const count = (name: string): number | undefined =>
    optional(fields, name, (each, at) => wholeNumber(each, at, 0, Number.MAX_SAFE_INTEGER), `${path}.${name}`);
  const [requests, tokens] = [count('requests'), count('tokens')];
  if (requests === undefined && tokens === undefined) throw wrong(path, 'must limit requests, tokens or both');
  return {
    windowMs: wholeNumber(fields['windowMs'] ?? fields['window'], `${path}.windowMs`, MIN_WINDOW, MAX_WINDOW),
    ...(requests === undefined ? {} : { requests }),
    ...(tokens === undefined ? {} : { tokens }),
  };
}
