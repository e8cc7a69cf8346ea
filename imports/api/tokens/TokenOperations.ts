/**
 * `ai.tokens.*` for any transport: users create, limit, rotate and revoke their API tokens, and admins those of others.
 * The transport makes sure that the actor is not itself a token without the scope `admin`.
 */
import {
  boolean,
  identifier,
  integer,
  invalid,
  listOf,
  oneOf,
  optionalValue,
  readObject,
  required,
} from '../../business/ai/domain/arguments';
import { budgetUsageAt } from '../../business/ai/application/operations/budgetUsageAt';
import type { BudgetWindow } from '../../business/ai/domain/entities/BudgetAccount';
import { windowsAt } from '../../business/ai/domain/entities/BudgetAccount';
import { LLMAuthError, LLMInvalidRequestError, LLMPermissionError } from '../../business/ai/domain/errors/LLMErrors';
import type { BudgetAccountReader } from '../../business/ai/domain/interfaces/BudgetStore';
import type { UsageReader } from '../../business/ai/domain/interfaces/UsageReader';
import type { Logger } from '../../business/ai/domain/interfaces/Logger';
import type { Actor, UserLookup } from '../../business/ai/domain/types/Actor';
import type { BudgetUsageView } from '../../business/ai/domain/types/BudgetViews';
import type { UsageReport } from '../../business/ai/domain/types/UsageReports';
import type { JsonObject } from '../../business/ai/domain/types/VendorTypes';
import { SCOPES } from '../auth/ApiPrincipal';
import type { Scope } from '../auth/ApiPrincipal';
import type { ApiTokenChange, StoredApiToken } from '../auth/ApiTokenStore';
import type { ApiTokenRequest, ApiTokens, ListedApiToken } from '../auth/ApiTokens';
import { HttpError } from '../http/HttpError';
import { readTokenFields, readTokenName, TOKEN_FIELDS } from './readTokenFields';

export interface TokenOperationsPorts {
  readonly tokens: ApiTokens;
  /** What tokens have used. */
  readonly accounts: BudgetAccountReader;
  /** Resolves when what calls of this process have used is in the accounts. */
  readonly usageSettled: () => Promise<void>;
  /** Adds up the request log. */
  readonly usage: UsageReader;
  /** The app's accounts. Absent: any user id may have tokens. */
  readonly findUser?: UserLookup;
  /** Receives what was done to tokens and by whom, at the level info. */
  readonly logger: Logger;
  /** Called after a user's tokens changed. */
  readonly onChange?: (userId: string) => void;
  /** How long tokens are valid that are created without `expiresAt`, in milliseconds. Default: 90 days. */
  readonly lifetimeMs?: number | 'never' | undefined;
  /** Milliseconds since the epoch. */
  readonly now?: () => number;
}

export interface ApiTokenView extends ListedApiToken {
  readonly usage: Readonly<Record<BudgetWindow, BudgetUsageView>>;
}

export interface ApiTokenUsage {
  readonly token: ApiTokenView;
  readonly report: UsageReport;
}

export interface ApiTokenList {
  readonly tokens: readonly ApiTokenView[];
  /** How long a token is valid that is created without `expiresAt`, in milliseconds. */
  readonly defaultLifetime: number | 'never';
  /** Set if there are more tokens than a list holds. */
  readonly isTruncated?: true;
}

/**
 * Every operation throws LLMAuthError if nobody is logged in, LLMInvalidRequestError for its argument, and
 * LLMPermissionError for other users' tokens unless the actor is an admin.
 */
export interface TokenOperations {
  /** Takes `{ userId?, all? }`. Default: the actor's own. Secrets are not included. */
  readonly 'ai.tokens.list': (actor: Actor, argument?: unknown) => Promise<ApiTokenList>;
  /**
   * Takes `{ name, scopes?, userId?, expiresAt?, team?, tags?, models?, tools?, budgets?, rateLimits? }`.
   * `expiresAt` is a time in milliseconds since the epoch, or `never`; by default in 90 days, unless the host is set up
   * otherwise. The returned token is its only copy.
   * @throws HttpError 404 for a user who does not exist; LLMPermissionError for a team, unless the actor is an admin
   */
  readonly 'ai.tokens.create': (
    actor: Actor,
    argument: unknown,
  ) => Promise<{ readonly id: string; readonly token: string }>;
  /**
   * Takes `{ id, userId?, name?, expiresAt?, team?, tags?, models?, tools?, budgets?, rateLimits? }`. Absent fields
   * stay as they are, `null` removes one, as does `never` of `expiresAt`. Users cannot change the limits that an admin
   * has set.
   * @throws HttpError 404 for an unknown token and for another user's
   */
  readonly 'ai.tokens.update': (actor: Actor, argument: unknown) => Promise<ListedApiToken>;
  /**
   * Takes `{ id, userId?, graceSeconds? }`. Replaces the secret; the old one remains valid for the grace period, by
   * default 0 and at most 30 days. The returned token is the only copy of the new one.
   * @throws HttpError 404 for an unknown token and for another user's
   */
  readonly 'ai.tokens.rotate': (
    actor: Actor,
    argument: unknown,
  ) => Promise<{ readonly id: string; readonly token: string }>;
  /**
   * Takes `{ id, userId?, from?, to? }`: times in milliseconds since the epoch, by default this month (UTC) until now.
   * The report is by day (UTC), with the models as its groups. Also for tokens that were revoked.
   * @throws HttpError 404 for an unknown token and for another user's
   */
  readonly 'ai.tokens.usage': (actor: Actor, argument: unknown) => Promise<ApiTokenUsage>;
  /** Takes `{ id, userId? }`. @throws HttpError 404 for an unknown token and for another user's */
  readonly 'ai.tokens.revoke': (actor: Actor, argument: unknown) => Promise<{ readonly deleted: true }>;
}

