/** `/api/providers` and `/api/secrets`: the operations `ai.providers.*` over HTTP. */
import { LLMAuthError } from '../../business/ai/domain/errors/LLMErrors';
import { isObject } from '../../business/ai/domain/json';
import type { ProviderOperations } from '../../business/providers/application/operations/ProviderOperations';
import type { Actor, UserLookup } from '../../business/ai/domain/types/Actor';
import { toActor } from '../auth/ApiPrincipal';
import type { ApiPrincipal } from '../auth/ApiPrincipal';
import { HttpError } from '../http/HttpError';
import type { RequestContext, RouteHandler } from '../http/RequestContext';

export interface ProviderRoutePorts {
  /** Check who may call them, and validate their arguments. */
  readonly providers: ProviderOperations;
  /** The app's accounts, whose roles the access rules use. */
  readonly findUser?: UserLookup;
}

/** A token states what its user may do at most, so being an admin depends on it alone. */
async function actorOf({ findUser }: ProviderRoutePorts, principal: ApiPrincipal): Promise<Actor> {
  const roles = (await findUser?.(principal.userId))?.roles;
  return { ...toActor(principal), ...(roles === undefined ? {} : { roles }) };
}

/** Responds with `{ providers }`. */
export function listProviders(ports: ProviderRoutePorts): RouteHandler {
  return async ({ principal, response }) => {
    response.json({ providers: await ports.providers.list(await actorOf(ports, principal)) });
  };
}

/** Responds with `{ provider }`, with everything but secrets. */
export function readProvider(ports: ProviderRoutePorts): RouteHandler {
  return async (context) => {
    const provider = await ports.providers.get(await actorOf(ports, context.principal), providerIdOf(context));
    context.response.json({ provider });
  };
}

/** Responds with `{ vendors }`. */
export function listVendors(ports: ProviderRoutePorts): RouteHandler {
  return async ({ principal, response }) => {
    response.json({ vendors: await ports.providers.vendors(await actorOf(ports, principal)) });
  };
}

/** Responds with `{ health }`: one entry per provider. */
export function readHealth(ports: ProviderRoutePorts): RouteHandler {
  return async ({ principal, response }) => {
    response.json({ health: await ports.providers.health(await actorOf(ports, principal)) });
  };
}

/** Responds with `{ models, source, problem? }`. */
export function listProviderModels(ports: ProviderRoutePorts): RouteHandler {
  return async (context) => {
    context.response.json(await ports.providers.models(await actorOf(ports, context.principal), providerIdOf(context)));
  };
}

/** Responds with `{ url }`: the page that connects the account. */
export function connectProvider(ports: ProviderRoutePorts): RouteHandler {
  return async (context) => {
    context.response.json({
      url: await ports.providers.connect(await actorOf(ports, context.principal), providerIdOf(context)),
    });
  };
}

/** Responds with the changed `{ provider }`. */
export function actOnProvider(ports: ProviderRoutePorts, action: 'disconnect' | 'remove' | 'test'): RouteHandler {
  return async (context) => {
    context.response.json({
      provider: await ports.providers[action](await actorOf(ports, context.principal), providerIdOf(context)),
    });
  };
}

/**
 * Responds with `{ provider }`, or fails with the reason. A credential that the vendor rejects is 422: 401 would mean
 * that the caller is not signed in.
 */
export function testProvider(ports: ProviderRoutePorts): RouteHandler {
  const test = actOnProvider(ports, 'test');
  return async (context) => {
    try {
      await test(context);
    } catch (error) {
      throw error instanceof LLMAuthError ? new HttpError(422, error.message) : error;
    }
  };
}

/** Takes the operation's argument as the body, with the id in the path. Responds with the changed `{ provider }`. */
export function changeProvider(
  ports: ProviderRoutePorts,
  action: 'update' | 'setApiKey' | 'setMyApiKey',
): RouteHandler {
  return async (context) => {
    const argument = { ...bodyOf(context), ...providerIdOf(context) };
    context.response.json({
      provider: await ports.providers[action](await actorOf(ports, context.principal), argument),
    });
  };
}

/** Takes the argument of `ai.providers.create` as the body. Responds with 201 and `{ provider }`. */
export function createProvider(ports: ProviderRoutePorts): RouteHandler {
  return async (context) => {
    const provider = await ports.providers.create(await actorOf(ports, context.principal), bodyOf(context));
    context.response.status(201).json({ provider });
  };
}

/** Responds with `{ resealed, unopened }`: numbers of credentials. */
export function rotateKeys(ports: ProviderRoutePorts): RouteHandler {
  return async ({ principal, response }) => {
    response.json(await ports.providers.rotateKeys(await actorOf(ports, principal)));
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
