/** `ai.providers.*` for any host: who asks and an argument in, the public view out. */
import { LLMAuthError, LLMPermissionError } from '../../../ai/domain/errors/LLMErrors';
import type { PublicProvider } from '../../domain/entities/PublicProvider';
import type { Caller } from '../../domain/types/Caller';
import type { CredentialVault, Rotation } from '../credentials/CredentialVault';
import type { OAuthFlow } from '../oauth/OAuthFlow';
import type { ProviderService } from '../accounts/ProviderService';
import { fieldsOf, optional, secret, text } from '../readFields';
import type { Fields } from '../readFields';
import { readProviderId } from '../accounts/readProvider';

export interface ProviderMethodsPorts {
  readonly service: ProviderService;
  readonly flow: OAuthFlow;
  readonly vault: CredentialVault;
  /** The cheapest call that the vendor answers to a good credential. False: the vendor refuses the credential. */
  readonly probe: (providerId: string, userId: string) => Promise<boolean>;
}

type Handler<R> = (caller: Caller, argument?: unknown) => Promise<R>;

/**
 * @throws from every method LLMAuthError for nobody, LLMInvalidRequestError for arguments, LLMPermissionError for
 * callers, and what is said there
 */
export interface ProviderOperations {
  readonly list: Handler<readonly PublicProvider[]>;
  readonly create: Handler<PublicProvider>;
  readonly update: Handler<PublicProvider>;
  /** What it was. */
  readonly remove: Handler<PublicProvider>;
  readonly setApiKey: Handler<PublicProvider>;
  readonly setMyApiKey: Handler<PublicProvider>;
  /** The URL to open in the caller's browser. */
  readonly connect: Handler<string>;
  readonly disconnect: Handler<PublicProvider>;
  /** @throws LLMAuthError when the vendor refuses the credential, other LLMErrors when it can't be asked */
  readonly test: Handler<PublicProvider>;
  readonly rotateKeys: Handler<Rotation>;
}

export function createProviderOperations({ service, flow, vault, probe }: ProviderMethodsPorts): ProviderOperations {
  /** The caller must be somebody; the argument names a provider, and has no other fields than these. */
  const named =
    <R>(
      fields: readonly string[],
      handle: (caller: Caller, providerId: string, given: Fields) => Promise<R>,
    ): Handler<R> =>
    async (caller, argument) => {
      signedIn(caller);
      const given = fieldsOf(argument, 'argument', ['providerId', ...fields]);
      return handle(caller, readProviderId(given), given);
    };

  return {
    async list(caller, argument = {}) {
      signedIn(caller);
      fieldsOf(argument, 'argument', []);
      return service.list(caller);
    },
    async create(caller, argument) {
      admin(caller);
      const { _id } = await service.create(argument);
      return service.view(caller, _id);
    },
    async update(caller, argument) {
      admin(caller);
      const providerId = readProviderId(isFields(argument) ? argument : {});
      await service.update(providerId, argument);
      return service.view(caller, providerId);
    },
    remove: named([], async (caller, providerId) => {
      admin(caller);
      const view = await service.view(caller, providerId);
      await service.remove(providerId);
      return view;
    }),
    setApiKey: named(['apiKey'], async (caller, providerId, given) => {
      admin(caller);
      await service.setSharedKey(providerId, keyOf(given));
      return service.view(caller, providerId);
    }),
    setMyApiKey: named(['apiKey'], async (caller, providerId, given) => {
      await service.setOwnKey(caller, providerId, keyOf(given));
      return service.view(caller, providerId);
    }),
    connect: named(['binding'], (caller, providerId, given) =>
      flow.connect(caller.userId, providerId, optional(given, 'binding', text)),
    ),
    disconnect: named([], async (caller, providerId) => {
      await flow.disconnect(caller.userId, providerId);
      return service.view(caller, providerId);
    }),
    test: named([], async (caller, providerId) => {
      const view = await service.view(caller, providerId);
      if (!view.connected)
        throw new LLMAuthError(
          `There is nothing to use '${view.name}' with: a key must be set, or an account connected.`,
        );
      if (!(await probe(providerId, caller.userId)))
        throw new LLMAuthError(`The vendor of '${view.name}' refused the credential.`);
      return view;
    }),
    async rotateKeys(caller, argument = {}) {
      admin(caller);
      fieldsOf(argument, 'argument', []);
      return vault.rotate();
    },
  };
}

function signedIn({ userId }: Caller): void {
  if (userId === '') throw new LLMAuthError('You must be logged in.');
}

function admin(caller: Caller): void {
  signedIn(caller);
  if (!caller.isAdmin) throw new LLMPermissionError('Only administrators may do this.');
}

function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null;
}

/** `null` takes a key away. */
function keyOf({ apiKey }: Fields): string | null {
  return apiKey === null ? null : secret(apiKey, 'apiKey');
}
