/** The state of the form for a provider, and the argument of the operation that it becomes. */
import type { VendorName } from '../../business/ai/domain/types/VendorTypes';
import type { AuthKind } from '../../business/providers/domain/entities/Provider';
import type { ProviderDetails } from '../../business/providers/domain/entities/ProviderDetails';
import type { ArgumentOf } from '../data/operations';
import { textOfTools, toolsIn } from '../format/toolList';

type ProviderFields = Readonly<Record<string, unknown>>;

/** Every value as it is in its control. */
export interface ProviderForm {
  readonly providerId: string;
  readonly name: string;
  readonly vendor: VendorName;
  readonly authKind: AuthKind;
  readonly apiKey: string;
  readonly server: string;
  readonly tenant: string;
  readonly issuer: string;
  readonly clientId: string;
  readonly clientSecret: string;
  readonly scopes: string;
  readonly baseURL: string;
  readonly deployment: string;
  readonly apiVersion: string;
  readonly wire: string;
  readonly defaultModel: string;
  readonly allowedModels: string;
  readonly sharedObjects: string;
  readonly hostedTools: string;
  readonly access: 'admins' | 'everyone' | 'list';
  readonly users: string;
  readonly roles: string;
  readonly requests: string;
  readonly tokens: string;
  readonly windowMs: string;
}

export const WINDOWS = [
  { value: '60000', label: 'per minute' },
  { value: '3600000', label: 'per hour' },
  { value: '86400000', label: 'per day' },
] as const;

export function emptyForm(vendor: VendorName): ProviderForm {
  return {
    providerId: '',
    name: '',
    vendor,
    authKind: 'api_key',
    apiKey: '',
    server: 'generic',
    tenant: '',
    issuer: '',
    clientId: '',
    clientSecret: '',
    scopes: '',
    baseURL: '',
    deployment: '',
    apiVersion: '',
    wire: '',
    defaultModel: '',
    allowedModels: '',
    sharedObjects: '',
    hostedTools: '',
    access: 'admins',
    users: '',
    roles: '',
    requests: '',
    tokens: '',
    windowMs: '3600000',
  };
}

export function formOf({ _id, name, vendor, defaultModel, allowedModels, settings }: ProviderDetails): ProviderForm {
  const { auth, access, limits } = settings;
  const oauth = 'oauth' in auth ? auth.oauth : undefined;
  return {
    ...emptyForm(vendor),
    providerId: _id,
    name,
    authKind: auth.kind,
    issuer: oauth?.issuer ?? '',
    clientId: oauth?.clientId ?? '',
    scopes: oauth?.scopes.join(' ') ?? '',
    baseURL: settings.baseURL ?? '',
    deployment: settings.deployment ?? '',
    apiVersion: settings.apiVersion ?? '',
    wire: settings.wire ?? '',
    defaultModel: defaultModel ?? '',
    allowedModels: allowedModels?.join('\n') ?? '',
    sharedObjects: settings.sharedObjects?.join('\n') ?? '',
    hostedTools: textOfTools(settings.hostedTools, '\n'),
    access: access.kind,
    ...(access.kind === 'list' ? { users: access.users.join('\n'), roles: access.roles.join('\n') } : {}),
    requests: numberText(limits?.requests),
    tokens: numberText(limits?.tokens),
    windowMs: numberText(limits?.windowMs) || '3600000',
  };
}

/** The argument of `ai.providers.create`. */
export function toCreateArgument(form: ProviderForm): ArgumentOf<'ai.providers.create'> {
  const { providerId, name, vendor } = form;
  return {
    ...textField('providerId', providerId),
    name: name.trim(),
    vendor,
    auth: authOf(form),
    ...(form.authKind === 'api_key' ? textField('apiKey', form.apiKey) : {}),
    ...Object.fromEntries(Object.entries(optionalFields(form)).filter(([, value]) => value !== null)),
    access: accessOf(form),
  };
}

/**
 * The argument of `ai.providers.update`: what has changed. OAuth settings and secrets are sent only if they were
 * entered.
 */
export function toUpdateArgument(form: ProviderForm, before: ProviderForm): ArgumentOf<'ai.providers.update'> {
  const was: ProviderFields = { name: before.name, ...optionalFields(before), access: accessOf(before) };
  const is: ProviderFields = { name: form.name.trim(), ...optionalFields(form), access: accessOf(form) };
  const changed = Object.entries(is).filter(([name, value]) => JSON.stringify(value) !== JSON.stringify(was[name]));
  const hasNewAuth =
    form.authKind !== before.authKind ||
    (isOAuth(form) &&
      (['issuer', 'clientId', 'scopes', 'tenant'] as const).some((field) => form[field] !== before[field])) ||
    form.clientSecret !== '';
  return {
    providerId: form.providerId,
    ...Object.fromEntries(changed),
    ...(hasNewAuth ? { auth: authOf(form) } : {}),
    ...(form.authKind === 'api_key' ? textField('apiKey', form.apiKey) : {}),
  };
}

export function isOAuth({ authKind }: Pick<ProviderForm, 'authKind'>): boolean {
  return authKind === 'oauth_app' || authKind === 'oauth_user';
}

/** `null` stands for an empty control, and removes the field in an update. */
function optionalFields(form: ProviderForm): ProviderFields {
  const models = lines(form.allowedModels);
  const objects = lines(form.sharedObjects);
  const limits = { ...numberField('requests', form.requests), ...numberField('tokens', form.tokens) };
  return {
    baseURL: form.baseURL.trim() || null,
    deployment: form.deployment.trim() || null,
    apiVersion: form.apiVersion.trim() || null,
    wire: form.wire || null,
    defaultModel: form.defaultModel.trim() || null,
    allowedModels: models.length === 0 ? null : models,
    sharedObjects: objects.length === 0 ? null : objects,
    hostedTools: toolsIn(form.hostedTools),
    limits: Object.keys(limits).length === 0 ? null : { windowMs: Number(form.windowMs), ...limits },
  };
}

function accessOf({ access, users, roles }: ProviderForm): unknown {
  return access === 'list' ? { users: lines(users), roles: lines(roles) } : access;
}

function authOf(form: ProviderForm): object {
  if (!isOAuth(form)) return { kind: form.authKind };
  const scopes = form.scopes.split(/\s+/).filter((scope) => scope !== '');
  return {
    kind: form.authKind,
    server: form.server,
    ...textField('tenant', form.tenant),
    ...(form.server === 'generic' ? textField('issuer', form.issuer) : {}),
    ...textField('clientId', form.clientId),
    ...textField('clientSecret', form.clientSecret),
    ...(scopes.length === 0 ? {} : { scopes }),
  };
}

function textField(name: string, value: string): object {
  return value.trim() === '' ? {} : { [name]: value.trim() };
}

/** A text that is no number is sent as it is, for the server to refuse. */
function numberField(name: string, value: string): object {
  if (value.trim() === '') return {};
  return { [name]: Number.isNaN(Number(value)) ? value : Number(value) };
}

function numberText(value: number | undefined): string {
  return value === undefined ? '' : String(value);
}

function lines(text: string): readonly string[] {
  return text
    .split(/[\n,]/)
    .map((line) => line.trim())
    .filter((line) => line !== '');
}
