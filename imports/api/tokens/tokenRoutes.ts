/** `/api/tokens`: the operations `ai.tokens.*` over HTTP. A token without the scope `admin` cannot be used for them. */
import { LLMPermissionError } from '../../business/ai/domain/errors/LLMErrors';
import { fieldsOf } from '../../business/ai/domain/json';
import type { Actor } from '../../business/ai/domain/types/Actor';
import { isAccountManager, toActor } from '../auth/ApiPrincipal';
import type { ApiPrincipal } from '../auth/ApiPrincipal';
import type { AddEndpoint } from '../http/Endpoint';
import type { RouteHandler } from '../http/RequestContext';
import { queryArgument } from '../http/queryArgument';
import type { TokenOperations } from './TokenOperations';

export function addTokenRoutes(add: AddEndpoint, operations: Partial<TokenOperations>): readonly string[] {
  const {
    'ai.tokens.list': list,
    'ai.tokens.create': create,
    'ai.tokens.update': update,
    'ai.tokens.rotate': rotate,
    'ai.tokens.usage': usage,
    'ai.tokens.revoke': revoke,
  } = operations;
  if (
    list === undefined ||
    create === undefined ||
    update === undefined ||
    rotate === undefined ||
    usage === undefined ||
    revoke === undefined
  )
    return [];
  add(
    'app',
    '/api/tokens',
    '/api/tokens',
    { method: 'get', scope: 'read', handler: listTokens(list) },
    { method: 'post', scope: 'generate', handler: issueToken(create) },
  );
  add(
    'app',
    '/api/tokens/:id',
    '/api/tokens/:id',
    { method: 'post', scope: 'generate', handler: changeToken(update) },
    { method: 'delete', scope: 'generate', handler: revokeToken(revoke) },
  );
  add('app', '/api/tokens/:id/rotate', '/api/tokens/:id/rotate', {
    method: 'post',
    scope: 'generate',
    handler: changeToken(rotate),
  });
  add('app', '/api/tokens/:id/usage', '/api/tokens/:id/usage', {
    method: 'get',
    scope: 'read',
    handler: readUsage(usage),
  });
  return ['/api/tokens'];
}

/** Responds with `{ tokens }` of the caller or, for admins, of `?userId=` or with `?all` of everyone. */
function listTokens(list: TokenOperations['ai.tokens.list']): RouteHandler {
  const argumentOf = queryArgument({ flags: ['all'] });
  return async ({ principal, request, response }) => {
    response.json(await list(toActor(requireTokenManager(principal)), argumentOf(request)));
  };
}

/** Responds with 201 and `{ id, token }`. */
function issueToken(create: TokenOperations['ai.tokens.create']): RouteHandler {
  return async ({ principal, request, response }) => {
    response.status(201).json(await create(toActor(requireTokenManager(principal)), request.body));
  };
}

/** The path determines the token, even if the body names another. */
function changeToken(change: (actor: Actor, argument: unknown) => Promise<unknown>): RouteHandler {
  return async ({ principal, request, response }) => {
    const { id } = request.params;
    response.json(await change(toActor(requireTokenManager(principal)), { ...fieldsOf(request.body), id }));
  };
}

/** Responds with `{ token, report }`. A token reads its own usage, too. */
function readUsage(usage: TokenOperations['ai.tokens.usage']): RouteHandler {
  const argumentOf = queryArgument({ numbers: ['from', 'to'] });
  return async ({ principal, request, response }) => {
    const { id } = request.params;
    if (principal.token?.id !== id) requireTokenManager(principal);
    response.json(await usage(toActor(principal), { ...argumentOf(request), id }));
  };
}

/** Responds with `{ deleted: true }`. Takes the owner as `?userId=`. */
function revokeToken(revoke: TokenOperations['ai.tokens.revoke']): RouteHandler {
  return async ({ principal, request, response }) => {
    const { id } = request.params;
    response.json(await revoke(toActor(requireTokenManager(principal)), { ...fieldsOf(request.query), id }));
  };
}

/** A leaked token must not be able to create further ones. */
function requireTokenManager(principal: ApiPrincipal): ApiPrincipal {
  if (isAccountManager(principal)) return principal;
  throw new LLMPermissionError('Managing API tokens requires a login or the scope "admin".');
}
