/** What `ai.providers.*` do: who may call them is in their definitions, who may use a provider in `decideAccess`. */
import type { AccessCheck } from '../../../ai/domain/interfaces/ILLMProvider';
import { isLLMError, LLMAuthError } from '../../../ai/domain/errors/LLMErrors';
import { safeMessage } from '../../../ai/domain/errors/safeText';
import type { Actor, UserLookup } from '../../../ai/domain/types/Actor';
import type { ModelInfo, ProviderHealth, ProviderModels, VendorInfo } from '../../../ai/domain/types/ProviderViews';
import type { JsonObject, VendorName } from '../../../ai/domain/types/VendorTypes';
import { isPersonal } from '../../domain/entities/Provider';
import type { ProviderDetails } from '../../domain/entities/ProviderDetails';
import type { PublicProvider } from '../../domain/entities/PublicProvider';
import type { ProviderService } from '../accounts/ProviderService';
import type { CredentialVault, RotationResult } from '../credentials/CredentialVault';
import type { OAuthFlow } from '../oauth/OAuthFlow';

export interface ProviderAdministrationPorts {
  readonly service: ProviderService;
  readonly flow: OAuthFlow;
  readonly vault: CredentialVault;
  /** Makes the vendor's cheapest authenticated request. Resolves to false if the vendor rejects the credential. */
  readonly probe: (providerId: string, userId: string) => Promise<AccessCheck>;
  readonly catalog: ProviderCatalogPort;
  /** The app's accounts, whose roles apply to callers over HTTP. Absent: these have none. */
  readonly accounts?: UserLookup | undefined;
  /** What else is sealed with the operator's keys, and rotated with them. */
  readonly otherSecrets?: (() => readonly ResealedSecrets[]) | undefined;
}

export interface ResealedSecrets {
  /** Seals everything with the newest key. */
  reseal(): Promise<RotationResult>;
}

export interface RecordedHealth extends Omit<ProviderHealth, 'providerId'> {
  /** Whose call failed last. */
  readonly failedUserId?: string;
}

/** What the AI module knows about vendors, models and calls. */
export interface ProviderCatalogPort {
  readonly vendors: () => readonly VendorInfo[];
  /** Models that Bolide knows of a vendor, and facts about one. */
  readonly knownModels: (vendor: VendorName) => readonly ModelInfo[];
  readonly describeModel: (vendor: VendorName, model: string) => ModelInfo;
  /** The vendor's current list, for this user's credential. @throws LLMErrors of the vendor */
  readonly listModels: (providerId: string, userId: string, signal: AbortSignal) => Promise<readonly string[]>;
  readonly health: () => Promise<ReadonlyMap<string, RecordedHealth>>;
  readonly unfinishedRuns: (providerId: string) => Promise<number>;
}

/** How long a vendor may take to list its models. */
const LIST_TIMEOUT_MS = 10_000;

/** Everything throws LLMPermissionError for a provider that the actor may not use, or that does not exist. */
export class ProviderAdministration {
  private readonly ports: ProviderAdministrationPorts;

  constructor(ports: ProviderAdministrationPorts) {
    this.ports = ports;
  }

  async list(actor: Actor): Promise<readonly PublicProvider[]> {
    return this.ports.service.list(await this.withRoles(actor));
  }

  /** @throws LLMInvalidRequestError; ConflictError if the id is taken */
  async create(actor: Actor, fields: JsonObject): Promise<PublicProvider> {
    const { _id } = await this.ports.service.create(fields);
    return this.view(actor, _id);
  }

  /** @throws LLMInvalidRequestError; ConflictError after a concurrent change */
  async update(actor: Actor, providerId: string, fields: JsonObject): Promise<PublicProvider> {
    await this.ports.service.update(providerId, fields);
    return this.view(actor, providerId);
  }

  /** @returns the provider that was removed */
  async remove(actor: Actor, providerId: string): Promise<PublicProvider> {
    const view = await this.view(actor, providerId);
    await this.ports.service.remove(providerId);
    return view;
  }

  /** @param key `null` removes it @throws LLMInvalidRequestError if the provider does not use a shared key */
  async setSharedKey(actor: Actor, providerId: string, key: string | null): Promise<PublicProvider> {
    await this.ports.service.setSharedKey(providerId, key);
    return this.view(actor, providerId);
  }

  /** @param key `null` removes it @throws LLMInvalidRequestError if the provider does not use keys of users */
  async setOwnKey(actor: Actor, providerId: string, key: string | null): Promise<PublicProvider> {
    await this.ports.service.setOwnKey(await this.withRoles(actor), providerId, key);
    return this.view(actor, providerId);
  }

