/** The API tokens of users, as they and admins manage them. */
import { assertAccountManager } from '../../business/ai/application/operations/assertAccountManager';
import { budgetUsageAt } from '../../business/limits/application/budgetUsageAt';
import { invalid } from '../../business/ai/domain/util/arguments';
import type { BudgetWindow } from '../../business/ai/domain/entities/BudgetAccount';
import { windowsAt } from '../../business/ai/domain/entities/BudgetAccount';
import { LLMInvalidRequestError, LLMPermissionError } from '../../business/ai/domain/errors/LLMErrors';
import type { BudgetAccountReader } from '../../business/limits/domain/BudgetStore';
import type { Logger } from '../../business/ai/domain/interfaces/Logger';
import type { UsageReader } from '../../business/usage/domain/UsageReader';
import type { Actor, UserLookup } from '../../business/ai/domain/types/Actor';
import type { BudgetUsageView } from '../../business/limits/domain/BudgetViews';
import type { UsageReport } from '../../business/usage/domain/UsageReports';
import type { ApiTokenChange, StoredApiToken } from '../auth/ApiTokenStore';
import type { ApiTokens, ListedApiToken } from '../auth/ApiTokens';
import { HttpError } from '../http/HttpError';
import type { TokenChange, TokenRequest } from './tokenArguments';

export interface TokenPorts {
  readonly tokens: ApiTokens;
  /** What tokens have used. */
  readonly accounts: BudgetAccountReader;
  /** Resolves when what calls of this process have used is in the accounts. */
  readonly usageSettled: () => Promise<void>;
  /** Adds up the request log. */
  readonly usage: UsageReader;
  /** The app's accounts. Absent: any user id may have tokens. */
  readonly findUser?: UserLookup | undefined;
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

export interface IssuedToken {
  readonly id: string;
  /** The only copy of the secret. */
  readonly token: string;
}

/** A token by its id. Default owner: the actor. */
interface NamedToken {
  readonly id: string;
  readonly userId?: string | undefined;
}

const MAX_TOKENS_PER_USER = 100;
const MAX_LISTED = 1_000;
const MAX_DAYS = 400;
const DAY_MS = 86_400_000;
const DEFAULT_LIFETIME_MS = 90 * DAY_MS;
/** What the owner may change of a token whose limits an admin has set. */
const UNLIMITING: readonly string[] = ['name', 'tags'];

/**
 * Every method throws LLMPermissionError for an actor who is a token without the scope `admin`, and for other users'
 * tokens unless the actor is an admin; those that name a token throw HttpError 404 if the owner has no such token.
 */
export class TokenAdministration {
  private readonly ports: TokenPorts;
  private readonly now: () => number;
  private readonly defaultLifetime: number | 'never';

  constructor(ports: TokenPorts) {
    this.ports = ports;
    this.now = ports.now ?? Date.now;
    this.defaultLifetime = ports.lifetimeMs ?? DEFAULT_LIFETIME_MS;
  }

  async list(
    actor: Actor,
    { userId, all }: { readonly userId?: string | undefined; readonly all?: boolean | undefined },
  ): Promise<ApiTokenList> {
    const { tokens, accounts } = this.ports;
    const { defaultLifetime } = this;
    const owner = managedOwner(actor, userId);
    if (all !== true) {
      const listed = await tokens.list(owner);
      await this.ports.usageSettled();
      const used = await Promise.all(listed.map(({ _id }) => accounts.find(_id)));
      return { tokens: listed.map((token, index) => this.viewOf(token, used[index]?.account)), defaultLifetime };
    }
    if (actor.isAdmin !== true) throw notAdmin();
    const listed = await tokens.listAll(MAX_LISTED + 1);
    await this.ports.usageSettled();
    const used = await accounts.ofMonth(windowsAt(this.now()).month, MAX_LISTED);
    const byId = new Map(used.map((account) => [account.userId, account]));
    const views = listed.slice(0, MAX_LISTED).map((token) => this.viewOf(token, byId.get(token._id)));
    return { tokens: views, defaultLifetime, ...(listed.length > MAX_LISTED ? TRUNCATED : {}) };
  }

  /** Only admins set the team and the scope `admin`. @throws HttpError 404 for a user who does not exist */
  async create(actor: Actor, { userId, name, scopes, ...limits }: TokenRequest): Promise<IssuedToken> {
    const { tokens, findUser } = this.ports;
    const owner = managedOwner(actor, userId);
    if (scopes.includes('admin') && actor.isAdmin !== true)
      throw new LLMPermissionError('You can\'t grant the scope "admin", because you don\'t have it yourself.');
    this.assertPermitted(actor, limits);
    if (findUser !== undefined && (await findUser(owner)) === undefined)
      throw new HttpError(404, `There is no user "${owner}".`, { path: 'userId' });
    if ((await tokens.list(owner)).length >= MAX_TOKENS_PER_USER)
      throw new LLMInvalidRequestError(`The limit of ${MAX_TOKENS_PER_USER} API tokens is reached. Revoke one first.`, {
        path: 'userId',
      });
    const given = present(limits);
    const { expiresAt = this.defaultExpiry() } = limits;
    const issued = await tokens.issue({
      ...{ userId: owner, name, scopes },
      ...given,
      ...present({ expiresAt, createdBy: owner === actor.userId ? undefined : actor.userId }),
      ...markOf(actor, owner, given),
    });
    this.note('created', issued.id, owner, actor);
    return issued;
  }

