/**
 * `/tokens`: people make, see and revoke their own API tokens, admins those of others too. A token that is no
 * admin's makes none.
 */
import { LLMInvalidRequestError, LLMPermissionError } from '../../business/ai/domain/errors/LLMErrors';
import { isList, isObject } from '../../business/ai/domain/json';
import { HttpError } from '../http/HttpError';
import type { ExchangeHandler } from '../http/RequestContext';
import { mayDo, SCOPES } from '../auth/ApiPrincipal';
import type { ApiPrincipal, Scope } from '../auth/ApiPrincipal';
import type { ApiTokenRequest, ApiTokens } from '../auth/ApiTokens';

export interface TokenRoutePorts {
  readonly tokens: ApiTokens;
  /** Milliseconds since the epoch. */
  readonly now?: () => number;
}

/** Of one user. */
const MOST_TOKENS = 100;
const FIELDS = ['name', 'scopes', 'expiresAt', 'userId'];

/**
 * `{ name, scopes?, expiresAt?, userId? }` in, `{ id, token }` out, with 201: what is answered is the token's only
 * copy.
 */
export function issueToken({ tokens, now = Date.now }: TokenRoutePorts): ExchangeHandler {
  return async ({ actor, request, response }) => {
    const wanted = readRequest(manager(actor), request.body, now());
    if ((await tokens.list(wanted.userId)).length >= MOST_TOKENS)
      throw new LLMInvalidRequestError(`There are ${MOST_TOKENS} tokens already; revoke one first.`, {
        path: 'userId',
      });
    response.status(201).json(await tokens.issue(wanted));
  };
}

/** `{ tokens }` of the caller or, for admins, of `?userId=`: without what would let anybody use them. */
export function listTokens({ tokens }: TokenRoutePorts): ExchangeHandler {
  return async ({ actor, request, response }) => {
    const { userId } = request.query;
    response.json({ tokens: await tokens.list(ownerFor(manager(actor), userId)) });
  };
}

/** `{ deleted: true }`; a token of somebody else is as unknown as one that never was. */
export function revokeToken({ tokens }: TokenRoutePorts): ExchangeHandler {
  return async ({ actor, request, response }) => {
    const owner = ownerFor(manager(actor), request.query['userId']);
    if (!(await tokens.revoke(owner, String(request.params['id']))))
      throw new HttpError(404, 'There is no such token.');
    response.json({ deleted: true });
  };
}

/** People who logged in, and admins: a token that leaked must not be able to outlive itself. */
function manager(actor: ApiPrincipal): ApiPrincipal {
  if (actor.scopes === undefined || mayDo(actor, 'admin')) return actor;
  throw new LLMPermissionError('Tokens are made by people who are logged in, or with the scope admin.');
}

function ownerFor(actor: ApiPrincipal, wanted: unknown): string {
  if (wanted === undefined || wanted === actor.userId) return actor.userId;
  if (typeof wanted !== 'string' || !/^[^\s\p{C}]{1,128}$/u.test(wanted))
    throw wrong('userId', 'userId must be the id of a user');
  if (!mayDo(actor, 'admin')) throw new LLMPermissionError('Only administrators may do this for others.');
  return wanted;
}

function readRequest(actor: ApiPrincipal, body: unknown, now: number): ApiTokenRequest {
  if (!isObject(body)) throw wrong('body', 'the body must be an object');
  const unknown = Object.keys(body).find((field) => !FIELDS.includes(field));
  if (unknown !== undefined) throw wrong(unknown.slice(0, 60), `the fields are ${FIELDS.join(', ')}`);
  const { name, scopes = ['generate', 'read'], expiresAt } = body;
  if (typeof name !== 'string' || !/^[^\p{C}]{1,100}$/u.test(name))
    throw wrong('name', 'name must be a text of 1 to 100 characters');
  if (!isList(scopes) || scopes.length === 0 || !scopes.every(isScope))
    throw wrong('scopes', `scopes must be a list out of ${SCOPES.join(', ')}`);
  if (expiresAt !== undefined && (!Number.isSafeInteger(expiresAt) || Number(expiresAt) <= now))
    throw wrong('expiresAt', 'expiresAt must be a time to come, in milliseconds since the epoch');
  const missing = scopes.find((scope) => !mayDo(actor, scope));
  if (missing !== undefined) throw new LLMPermissionError(`You do not hold the scope '${missing}' yourself.`);
  return {
    userId: ownerFor(actor, body['userId']),
    name,
    scopes,
    ...(expiresAt === undefined ? {} : { expiresAt: Number(expiresAt) }),
  };
}

function isScope(value: unknown): value is Scope {
  return SCOPES.some((scope) => scope === value);
}

function wrong(path: string, message: string): LLMInvalidRequestError {
  return new LLMInvalidRequestError(`${message}.`, { path });
}