  /**
   * @param binding what a client that manages the cookie of the flow has put there: see the README of this module
   * @returns the URL to open in the user's browser
   */
  connect({ userId }: Actor, providerId: string, binding?: string): Promise<string> {
    return this.ports.flow.connect(userId, providerId, binding);
  }

  async disconnect(actor: Actor, providerId: string): Promise<PublicProvider> {
    await this.ports.flow.disconnect(actor.userId, providerId);
    return this.view(actor, providerId);
  }

  /** @throws LLMAuthError if the vendor rejects the credential, other LLMErrors if it can't be reached */
  async test(actor: Actor, providerId: string): Promise<PublicProvider> {
    const view = await this.view(actor, providerId);
    if (!view.connected)
      throw new LLMAuthError(`Provider "${view.name}" has no credential. Set an API key or connect an account first.`);
    if (!(await this.ports.probe(providerId, actor.userId)).valid)
      throw new LLMAuthError(`The vendor of "${view.name}" rejected the credential.`);
    return view;
  }

  async rotateKeys(): Promise<RotationResult> {
    const { vault, otherSecrets = () => [] } = this.ports;
    let { resealed, unopened } = await vault.rotate();
    for (const other of otherSecrets()) {
      const result = await other.reseal();
      resealed += result.resealed;
      unopened += result.unopened;
    }
    return { resealed, unopened };
  }

  /** Returns everything but secrets, for admins. */
  async details(actor: Actor, providerId: string): Promise<ProviderDetails> {
    const { service, catalog } = this.ports;
    const [details, unfinishedRuns] = await Promise.all([
      service.details(actor, providerId),
      catalog.unfinishedRuns(providerId),
    ]);
    return { ...details, unfinishedRuns };
  }

  vendors(): readonly VendorInfo[] {
    return this.ports.catalog.vendors();
  }

  /** Lists the models by the credential of the actor. A vendor that does not respond is no error. */
  async models(actor: Actor, providerId: string): Promise<ProviderModels> {
    return modelsOf(this.ports.catalog, await this.view(actor, providerId), actor.userId);
  }

  async health(actor: Actor): Promise<readonly ProviderHealth[]> {
    const [visible, health] = await Promise.all([this.list(actor), this.ports.catalog.health()]);
    return visible.map((provider) => healthFor(actor, provider, health.get(provider._id)));
  }

  private async view(actor: Actor, providerId: string): Promise<PublicProvider> {
    return this.ports.service.view(await this.withRoles(actor), providerId);
  }

  /** API tokens carry no roles. They state what their user may do at most, so being an admin depends on them alone. */
  private async withRoles(actor: Actor): Promise<Actor> {
    if (actor.source !== 'http' || actor.roles !== undefined) return actor;
    const roles = (await this.ports.accounts?.(actor.userId))?.roles;
    return roles === undefined ? actor : { ...actor, roles };
  }
}

async function modelsOf(
  catalog: ProviderCatalogPort,
  { _id, vendor, allowedModels, connected, enabled }: PublicProvider,
  userId: string,
): Promise<ProviderModels> {
  const describe = (model: string): ModelInfo => catalog.describeModel(vendor, model);
  if (allowedModels !== undefined) return { models: allowedModels.map(describe), source: 'settings' };
  const known = catalog.knownModels(vendor);
  if (!connected || !enabled) return { models: known, source: 'table' };
  try {
    const listed = await catalog.listModels(_id, userId, AbortSignal.timeout(LIST_TIMEOUT_MS));
    if (listed.length > 0) return { models: listed.map(describe), source: 'vendor' };
    return { models: known, source: 'table' };
  } catch (error) {
    const problem = isLLMError(error) ? safeMessage(error.message) : 'The vendor did not list its models in time.';
    return { models: known, source: 'table', problem };
  }
}

function healthFor(
  actor: Actor,
  { _id: providerId, auth }: PublicProvider,
  shared: RecordedHealth = { circuit: 'closed' },
): ProviderHealth {
  const { failedUserId, lastError, ...health } = shared;
  // A user's rejected key says nothing about the provider of the others.
  const isOthers =
    lastError !== undefined &&
    failedUserId !== actor.userId &&
    isPersonal(auth) &&
    ['auth-failed', 'permission-denied', 'quota-exceeded'].includes(lastError.code);
  if (lastError === undefined || isOthers) return { providerId, ...health };
  const { message, ...error } = lastError;
  const isShown = actor.isAdmin === true || failedUserId === actor.userId;
  return {
    providerId,
    ...health,
    lastError: isShown && message !== undefined ? { ...error, message } : error,
  };
}
