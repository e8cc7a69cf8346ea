/** `ai.providers.*`: vendor accounts, who may use them, and their credentials. */
import * as v from 'valibot';
import type { AuditRule } from '../../../../host/AuditRule';
import { defineOperation } from '../../../../host/defineOperation';
import { checkedLater, line, object, secret, time } from '../../../../host/schemas';
import { LLMAuthError, LLMInvalidRequestError } from '../../../ai/domain/errors/LLMErrors';
import { SCHEME_OF_WIRE, VENDORS } from '../../../ai/domain/types/VendorTypes';
import type { JsonObject } from '../../../ai/domain/types/VendorTypes';
import { AUTH_KINDS, isProviderId } from '../../domain/entities/Provider';
import { PROVIDER_ID_RULE } from '../accounts/readProvider';
import { MAX_SECRET_LENGTH, MAX_TEXT_LENGTH } from '../argumentLimits';
import type { ProviderAdministration } from './ProviderAdministration';

export interface ProviderServices {
  readonly providers: ProviderAdministration;
}

const providerId = v.pipe(
  v.string(PROVIDER_ID_RULE),
  v.check((id: string) => isProviderId(id), PROVIDER_ID_RULE),
);
const ofProvider = object({ providerId });
const key = v.pipe(v.nullable(secret(MAX_SECRET_LENGTH)), v.description('`null` removes the key.'));

const TEXT = { type: 'string' };
const TEXTS = { type: 'array', items: TEXT };
const COUNT = { type: 'integer', minimum: 0 };
const ACCESS = {
  anyOf: [
    { enum: ['admins', 'everyone'] },
    TEXTS,
    { type: 'object', properties: { kind: TEXT, users: TEXTS, roles: TEXTS } },
  ],
  description: 'Who may use it, besides admins and its owner. Each entry of a plain list may be a user id or a role.',
};
const AUTH = {
  anyOf: [
    { enum: AUTH_KINDS },
    { type: 'object', properties: { kind: { enum: AUTH_KINDS } }, required: ['kind'], additionalProperties: true },
  ],
  description: 'A kind alone, or with the settings of OAuth.',
};
/** Fields that `null` removes. */
const CLEARABLE = {
  wire: { enum: Object.keys(SCHEME_OF_WIRE) },
  baseURL: TEXT,
  deployment: TEXT,
  apiVersion: TEXT,
  defaultModel: TEXT,
  allowedModels: TEXTS,
  sharedObjects: TEXTS,
  hostedTools: TEXTS,
  limits: {
    type: 'object',
    properties: { windowMs: COUNT, requests: COUNT, tokens: COUNT },
    description: 'Per user, in a window of `windowMs` milliseconds: `requests`, `tokens` or both.',
  },
} as const;
const NAME = { ...TEXT, maxLength: MAX_TEXT_LENGTH };
const VENDOR = { enum: VENDORS };

const setting = (jsonSchema: JsonObject) => v.optional(checkedLater(jsonSchema));
const clearable = (jsonSchema: JsonObject) => setting({ anyOf: [jsonSchema, { type: 'null' }] });
const common = {
  apiKey: setting({ ...TEXT, description: 'Only for `api_key`, and never returned.' }),
  owner: setting({ ...TEXT, description: 'A user who may always use it. Default: `system`.' }),
  access: setting(ACCESS),
  enabled: setting({ type: 'boolean' }),
};

const named = {
  _id: v.string(),
  name: v.string(),
  vendor: v.picklist(VENDORS),
  auth: v.looseObject({ kind: v.picklist(AUTH_KINDS) }),
  defaultModel: v.optional(v.string()),
  allowedModels: v.optional(v.array(v.string())),
  connected: v.boolean(),
  needsReconnect: v.boolean(),
  reconnectReason: v.optional(v.picklist(['refused', 'expired', 'interrupted'])),
  enabled: v.boolean(),
  configured: v.optional(v.boolean()),
};
const provider = v.looseObject(named);
const details = v.looseObject({
  ...named,
  settings: v.looseObject({ owner: v.string(), access: v.looseObject({ kind: v.string() }) }),
  hasKey: v.boolean(),
  hasClientSecret: v.boolean(),
  connectedUsers: v.number(),
  unfinishedRuns: v.number(),
});
const model = v.looseObject({
  id: v.string(),
  contextWindow: v.optional(v.number()),
  maxOutputTokens: v.optional(v.number()),
  price: v.optional(v.looseObject({})),
});
const vendor = v.looseObject({
  vendor: v.picklist(VENDORS),
  label: v.string(),
  wires: v.array(v.string()),
  baseURL: v.optional(v.string()),
  requiresBaseURL: v.boolean(),
  keyIsOptional: v.boolean(),
  hasDeployments: v.boolean(),
  defaultModel: v.optional(v.string()),
  models: v.array(model),
});
const health = v.looseObject({
  providerId: v.string(),
  lastSuccessAt: v.optional(v.number()),
  lastError: v.optional(v.looseObject({ at: time, code: v.string(), message: v.optional(v.string()) })),
  circuit: v.picklist(['closed', 'open', 'probing']),
  opensAt: v.optional(v.number()),
  calls: v.optional(v.number()),
  p50: v.optional(v.number()),
});

