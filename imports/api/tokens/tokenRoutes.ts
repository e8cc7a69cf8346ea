/**
 * `/tokens`: people make, see and revoke their own API tokens, admins those of others too. A token that is no
 * admin's makes none.
 */
import { LLMInvalidRequestError, LLMPermissionError } from '../../business/ai/domain/errors/LLMErrors';
import { isList, isObject } from '../../business/ai/domain/json';
import { HttpError } from '../http/HttpError';
import type { RouteHandler } from '../http/RequestContext';
import { hasScope, SCOPES } from '../auth/ApiPrincipal';
import type { ApiPrincipal, Scope } from '../auth/ApiPrincipal';
import type { ApiTokenRequest, ApiTokens } from '../auth/ApiTokens';

export interface TokenRoutePorts {
  readonly tokens: ApiTokens;
  /** Milliseconds since the epoch. */
  readonly now?: () => number;
}

/** Of one user. */
const MAX_TOKENS_PER_USER = 100;
const FIELDS = ['name', 'scopes', 'expiresAt', 'userId'];

/**
 * `{ name, scopes?, expiresAt?, userId? }` in, `{ id, token }` out, with 201: what is answered is the token's only
 * copy.
 */
export function issueToken({ tokens, now = Date.now }: TokenRoutePorts): RouteHandler {
  return async ({ principal, request, response }) => {
    const wanted = readRequest(requireTokenManager(principal), request.body, now());
    if ((await tokens.list(wanted.userId)).length >= MAX_TOKENS_PER_USER)
      throw new LLMInvalidRequestError(`There are ${MAX_TOKENS_PER_USER} tokens already; revoke one first.`, {
        path: 'userId',
      });
    response.status(201).json(await tokens.issue(wanted));
  };
}

/** `{ tokens }` of the caller or, for admins, of `?userId=`: without what would let anybody use them. */
export function listTokens({ tokens }: TokenRoutePorts): RouteHandler {
  return async ({ principal, request, response }) => {
    const { userId } = request.query;
    response.json({ tokens: await tokens.list(ownerFor(requireTokenManager(principal), userId)) });
  };
}

/** `{ deleted: true }`; a token of somebody else is as unknown as one that never was. */
export function revokeToken({ tokens }: TokenRoutePorts): RouteHandler {
  return async ({ principal, request, response }) => {
    const owner = ownerFor(requireTokenManager(principal), request.query['userId']);
    if (!(await tokens.revoke(owner, String(request.params['id']))))
      throw new HttpError(404, 'There is no such token.');
    response.json({ deleted: true });
  };
}

/** People who logged in, and admins: a token that leaked must not be able to outlive itself. */
function requireTokenManager(principal: ApiPrincipal): ApiPrincipal {
  if (principal.scopes === undefined || hasScope(principal, 'admin')) return principal;
  throw new LLMPermissionError('Tokens are made by people who are logged in, or with the scope admin.');
}

function ownerFor(principal: ApiPrincipal, wanted: unknown): string {
  if (wanted === undefined || wanted === principal.userId) return principal.userId;
  if (typeof wanted !== 'string' || !/^[^\s\p{C}]{1,128}$/u.test(wanted))
    throw invalid('userId', 'userId must be the id of a user');
  if (!hasScope(principal, 'admin')) throw new LLMPermissionError('Only administrators may do this for others.');
  return wanted;
}

function readRequest(principal: ApiPrincipal, body: unknown, now: number): ApiTokenRequest {
  if (!isObject(body)) throw invalid('body', 'the body must be an object');
  const unknown = Object.keys(body).find((field) => !FIELDS.includes(field));
  if (unknown !== undefined) throw invalid(unknown.slice(0, 60), `the fields are ${FIELDS.join(', ')}`);
  const { name, scopes = ['generate', 'read'], expiresAt } = body;
  if (typeof name !== 'string' || !/^[^\p{C}]{1,100}$/u.test(name))
    throw invalid('name', 'name must be a text of 1 to 100 characters');
  if (!isList(scopes) || scopes.length === 0 || !scopes.every(isScope))
    throw invalid('scopes', `scopes must be a list out of ${SCOPES.join(', ')}`);
  if (expiresAt !== undefined && (!Number.isSafeInteger(expiresAt) || Number(expiresAt) <= now))
    throw invalid('expiresAt', 'expiresAt must be a time to come, in milliseconds since the epoch');
  const missing = scopes.find((scope) => !hasScope(principal, scope));
  if (missing !== undefined) throw new LLMPermissionError(`You do not hold the scope '${missing}' yourself.`);
  return {
    userId: ownerFor(principal, body['userId']),
    name,
    scopes,
    ...(expiresAt === undefined ? {} : { expiresAt: Number(expiresAt) }),
  };
}

function isScope(value: unknown): value is Scope {
  return SCOPES.some((scope) => scope === value);
}

function invalid(path: string, message: string): LLMInvalidRequestError {
  return new LLMInvalidRequestError(`${message}.`, { path });
}