  /** Absent fields stay as they are. Users cannot change the limits that an admin has set. */
  async update(actor: Actor, { id, userId, ...fields }: TokenChange): Promise<ListedApiToken> {
    const owner = managedOwner(actor, userId);
    this.assertPermitted(actor, fields);
    const given = Object.entries(fields).filter(([, value]) => value !== undefined);
    // Undefined fields of a change are removed.
    const change: ApiTokenChange = Object.fromEntries(given.map(([field, value]) => [field, value ?? undefined]));
    const { isManaged } = await this.find(id, owner);
    if (isManaged === true && actor.isAdmin !== true)
      for (const name of Object.keys(change))
        if (!UNLIMITING.includes(name))
          throw new LLMPermissionError(
            `An administrator has set the limits of this API token, so you can't change "${name}".`,
            { path: name },
          );
    const author = { changedAt: this.now(), changedBy: actor.userId };
    const updated = await this.ports.tokens.update(id, owner, {
      ...change,
      ...author,
      ...markOf(actor, owner, change),
    });
    if (updated === undefined) throw unknownToken();
    this.note('changed', id, owner, actor);
    return updated;
  }

  /** Replaces the secret. @param graceSeconds for which the old one remains valid */
  async rotate(
    actor: Actor,
    { id, userId, graceSeconds }: NamedToken & { readonly graceSeconds: number },
  ): Promise<IssuedToken> {
    const owner = managedOwner(actor, userId);
    const rotated = await this.ports.tokens.rotate(id, owner, { graceMs: graceSeconds * 1_000, by: actor.userId });
    if (rotated === undefined) throw unknownToken();
    this.note('rotated', id, owner, actor);
    return { id, token: rotated.token };
  }

  /**
   * By day (UTC), with the models as the report's groups; also of tokens that were revoked. A token may read its own.
   * @param from and `to`: milliseconds since the epoch. Default: this month (UTC) until now
   */
  async usage(
    actor: Actor,
    {
      id,
      userId,
      to = this.now(),
      from = Date.parse(`${windowsAt(to).month}-01T00:00:00Z`),
    }: NamedToken & { readonly from?: number | undefined; readonly to?: number | undefined },
  ): Promise<ApiTokenUsage> {
    const { tokens, accounts, usage } = this.ports;
    const owner = actor.tokenId === id ? ownerFor(actor, userId) : managedOwner(actor, userId);
    if (to < from || to - from > MAX_DAYS * DAY_MS)
      throw invalid('to', `must be later than "from", by at most ${MAX_DAYS} days`);
    const found = await tokens.describe(id);
    if (found === undefined || found.userId !== owner) throw unknownToken();
    await this.ports.usageSettled();
    const token = this.viewOf(found, (await accounts.find(id))?.account);
    const query = { from, to: to + 1, interval: 'day', utcOffset: 0, groupBy: 'model', tokenId: id } as const;
    return { token, report: await usage.report(query) };
  }

  async revoke(actor: Actor, { id, userId }: NamedToken): Promise<{ readonly deleted: true }> {
    const owner = managedOwner(actor, userId);
    if (!(await this.ports.tokens.revoke(owner, id))) throw unknownToken();
    this.note('revoked', id, owner, actor);
    return { deleted: true };
  }

  private viewOf(token: ListedApiToken, account: Parameters<typeof budgetUsageAt>[1]): ApiTokenView {
    return { ...token, usage: budgetUsageAt(token._id, account, this.now()) };
  }

  /** @returns undefined for tokens that do not expire by default */
  private defaultExpiry(): number | undefined {
    return this.defaultLifetime === 'never' ? undefined : this.now() + this.defaultLifetime;
  }

  /** Everyone's calls on a team's budget are at the expense of the team. */
  private assertPermitted(actor: Actor, { team, expiresAt }: Pick<TokenChange, 'team' | 'expiresAt'>): void {
    if (team !== undefined && actor.isAdmin !== true)
      throw new LLMPermissionError('Only administrators may set the team of an API token.', { path: 'team' });
    if (typeof expiresAt === 'number' && expiresAt <= this.now())
      throw invalid('expiresAt', 'must be a time in the future, in milliseconds since the epoch');
  }

  /** @throws HttpError 404 */
  private async find(id: string, owner: string): Promise<StoredApiToken> {
    const token = await this.ports.tokens.find(id);
    if (token === undefined || token.userId !== owner || token.revokedAt !== undefined) throw unknownToken();
    return token;
  }

  private note(what: string, id: string, userId: string, actor: Actor): void {
    this.ports.onChange?.(userId);
    this.ports.logger.info(`An API token was ${what}.`, { tokenId: id, userId, by: actor.userId });
  }
}

const TRUNCATED = { isTruncated: true } as const;

/** A leaked token must not be able to create further ones. */
function managedOwner(actor: Actor, userId?: string): string {
  assertAccountManager(actor);
  return ownerFor(actor, userId);
}

function ownerFor(actor: Actor, userId = actor.userId): string {
  if (userId !== actor.userId && actor.isAdmin !== true) throw notAdmin();
  return userId;
}

function notAdmin(): LLMPermissionError {
  return new LLMPermissionError('Only administrators may manage the API tokens of other users.');
}

function unknownToken(): HttpError {
  return new HttpError(404, 'API token not found.');
}

/** An admin limits another user's token, who must not lift the limits again. */
function markOf(actor: Actor, owner: string, fields: object): { readonly isManaged?: true } {
  const isLimiting = owner !== actor.userId && Object.keys(fields).some((field) => !UNLIMITING.includes(field));
  return isLimiting ? { isManaged: true } : {};
}

type Present<T> = { readonly [F in keyof T]?: NonNullable<T[F]> };

/** The fields that have a value. */
function present<T extends object>(fields: T): Present<T> {
  const given = Object.entries(fields).filter(([, value]) => value !== undefined && value !== null);
  return Object.fromEntries(given) as Present<T>;
}
