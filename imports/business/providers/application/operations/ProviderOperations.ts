/** The operations `ai.providers.*` for any transport: they take the actor and an argument, and return public views. */
import { line, optionalValue, readObject, required, secret } from '../../../ai/domain/arguments';
import { LLMAuthError, LLMPermissionError } from '../../../ai/domain/errors/LLMErrors';
import { isObject } from '../../../ai/domain/json';
import type { Actor } from '../../../ai/domain/types/Actor';
import type { JsonObject } from '../../../ai/domain/types/VendorTypes';
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
}

export function createProviderOperations({ service, flow, vault, probe }: ProviderOperationsPorts): ProviderOperations {
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
