/** `/providers` and `/secrets`: the operations `ai.providers.*` over HTTP. */
import { isObject } from '../../business/ai/domain/json';
import type { ProviderOperations } from '../../business/providers/application/operations/ProviderOperations';
import { toActor } from '../auth/ApiPrincipal';
import type { RequestContext, RouteHandler } from '../http/RequestContext';

export interface ProviderRoutePorts {
  /** Check who may call them, and validate their arguments. */
  readonly providers: ProviderOperations;
}

/** Responds with `{ providers }`. */
export function listProviders({ providers }: ProviderRoutePorts): RouteHandler {
  return async ({ principal, response }) => {
    response.json({ providers: await providers.list(toActor(principal)) });
  };
}

/** Responds with `{ url }`: the page that connects the account. */
export function connectProvider({ providers }: ProviderRoutePorts): RouteHandler {
  return async (context) => {
    context.response.json({ url: await providers.connect(toActor(context.principal), providerIdOf(context)) });
  };
}

/** Responds with the changed `{ provider }`. `test` fails with the reason if the vendor does not respond. */
export function actOnProvider(
  { providers }: ProviderRoutePorts,
  action: 'disconnect' | 'remove' | 'test',
): RouteHandler {
  return async (context) => {
    context.response.json({ provider: await providers[action](toActor(context.principal), providerIdOf(context)) });
  };
}

/** Takes the operation's argument as the body, with the id in the path. Responds with the changed `{ provider }`. */
export function changeProvider(
  { providers }: ProviderRoutePorts,
  action: 'update' | 'setApiKey' | 'setMyApiKey',
): RouteHandler {
  return async (context) => {
    const argument = { ...bodyOf(context), ...providerIdOf(context) };
    context.response.json({ provider: await providers[action](toActor(context.principal), argument) });
  };
}

/** Takes the argument of `ai.providers.create` as the body. Responds with 201 and `{ provider }`. */
export function createProvider({ providers }: ProviderRoutePorts): RouteHandler {
  return async (context) => {
    const provider = await providers.create(toActor(context.principal), bodyOf(context));
    context.response.status(201).json({ provider });
  };
}

/** Responds with `{ resealed, unopened }`: numbers of credentials. */
export function rotateKeys({ providers }: ProviderRoutePorts): RouteHandler {
  return async ({ principal, response }) => {
    response.json(await providers.rotateKeys(toActor(principal)));
  };
}

/** A body that is not an object is rejected where its fields are read. */
function bodyOf({ request }: RequestContext): object {
  const body: unknown = request.body;
  return isObject(body) ? body : {};
}

function providerIdOf({ request }: RequestContext): { readonly providerId: string } {
  // The routes that call this have the parameter.
  return { providerId: String(request.params['id']) };
}
