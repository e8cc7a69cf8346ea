/**
 * `ai.tokens.*` for any transport: users create, list and revoke their API tokens, and admins those of others. The
 * transport makes sure that the actor is not itself a token without the scope `admin`.
 */
import {
  boolean,
  identifier,
  integer,
  invalid,
  line,
  listOf,
  oneOf,
  optionalValue,
  readObject,
  required,
} from '../../business/ai/domain/arguments';
import { LLMAuthError, LLMInvalidRequestError, LLMPermissionError } from '../../business/ai/domain/errors/LLMErrors';
import type { ArgumentReader } from '../../business/ai/domain/arguments';
import type { Actor, UserLookup } from '../../business/ai/domain/types/Actor';
import type { JsonObject } from '../../business/ai/domain/types/VendorTypes';
import { SCOPES } from '../auth/ApiPrincipal';
import type { Scope } from '../auth/ApiPrincipal';
import type { ApiTokenRequest, ApiTokens, ListedApiToken } from '../auth/ApiTokens';
import { HttpError } from '../http/HttpError';

export interface TokenOperationsPorts {
  readonly tokens: ApiTokens;
  /** The app's accounts. Absent: any user id may have tokens. */
  readonly findUser?: UserLookup;
  /** Called after a user's tokens changed. */
  readonly onChange?: (userId: string) => void;
  /** Milliseconds since the epoch. */
  readonly now?: () => number;
}

export interface ApiTokenList {
  readonly tokens: readonly ListedApiToken[];
  /** There are more than a list holds. */
  readonly isTruncated?: true;
}

/**
 * Every operation throws LLMAuthError if nobody is logged in, LLMInvalidRequestError for its argument, and
 * LLMPermissionError for other users' tokens unless the actor is an admin.
 */
export interface TokenOperations {
  /** Takes `{ userId?, all? }`. Default: the actor's own. Tokens themselves are not included. */
  readonly 'ai.tokens.list': (actor: Actor, argument?: unknown) => Promise<ApiTokenList>;
  /**
   * Takes `{ name, scopes?, expiresAt?, userId? }`. The returned token is its only copy.
   * @throws HttpError 404 for a user who does not exist
   */
  readonly 'ai.tokens.create': (
    actor: Actor,
    argument: unknown,
  ) => Promise<{ readonly id: string; readonly token: string }>;
  /** Takes `{ id, userId? }`. @throws HttpError 404 for an unknown token and for another user's */
  readonly 'ai.tokens.revoke': (actor: Actor, argument: unknown) => Promise<{ readonly deleted: true }>;
}

const MAX_TOKENS_PER_USER = 100;
const MAX_LISTED = 1_000;
const MAX_ID_LENGTH = 128;
const MAX_NAME_LENGTH = 100;
const DEFAULT_SCOPES: readonly Scope[] = ['generate', 'read'];

const readUserId = identifier(MAX_ID_LENGTH);

/** Invisible characters could make one token look like another. */
const readName: ArgumentReader<string> = (value, path) => {
  const name = line(MAX_NAME_LENGTH)(value, path);
  if (/\p{C}/u.test(name)) throw invalid(path, 'must consist of visible characters');
  return name;
};

export function createTokenOperations({
  tokens,
  findUser,
  onChange = () => undefined,
  now = Date.now,
}: TokenOperationsPorts): TokenOperations {
  return {
    async 'ai.tokens.list'(actor, argument = {}) {
      const fields = readObject(argument, ['userId', 'all']);
      const owner = ownerFor(actor, fields);
      if (optionalValue(fields, 'all', boolean) !== true) return { tokens: await tokens.list(owner) };
      if (actor.isAdmin !== true) throw notAdmin();
      const listed = await tokens.listAll(MAX_LISTED + 1);
      return { tokens: listed.slice(0, MAX_LISTED), ...(listed.length > MAX_LISTED ? { isTruncated: true } : {}) };
    },
    async 'ai.tokens.create'(actor, argument) {
      const request = readRequest(actor, argument, now());
      const { userId } = request;
      if (findUser !== undefined && (await findUser(userId)) === undefined)
        throw new HttpError(404, `There is no user "${userId}".`, { path: 'userId' });
      if ((await tokens.list(userId)).length >= MAX_TOKENS_PER_USER)
        throw new LLMInvalidRequestError(
          `The limit of ${MAX_TOKENS_PER_USER} API tokens is reached. Revoke one first.`,
          { path: 'userId' },
        );
      const issued = await tokens.issue(request);
      onChange(userId);
      return issued;
    },
    async 'ai.tokens.revoke'(actor, argument) {
      const fields = readObject(argument, ['id', 'userId']);
      const owner = ownerFor(actor, fields);
      if (!(await tokens.revoke(owner, required(fields, 'id', readUserId))))
        throw new HttpError(404, 'API token not found.');
      onChange(owner);
      return { deleted: true };
    },
  };
}

/** The user named in `userId`, or the actor. */
function ownerFor(actor: Actor, fields: JsonObject): string {
  if (actor.userId === '') throw new LLMAuthError('You must be logged in.');
  const wanted = optionalValue(fields, 'userId', readUserId) ?? actor.userId;
  if (wanted !== actor.userId && actor.isAdmin !== true) throw notAdmin();
  return wanted;
}

function notAdmin(): LLMPermissionError {
  return new LLMPermissionError('Only administrators may manage the API tokens of other users.');
}

function readRequest(actor: Actor, argument: unknown, now: number): ApiTokenRequest {
  const fields = readObject(argument, ['name', 'scopes', 'expiresAt', 'userId']);
  const name = required(fields, 'name', readName);
  const scopes = optionalValue(fields, 'scopes', listOf(SCOPES.length, oneOf(SCOPES))) ?? DEFAULT_SCOPES;
  if (scopes.length === 0) throw invalid('scopes', `must be a list of some of: ${SCOPES.join(', ')}`);
  const expiresAt = optionalValue(fields, 'expiresAt', integer(0, Number.MAX_SAFE_INTEGER));
  if (expiresAt !== undefined && expiresAt <= now)
    throw invalid('expiresAt', 'must be a time in the future, in milliseconds since the epoch');
  if (scopes.includes('admin') && actor.isAdmin !== true)
    throw new LLMPermissionError('You can\'t grant the scope "admin", because you don\'t have it yourself.');
  return { userId: ownerFor(actor, fields), name, scopes, ...(expiresAt === undefined ? {} : { expiresAt }) };
}
