/** The operations `ai.providers.*` for any transport: they take the actor and an argument, and return public views. */
import { line, optionalValue, readObject, required, secret } from '../../../ai/domain/arguments';
import { isLLMError, LLMAuthError, LLMPermissionError } from '../../../ai/domain/errors/LLMErrors';
import { safeMessage } from '../../../ai/domain/errors/safeText';
import { isObject } from '../../../ai/domain/json';
import type { Actor } from '../../../ai/domain/types/Actor';
import type { ModelInfo, ProviderHealth, ProviderModels, VendorInfo } from '../../../ai/domain/types/ProviderViews';
import type { JsonObject, VendorName } from '../../../ai/domain/types/VendorTypes';
import { isPersonal } from '../../domain/entities/Provider';
import type { ProviderDetails } from '../../domain/entities/ProviderDetails';
import type { PublicProvider } from '../../domain/entities/PublicProvider';
import type { ProviderService } from '../accounts/ProviderService';
import { readProviderId } from '../accounts/readProvider';
import { MAX_SECRET_LENGTH, MAX_TEXT_LENGTH } from '../argumentLimits';
import type { CredentialVault, RotationResult } from '../credentials/CredentialVault';
import type { OAuthFlow } from '../oauth/OAuthFlow';

export interface ProviderOperationsPorts {
  readonly service: ProviderService;
  readonly flow: OAuthFlow;
  readonly vault: CredentialVault;
  /** Makes the vendor's cheapest authenticated request. Resolves to false if the vendor rejects the credential. */
  readonly probe: (providerId: string, userId: string) => Promise<boolean>;
  readonly catalog: ProviderCatalogPort;
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

type Operation<R> = (actor: Actor, argument?: unknown) => Promise<R>;

/**
 * Every operation throws LLMAuthError for an anonymous actor, LLMInvalidRequestError for its argument and
 * LLMPermissionError for a provider or action that the actor has no access to, besides the errors noted below.
 */
export interface ProviderOperations {
  readonly list: Operation<readonly PublicProvider[]>;
  readonly create: Operation<PublicProvider>;
  readonly update: Operation<PublicProvider>;
  /** Resolves to the provider that was removed. */
  readonly remove: Operation<PublicProvider>;
  readonly setApiKey: Operation<PublicProvider>;
  readonly setMyApiKey: Operation<PublicProvider>;
  /** Resolves to the URL to open in the user's browser. */
  readonly connect: Operation<string>;
  readonly disconnect: Operation<PublicProvider>;
  /** @throws LLMAuthError if the vendor rejects the credential, other LLMErrors if it can't be reached */
  readonly test: Operation<PublicProvider>;
  readonly rotateKeys: Operation<RotationResult>;
  /** Everything but secrets, for admins. */
  readonly get: Operation<ProviderDetails>;
  /** The vendors, and what an account with each needs. */
  readonly vendors: Operation<readonly VendorInfo[]>;
  /** The models of a provider, by the credential of the actor. A vendor that does not respond is no error. */
  readonly models: Operation<ProviderModels>;
  readonly health: Operation<readonly ProviderHealth[]>;
}

/** How long a vendor may take to list its models. */
const LIST_TIMEOUT_MS = 10_000;

export function createProviderOperations({
  service,
  flow,
  vault,
  probe,
  catalog,
}: ProviderOperationsPorts): ProviderOperations {
  /** An operation of a signed-in actor on the provider `providerId`, with no fields other than `fields`. */
  const onProvider =
    <R>(
      fields: readonly string[],
      handle: (actor: Actor, providerId: string, given: JsonObject) => Promise<R>,
    ): Operation<R> =>
    async (actor, argument) => {
      assertSignedIn(actor);
      const given = readObject(argument, ['providerId', ...fields]);
      return handle(actor, readProviderId(given), given);
    };

  return {
    async list(actor, argument = {}) {
      assertSignedIn(actor);
      readObject(argument, []);
      return service.list(actor);
    },
    async create(actor, argument) {
      assertAdmin(actor);
      const { _id } = await service.create(argument);
      return service.view(actor, _id);
    },
    async update(actor, argument) {
      assertAdmin(actor);
      const providerId = readProviderId(isObject(argument) ? argument : {});
      await service.update(providerId, argument);
      return service.view(actor, providerId);
    },
    remove: onProvider([], async (actor, providerId) => {
      assertAdmin(actor);
      const view = await service.view(actor, providerId);
      await service.remove(providerId);
      return view;
    }),
    setApiKey: onProvider(['apiKey'], async (actor, providerId, given) => {
      assertAdmin(actor);
      await service.setSharedKey(providerId, readKey(given));
      return service.view(actor, providerId);
    }),
    setMyApiKey: onProvider(['apiKey'], async (actor, providerId, given) => {
      await service.setOwnKey(actor, providerId, readKey(given));
      return service.view(actor, providerId);
    }),
    connect: onProvider(['binding'], (actor, providerId, given) =>
      flow.connect(actor.userId, providerId, optionalValue(given, 'binding', line(MAX_TEXT_LENGTH))),
    ),
    disconnect: onProvider([], async (actor, providerId) => {
      await flow.disconnect(actor.userId, providerId);
      return service.view(actor, providerId);
    }),
    test: onProvider([], async (actor, providerId) => {
      const view = await service.view(actor, providerId);
      if (!view.connected)
        throw new LLMAuthError(
          `Provider "${view.name}" has no credential. Set an API key or connect an account first.`,
        );
      if (!(await probe(providerId, actor.userId)))
        throw new LLMAuthError(`The vendor of "${view.name}" rejected the credential.`);
      return view;
    }),
    async rotateKeys(actor, argument = {}) {
      assertAdmin(actor);
      readObject(argument, []);
      return vault.rotate();
    },
    get: onProvider([], async (actor, providerId) => {
      assertAdmin(actor);
      const [details, unfinishedRuns] = await Promise.all([
        service.details(actor, providerId),
        catalog.unfinishedRuns(providerId),
      ]);
      return { ...details, unfinishedRuns };
    }),
    async vendors(actor, argument = {}) {
      assertSignedIn(actor);
      readObject(argument, []);
      return Promise.resolve(catalog.vendors());
    },
    models: onProvider([], async (actor, providerId) =>
      modelsOf(catalog, await service.view(actor, providerId), actor.userId),
    ),
    async health(actor, argument = {}) {
      assertSignedIn(actor);
      readObject(argument, []);
      const [visible, health] = await Promise.all([service.list(actor), catalog.health()]);
      return visible.map((provider) => healthFor(actor, provider, health.get(provider._id)));
    },
  };
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

function assertSignedIn({ userId }: Actor): void {
  if (userId === '') throw new LLMAuthError('You must be logged in.');
}

function assertAdmin(actor: Actor): void {
  assertSignedIn(actor);
  if (actor.isAdmin !== true) throw new LLMPermissionError('Only administrators may do this.');
}

/** `null` removes the key. */
function readKey(fields: JsonObject): string | null {
  return fields['apiKey'] === null ? null : required(fields, 'apiKey', secret(MAX_SECRET_LENGTH));
}