const AUDITED = { kind: 'provider', id: 'providerId', owner: 'provider' } as const satisfies Partial<AuditRule>;
const AUDITED_FIELDS = [
  ...['name', 'vendor', 'auth', 'apiKey', 'wire', 'baseURL', 'deployment', 'apiVersion', 'defaultModel'],
  ...['allowedModels', 'owner', 'access', 'limits', 'enabled'],
] as const;

const FIELDS = 'The fields are those of [a provider](../guides/providers.md#add-a-provider)';

export const PROVIDER_OPERATIONS = [
  defineOperation({
    name: 'ai.providers.list',
    summary: 'List the providers that the caller may use',
    description: 'Admins get those that are disabled, too.',
    access: 'read',
    argument: object({}),
    result: v.array(provider),
    http: { address: 'GET /api/providers', field: 'providers' },
    reads: ['providers'],
    execute: ({ providers }: ProviderServices, { actor }) => providers.list(actor),
  }),
  defineOperation({
    name: 'ai.providers.create',
    summary: 'Create a provider',
    description: `${FIELDS}. \`_id\` may stand for \`providerId\`, and without one an id is made of the name.`,
    access: 'admin',
    argument: object({
      providerId: v.optional(providerId),
      _id: setting(TEXT),
      name: checkedLater(NAME),
      vendor: checkedLater(VENDOR),
      auth: checkedLater(AUTH),
      ...common,
      ...settingsOf(setting),
    }),
    example: { name: 'Team account', vendor: 'openai', auth: { kind: 'api_key' }, access: 'everyone' },
    result: provider,
    http: { address: 'POST /api/providers', status: 201, field: 'provider' },
    changes: ['providers'],
    audit: {
      action: 'provider.create',
      kind: 'provider',
      id: 'providerId',
      createdId: '_id',
      owner: { field: 'owner' },
      changed: AUDITED_FIELDS,
      details: ['vendor'],
    },
    execute: ({ providers }: ProviderServices, { actor, argument }) => providers.create(actor, argument),
  }),
  defineOperation({
    name: 'ai.providers.vendors',
    summary: 'What an account with each vendor needs, and its models with context and price',
    access: 'read',
    argument: object({}),
    result: v.array(vendor),
    http: { address: 'GET /api/providers/vendors', field: 'vendors' },
    reads: [],
    execute: ({ providers }: ProviderServices) => Promise.resolve(providers.vendors()),
  }),
  defineOperation({
    name: 'ai.providers.health',
    summary: 'The last success and failure of each provider, and its circuit',
    description:
      'A circuit is open for everyone, or for the one user whose calls failed. The message of an error is for admins, and for whose call failed.',
    access: 'read',
    argument: object({}),
    result: v.array(health),
    http: { address: 'GET /api/providers/health', field: 'health' },
    reads: ['providers', 'runs', 'requests'],
    execute: ({ providers }: ProviderServices, { actor }) => providers.health(actor),
  }),
  defineOperation({
    name: 'ai.providers.get',
    summary: 'Read a provider: everything but secrets',
    description:
      'Neither the key nor the client’s secret is ever returned: `hasKey` and `hasClientSecret` tell of them.',
    access: 'admin',
    argument: ofProvider,
    result: details,
    http: { address: 'GET /api/providers/:providerId', field: 'provider' },
    reads: ['providers'],
    execute: ({ providers }: ProviderServices, { actor, argument }) => providers.details(actor, argument.providerId),
  }),
  defineOperation({
    name: 'ai.providers.update',
    summary: 'Change the given fields of a provider',
    description:
      `${FIELDS}; \`null\` removes an optional one. If the change leads to another server, the secrets for the old ` +
      'one are deleted.',
    access: 'admin',
    argument: object({
      providerId,
      name: setting(NAME),
      vendor: setting(VENDOR),
      auth: setting(AUTH),
      ...common,
      ...settingsOf(clearable),
    }),
    result: provider,
    http: { address: 'POST /api/providers/:providerId', field: 'provider' },
    changes: ['providers'],
    audit: { action: 'provider.update', ...AUDITED, changed: AUDITED_FIELDS },
    execute: ({ providers }: ProviderServices, { actor, argument }) =>
      providers.update(actor, argument.providerId, argument),
  }),
  defineOperation({
    name: 'ai.providers.remove',
    summary: 'Remove a provider, with all its credentials',
    description: 'Returns the provider as it was.',
    access: 'admin',
    argument: ofProvider,
    result: provider,
    http: { address: 'DELETE /api/providers/:providerId', isPathOnly: true, field: 'provider' },
    changes: ['providers'],
    audit: { action: 'provider.remove', ...AUDITED },
    execute: ({ providers }: ProviderServices, { actor, argument }) => providers.remove(actor, argument.providerId),
  }),
  defineOperation({
    name: 'ai.providers.models',
    summary: 'List the models of a provider',
    description:
      'They are the allowed models, or the vendor’s own list, or what Bolide knows of the vendor; `problem` says why the ' +
      'vendor’s list could not be read.',
    access: 'read',
    argument: ofProvider,
    result: v.looseObject({
      models: v.array(model),
      source: v.picklist(['settings', 'vendor', 'table']),
      problem: v.optional(v.string()),
    }),
    http: 'GET /api/providers/:providerId/models',
    reads: ['providers'],
    execute: ({ providers }: ProviderServices, { actor, argument }) => providers.models(actor, argument.providerId),
  }),
  defineOperation({
    name: 'ai.providers.connect',
    summary: 'Start connecting an account by OAuth: returns the URL to open in a browser',
    description:
      '`binding` is for clients, other than those of HTTP, that manage the cookie of the flow themselves: they get the ' +
      'authorization server’s URL.',
    access: 'generate',
    argument: object({ providerId, binding: v.optional(line(MAX_TEXT_LENGTH)) }),
    result: v.string(),
    http: { address: 'POST /api/providers/:providerId/connect', isPathOnly: true, field: 'url' },
    changes: ['providers'],
    audit: 'flow',
    execute: ({ providers }: ProviderServices, { actor, argument }) =>
      providers.connect(actor, argument.providerId, argument.binding),
  }),
  defineOperation({
    name: 'ai.providers.disconnect',
    summary: 'Disconnect the caller’s account',
    access: 'generate',
    argument: ofProvider,
    result: provider,
    http: { address: 'POST /api/providers/:providerId/disconnect', field: 'provider' },
    changes: ['providers'],
    audit: { action: 'provider.disconnect', ...AUDITED },
    execute: ({ providers }: ProviderServices, { actor, argument }) => providers.disconnect(actor, argument.providerId),
  }),
  defineOperation({
    name: 'ai.providers.test',
    summary: 'Find out whether the caller can use a provider',
    description:
      'Otherwise, the error explains why. Over HTTP, a credential that the vendor rejects is 422: 401 would mean that ' +
      'the caller is not signed in.',
    access: 'generate',
    argument: ofProvider,
    result: provider,
    http: { address: 'POST /api/providers/:providerId/test', field: 'provider', toError: toUnusable },
    callsModel: true,
    // Nothing is stored, but it is news about the provider's health.
    reads: ['providers'],
    execute: ({ providers }: ProviderServices, { actor, argument }) => providers.test(actor, argument.providerId),
  }),
  defineOperation({
    name: 'ai.providers.setMyApiKey',
    summary: 'Set the caller’s own API key',
    access: 'generate',
    argument: object({ providerId, apiKey: key }),
    result: provider,
    http: { address: 'POST /api/providers/:providerId/my-api-key', field: 'provider' },
    changes: ['providers'],
    audit: { action: 'provider.set_own_key', ...AUDITED },
    execute: ({ providers }: ProviderServices, { actor, argument }) =>
      providers.setOwnKey(actor, argument.providerId, argument.apiKey),
  }),
  defineOperation({
    name: 'ai.providers.setApiKey',
    summary: 'Set the API key that all share',
    access: 'admin',
    argument: object({ providerId, apiKey: key }),
    result: provider,
    http: { address: 'POST /api/providers/:providerId/api-key', field: 'provider' },
    changes: ['providers'],
    audit: { action: 'provider.set_key', ...AUDITED },
    execute: ({ providers }: ProviderServices, { actor, argument }) =>
      providers.setSharedKey(actor, argument.providerId, argument.apiKey),
  }),
  defineOperation({
    name: 'ai.providers.rotateKeys',
    summary: 'Seal all secrets with the newest key',
    description:
      'The numbers are of secrets: `unopened` ones could not be opened, because their key is unknown or they were altered.',
    access: 'admin',
    argument: object({}),
    result: v.looseObject({ resealed: v.number(), unopened: v.number() }),
    http: 'POST /api/secrets/rotate',
    changes: [],
    audit: { action: 'credentials.rotate', kind: 'credentials' },
    execute: ({ providers }: ProviderServices) => providers.rotateKeys(),
  }),
] as const;

function settingsOf<S>(make: (jsonSchema: JsonObject) => S): { readonly [N in keyof typeof CLEARABLE]: S } {
  const fields = Object.entries(CLEARABLE).map(([name, jsonSchema]) => [name, make(jsonSchema)] as const);
  // Boundary: Object.fromEntries forgets the names.
  return Object.fromEntries(fields) as { readonly [N in keyof typeof CLEARABLE]: S };
}

class UnusableCredentialError extends LLMInvalidRequestError {
  override get httpStatus(): number {
    return 422;
  }
}

function toUnusable(error: unknown): unknown {
  return error instanceof LLMAuthError ? new UnusableCredentialError(error.message) : error;
}
