/** `/providers`: which there are for the caller, what users do about them, and what admins make of them. */
import { isObject } from '../../business/ai/domain/json';
import type { PublicProvider } from '../../business/providers/domain/entities/PublicProvider';
import type { Caller } from '../../business/providers/domain/types/Caller';
import { mayDo } from '../auth/ApiPrincipal';
import type { ApiPrincipal } from '../auth/ApiPrincipal';
import type { RequestContext, ExchangeHandler } from '../http/RequestContext';

/** `ai.providers.*`: who may call what, and what arguments are taken, is said there. */
export interface ProviderActions {
  list(caller: Caller): Promise<readonly PublicProvider[]>;
  /** The URL to open. */
  connect(caller: Caller, argument: unknown): Promise<string>;
  disconnect(caller: Caller, argument: unknown): Promise<PublicProvider>;
  test(caller: Caller, argument: unknown): Promise<PublicProvider>;
  create(caller: Caller, argument: unknown): Promise<PublicProvider>;
  update(caller: Caller, argument: unknown): Promise<PublicProvider>;
  remove(caller: Caller, argument: unknown): Promise<PublicProvider>;
  setApiKey(caller: Caller, argument: unknown): Promise<PublicProvider>;
  setMyApiKey(caller: Caller, argument: unknown): Promise<PublicProvider>;
  rotateKeys(caller: Caller): Promise<object>;
}

export interface ProviderRoutePorts {
  readonly providers: ProviderActions;
}

/** `{ providers }` */
export function listProviders({ providers }: ProviderRoutePorts): ExchangeHandler {
  return async ({ actor, response }) => {
    response.json({ providers: await providers.list(callerOf(actor)) });
  };
}

/** `{ url }`: where the account is connected. */
export function connectProvider({ providers }: ProviderRoutePorts): ExchangeHandler {
  return async (exchange) => {
    exchange.response.json({ url: await providers.connect(callerOf(exchange.actor), named(exchange)) });
  };
}

/** `{ provider }` as it is now; for `test`, or why its vendor does not answer. */
export function actOnProvider(
  { providers }: ProviderRoutePorts,
  action: 'disconnect' | 'remove' | 'test',
): ExchangeHandler {
  return async (exchange) => {
    exchange.response.json({ provider: await providers[action](callerOf(exchange.actor), named(exchange)) });
  };
}

/** Takes what the method of this name takes, but for the id, which is in the path. `{ provider }` as it is now. */
export function changeProvider(
  { providers }: ProviderRoutePorts,
  action: 'update' | 'setApiKey' | 'setMyApiKey',
): ExchangeHandler {
  return async (exchange) => {
    exchange.response.json({
      provider: await providers[action](callerOf(exchange.actor), { ...bodyOf(exchange), ...named(exchange) }),
    });
  };
}

/** Takes what `ai.providers.create` takes. `{ provider }` */
export function createProvider({ providers }: ProviderRoutePorts): ExchangeHandler {
  return async (exchange) => {
    exchange.response
      .status(201)
      .json({ provider: await providers.create(callerOf(exchange.actor), bodyOf(exchange)) });
  };
}

/** `{ resealed, unopened }`: numbers of rows. */
export function rotateKeys({ providers }: ProviderRoutePorts): ExchangeHandler {
  return async ({ actor, response }) => {
    response.json(await providers.rotateKeys(callerOf(actor)));
  };
}

/** API tokens carry no roles of an app. */
function callerOf(actor: ApiPrincipal): Caller {
  return { userId: actor.userId, isAdmin: mayDo(actor, 'admin'), roles: [] };
}

/** What is no object is refused where the fields are read. */
function bodyOf({ request }: RequestContext): object {
  const body: unknown = request.body;
  return isObject(body) ? body : {};
}

function named({ request }: RequestContext): { readonly providerId: string } {
  // The routes that ask this have the parameter.
  return { providerId: String(request.params['id']) };
}
