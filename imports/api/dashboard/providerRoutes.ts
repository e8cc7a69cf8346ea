/** `/providers`: which there are for the caller, and the few things that are done about them from the dashboard. */
import type { PublicProvider } from '../../business/providers/domain/entities/PublicProvider';
import type { Caller } from '../../business/providers/domain/types/Caller';
import { mayDo } from '../auth/Actor';
import type { Actor } from '../auth/Actor';
import type { Exchange, ExchangeHandler } from '../http/Exchange';

/** `ai.providers.*`, as far as the dashboard goes. */
export interface ProviderActions {
  list(caller: Caller): Promise<readonly PublicProvider[]>;
  /** The URL to open. */
  connect(caller: Caller, argument: unknown): Promise<string>;
  disconnect(caller: Caller, argument: unknown): Promise<PublicProvider>;
  test(caller: Caller, argument: unknown): Promise<PublicProvider>;
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

/** `{ provider }` as it is now. */
export function disconnectProvider({ providers }: ProviderRoutePorts): ExchangeHandler {
  return async (exchange) => {
    exchange.response.json({ provider: await providers.disconnect(callerOf(exchange.actor), named(exchange)) });
  };
}

/** `{ provider }`, or why its vendor does not answer. */
export function testProvider({ providers }: ProviderRoutePorts): ExchangeHandler {
  return async (exchange) => {
    exchange.response.json({ provider: await providers.test(callerOf(exchange.actor), named(exchange)) });
  };
}

/** API tokens carry no roles of an app. */
function callerOf(actor: Actor): Caller {
  return { userId: actor.userId, isAdmin: mayDo(actor, 'admin'), roles: [] };
}

function named({ request }: Exchange): { readonly providerId: string } {
  // The routes that ask this have the parameter.
  return { providerId: String(request.params['id']) };
}
