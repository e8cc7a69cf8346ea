/**
 * `/tokens`: users create, list and revoke their API tokens, and admins those of others. A token without the scope
 * `admin` cannot be used for this.
 */
import { LLMInvalidRequestError, LLMPermissionError } from '../../business/ai/domain/errors/LLMErrors';
import { isList, isObject } from '../../business/ai/domain/json';
import { HttpError } from '../http/HttpError';
import type { RouteHandler } from '../http/RequestContext';
import { hasScope, isAccountManager, SCOPES } from '../auth/ApiPrincipal';
import type { ApiPrincipal, Scope } from '../auth/ApiPrincipal';
import type { UserLookup } from '../../business/ai/domain/types/Actor';
import type { ApiTokenRequest, ApiTokens } from '../auth/ApiTokens';

export interface TokenRoutePorts {
  readonly tokens: ApiTokens;
  /** The app's accounts. Absent: any user id may have tokens. */
  readonly findUser?: UserLookup;
  /** Milliseconds since the epoch. */
  readonly now?: () => number;
}

const MAX_TOKENS_PER_USER = 100;
const FIELDS = ['name', 'scopes', 'expiresAt', 'userId'];

/**
 * Takes `{ name, scopes?, expiresAt?, userId? }`. Responds with 201 and `{ id, token }`, which is the token's only
 * copy. A user who does not exist gets 404.
 */
export function issueToken({ tokens, findUser, now = Date.now }: TokenRoutePorts): RouteHandler {
  return async ({ principal, request, response }) => {
    const tokenRequest = readRequest(requireTokenManager(principal), request.body, now());
    const { userId } = tokenRequest;
    if (findUser !== undefined && (await findUser(userId)) === undefined)
      throw new HttpError(404, `There is no user "${userId}".`, { path: 'userId' });
    if ((await tokens.list(userId)).length >= MAX_TOKENS_PER_USER)
      throw new LLMInvalidRequestError(`The limit of ${MAX_TOKENS_PER_USER} API tokens is reached. Revoke one first.`, {
        path: 'userId',
      });
    response.status(201).json(await tokens.issue(tokenRequest));
  };
}

/** Responds with `{ tokens }` of the caller or, for admins, of `?userId=`. The tokens themselves are not included. */
export function listTokens({ tokens }: TokenRoutePorts): RouteHandler {
  return async ({ principal, request, response }) => {
    const { userId } = request.query;
    response.json({ tokens: await tokens.list(ownerFor(requireTokenManager(principal), userId)) });
  };
}

/** Responds with `{ deleted: true }`. Another user's token gets the same 404 as an unknown one. */
export function revokeToken({ tokens }: TokenRoutePorts): RouteHandler {
  return async ({ principal, request, response }) => {
    const owner = ownerFor(requireTokenManager(principal), request.query['userId']);
    if (!(await tokens.revoke(owner, String(request.params['id'])))) throw new HttpError(404, 'API token not found.');
    response.json({ deleted: true });
  };
}

/** A leaked token must not be able to create further ones. */
function requireTokenManager(principal: ApiPrincipal): ApiPrincipal {
  if (isAccountManager(principal)) return principal;
  throw new LLMPermissionError('Managing API tokens requires a login or the scope "admin".');
}

function ownerFor(principal: ApiPrincipal, wanted: unknown): string {
  if (wanted === undefined || wanted === principal.userId) return principal.userId;
  if (typeof wanted !== 'string' || !/^[^\s\p{C}]{1,128}$/u.test(wanted))
    throw invalid('userId', '"userId" must be the id of a user');
  if (!hasScope(principal, 'admin'))
    throw new LLMPermissionError('Only administrators may manage the API tokens of other users.');
  return wanted;
}

function readRequest(principal: ApiPrincipal, body: unknown, now: number): ApiTokenRequest {
  if (!isObject(body)) throw invalid('body', 'The request body must be a JSON object');
  const unknown = Object.keys(body).find((field) => !FIELDS.includes(field));
  if (unknown !== undefined)
    throw invalid(
      unknown.slice(0, 60),
      `Unknown field "${unknown.slice(0, 60)}". Expected one of: ${FIELDS.join(', ')}`,
    );
  const { name, scopes = ['generate', 'read'], expiresAt } = body;
  if (typeof name !== 'string' || !/^[^\p{C}]{1,100}$/u.test(name))
    throw invalid('name', '"name" must be 1 to 100 visible characters');
  if (!isList(scopes) || scopes.length === 0 || !scopes.every(isScope))
    throw invalid('scopes', `"scopes" must be a list of some of: ${SCOPES.join(', ')}`);
  if (expiresAt !== undefined && (!Number.isSafeInteger(expiresAt) || Number(expiresAt) <= now))
    throw invalid('expiresAt', '"expiresAt" must be a time in the future, in milliseconds since the epoch');
  const missing = scopes.find((scope) => !hasScope(principal, scope));
  if (missing !== undefined)
    throw new LLMPermissionError(`You can't grant the scope "${missing}", because you don't have it yourself.`);
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