const MAX_TOKENS_PER_USER = 100;
const MAX_LISTED = 1_000;
const MAX_ID_LENGTH = 128;
/** The last millisecond that a date can have. */
const MAX_TIME = 8.64e15;
const MAX_DAYS = 400;
const DAY_MS = 86_400_000;
const DEFAULT_LIFETIME_MS = 90 * DAY_MS;
const MAX_GRACE_SECONDS = 30 * 86_400;
const DEFAULT_SCOPES: readonly Scope[] = ['generate', 'read'];
/** What the owner may change of a token whose limits an admin has set. */
const UNLIMITING: readonly string[] = ['name', 'tags'];

const readUserId = identifier(MAX_ID_LENGTH);

export function createTokenOperations(ports: TokenOperationsPorts): TokenOperations {
  const { tokens, accounts, usageSettled, usage, findUser, logger } = ports;
  const { onChange = () => undefined, now = Date.now, lifetimeMs: defaultLifetime = DEFAULT_LIFETIME_MS } = ports;

  const withUsage = async (listed: readonly ListedApiToken[], isOfAll: boolean): Promise<readonly ApiTokenView[]> => {
    await usageSettled();
    const used = isOfAll
      ? await accounts.ofMonth(windowsAt(now()).month, MAX_LISTED)
      : (await Promise.all(listed.map(({ _id }) => accounts.find(_id)))).flatMap((stored) => stored?.account ?? []);
    const byId = new Map(used.map((account) => [account.userId, account]));
    return listed.map((token) => ({ ...token, usage: budgetUsageAt(token._id, byId.get(token._id), now()) }));
  };

  /** @throws HttpError 404 */
  const find = async (id: string, owner: string): Promise<StoredApiToken> => {
    const token = await tokens.find(id);
    if (token === undefined || token.userId !== owner || token.revokedAt !== undefined) throw unknownToken();
    return token;
  };

  const note = (what: string, id: string, userId: string, actor: Actor): void => {
    onChange(userId);
    logger.info(`An API token was ${what}.`, { tokenId: id, userId, by: actor.userId });
  };

  return {
    async 'ai.tokens.list'(actor, argument = {}) {
      const fields = readObject(argument, ['userId', 'all']);
      const owner = ownerFor(actor, fields);
      if (optionalValue(fields, 'all', boolean) !== true)
        return { tokens: await withUsage(await tokens.list(owner), false), defaultLifetime };
      if (actor.isAdmin !== true) throw notAdmin();
      const listed = await tokens.listAll(MAX_LISTED + 1);
      return {
        tokens: await withUsage(listed.slice(0, MAX_LISTED), true),
        defaultLifetime,
        ...(listed.length > MAX_LISTED ? { isTruncated: true } : {}),
      };
    },
    async 'ai.tokens.create'(actor, argument) {
      const request = readRequest(actor, argument, now(), defaultLifetime);
      const { userId } = request;
      if (findUser !== undefined && (await findUser(userId)) === undefined)
        throw new HttpError(404, `There is no user "${userId}".`, { path: 'userId' });
      if ((await tokens.list(userId)).length >= MAX_TOKENS_PER_USER)
        throw new LLMInvalidRequestError(
          `The limit of ${MAX_TOKENS_PER_USER} API tokens is reached. Revoke one first.`,
          { path: 'userId' },
        );
      const issued = await tokens.issue(request);
      note('created', issued.id, userId, actor);
      return issued;
    },
    async 'ai.tokens.update'(actor, argument) {
      const fields = readObject(argument, ['id', 'userId', ...TOKEN_FIELDS]);
      const owner = ownerFor(actor, fields);
      const id = required(fields, 'id', readUserId);
      const change = readChange(actor, fields, now());
      const { isManaged } = await find(id, owner);
      if (isManaged === true && actor.isAdmin !== true)
        for (const name of Object.keys(change))
          if (!UNLIMITING.includes(name))
            throw new LLMPermissionError(
              `An administrator has set the limits of this API token, so you can't change "${name}".`,
              { path: name },
            );
      const updated = await tokens.update(id, owner, {
        ...change,
        changedAt: now(),
        changedBy: actor.userId,
        ...(isLimiting(actor, owner, change) ? { isManaged: true as const } : {}),
      });
      if (updated === undefined) throw unknownToken();
      note('changed', id, owner, actor);
      return updated;
    },
    async 'ai.tokens.rotate'(actor, argument) {
      const fields = readObject(argument, ['id', 'userId', 'graceSeconds']);
      const owner = ownerFor(actor, fields);
      const id = required(fields, 'id', readUserId);
      const seconds = optionalValue(fields, 'graceSeconds', integer(0, MAX_GRACE_SECONDS)) ?? 0;
      const rotated = await tokens.rotate(id, owner, { graceMs: seconds * 1_000, by: actor.userId });
      if (rotated === undefined) throw unknownToken();
      note('rotated', id, owner, actor);
      return { id, token: rotated.token };
    },
    async 'ai.tokens.usage'(actor, argument) {
      const fields = readObject(argument, ['id', 'userId', 'from', 'to']);
      const owner = ownerFor(actor, fields);
      const id = required(fields, 'id', readUserId);
      const to = optionalValue(fields, 'to', integer(0, MAX_TIME)) ?? now();
      const from =
        optionalValue(fields, 'from', integer(0, MAX_TIME)) ?? Date.parse(`${windowsAt(to).month}-01T00:00:00Z`);
      if (to < from || to - from > MAX_DAYS * DAY_MS)
        throw invalid('to', `must be later than "from", by at most ${MAX_DAYS} days`);
      const found = await tokens.describe(id);
      if (found === undefined || found.userId !== owner) throw unknownToken();
      await usageSettled();
      const account = await accounts.find(id);
      const token = { ...found, usage: budgetUsageAt(id, account?.account, now()) };
      const query = { from, to: to + 1, interval: 'day', utcOffset: 0, groupBy: 'model', tokenId: id } as const;
      return { token, report: await usage.report(query) };
    },
    async 'ai.tokens.revoke'(actor, argument) {
      const fields = readObject(argument, ['id', 'userId']);
      const owner = ownerFor(actor, fields);
      const id = required(fields, 'id', readUserId);
      if (!(await tokens.revoke(owner, id))) throw unknownToken();
      note('revoked', id, owner, actor);
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

function unknownToken(): HttpError {
  return new HttpError(404, 'API token not found.');
}

function readRequest(actor: Actor, argument: unknown, now: number, defaultLifetime: number | 'never'): ApiTokenRequest {
  const fields = readObject(argument, ['scopes', 'userId', ...TOKEN_FIELDS]);
  const name = required(fields, 'name', readTokenName);
  const scopes = optionalValue(fields, 'scopes', listOf(SCOPES.length, oneOf(SCOPES))) ?? DEFAULT_SCOPES;
  if (scopes.length === 0) throw invalid('scopes', `must be a list of some of: ${SCOPES.join(', ')}`);
  const { expiresAt: _, ...timeless } = fields;
  const given = readTokenFields(fields['expiresAt'] === 'never' ? timeless : fields, now);
  const isUnstated = fields['expiresAt'] === undefined && defaultLifetime !== 'never';
  if (scopes.includes('admin') && actor.isAdmin !== true)
    throw new LLMPermissionError('You can\'t grant the scope "admin", because you don\'t have it yourself.');
  assertTeamIsPermitted(actor, fields);
  const userId = ownerFor(actor, fields);
  return {
    userId,
    name,
    scopes,
    ...(isUnstated ? { expiresAt: now + defaultLifetime } : {}),
    ...given,
    ...(userId === actor.userId ? {} : { createdBy: actor.userId }),
    ...(isLimiting(actor, userId, given) ? { isManaged: true as const } : {}),
  };
}

function readChange(actor: Actor, argument: JsonObject, now: number): ApiTokenChange {
  const fields = withoutNever(argument);
  assertTeamIsPermitted(actor, fields);
  const given = TOKEN_FIELDS.filter((field) => fields[field] !== undefined);
  const removed = given.filter((field) => fields[field] === null);
  if (given.length === 0) throw invalid('', `must have at least one of: ${TOKEN_FIELDS.join(', ')}`);
  if (removed.includes('name')) throw invalid('name', 'cannot be removed');
  const present = Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== null));
  const name = optionalValue(present, 'name', readTokenName);
  const read = { ...(name === undefined ? {} : { name }), ...readTokenFields(present, now) };
  // Limits without any amount, like `null`, remove what there was.
  const absent = given.filter((field) => !(field in read)).map((field) => [field, undefined] as const);
  return { ...read, ...(Object.fromEntries(absent) as ApiTokenChange) };
}

/** A token that never expires is stored without a time. */
function withoutNever(fields: JsonObject): JsonObject {
  return fields['expiresAt'] === 'never' ? { ...fields, expiresAt: null } : fields;
}

/** Everyone's calls on a team's budget are at the expense of the team. */
function assertTeamIsPermitted(actor: Actor, fields: JsonObject): void {
  if (fields['team'] !== undefined && actor.isAdmin !== true)
    throw new LLMPermissionError('Only administrators may set the team of an API token.', { path: 'team' });
}

/** An admin limits another user's token, who must not lift the limits again. */
function isLimiting(actor: Actor, owner: string, fields: ApiTokenChange): boolean {
  return owner !== actor.userId && Object.keys(fields).some((field) => !UNLIMITING.includes(field));
}
