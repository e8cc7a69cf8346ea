/** The budgets of users and teams, as administrators set them and people see them. */
import { invalid } from '../../ai/domain/util/arguments';
import { BUDGET_WINDOWS, windowsAt } from '../../ai/domain/entities/BudgetAccount';
import type { Amount, BudgetAccount, BudgetLimits } from '../../ai/domain/entities/BudgetAccount';
import { LLMInvalidRequestError } from '../../ai/domain/errors/LLMErrors';
import { searchedUsers } from '../../ai/application/operations/searchedUsers';
import type { BudgetLimitStore, StoredBudgetLimits } from '../domain/BudgetLimitStore';
import type { BudgetAccountReader } from '../domain/BudgetStore';
import type { Logger } from '../../ai/domain/interfaces/Logger';
import type { Actor, UserLookup, UserSearch } from '../../ai/domain/types/Actor';
import type { BudgetLimitsView, BudgetList, BudgetView, TeamBudgetView } from '../domain/BudgetViews';
import type { BudgetPolicy } from './BudgetPolicy';
import { budgetUsageAt } from './budgetUsageAt';

interface StoredBudgets {
  readonly policy: BudgetPolicy;
  readonly limits: BudgetLimitStore;
  readonly accounts: BudgetAccountReader;
}

export interface BudgetPorts extends StoredBudgets {
  /** Resolves when what calls of this process have used is in the accounts. */
  readonly usageSettled: () => Promise<void>;
  /** The budgets of teams. Absent: there are none. */
  readonly teams?: StoredBudgets | undefined;
  /** The app's accounts: only their users may have limits. Absent: any user id may. */
  readonly findUser?: UserLookup | undefined;
  /** Default: users are found by id. */
  readonly searchUsers?: UserSearch | undefined;
  /** Receives every change of a limit, at the level info. */
  readonly logger: Logger;
  /** Called after every change. @param userId undefined: it may concern everyone */
  readonly onChange?: (userId?: string) => void;
  /** Milliseconds since the epoch. */
  readonly now?: () => number;
}

/** Users in a list, and stored rows that are read for it. */
const MAX_LISTED = 500;

/** Whose budget: a user's, a team's, or without either that of every user who has none of their own. */
export interface BudgetSubject {
  readonly userId?: string | undefined;
  readonly team?: string | undefined;
}

export class Budgets {
  private readonly ports: BudgetPorts;
  private readonly now: () => number;
  private readonly onChange: (userId?: string) => void;

  constructor(ports: BudgetPorts) {
    this.ports = ports;
    this.now = ports.now ?? Date.now;
    this.onChange = ports.onChange ?? ((): void => undefined);
  }

  /** @param search how the user's id, name or address starts. Users get their own budget only. */
  async list(actor: Actor, search = ''): Promise<BudgetList> {
    await this.ports.usageSettled();
    return actor.isAdmin === true ? this.listAll(actor, search) : this.listOwn(actor.userId);
  }

  /** Replaces all limits of the subject. @throws LLMInvalidRequestError for an unknown user */
  async set(subject: BudgetSubject, limits: BudgetLimits, actor: Actor): Promise<BudgetLimitsView> {
    const { findUser, logger } = this.ports;
    const { userId } = subject;
    const stored = this.storedOf(subject);
    if (userId !== undefined && findUser !== undefined && (await findUser(userId)) === undefined)
      throw new LLMInvalidRequestError(`There is no user "${userId}".`, { path: 'userId' });
    await stored.limits.set({ userId: stored.id, limits, changedAt: this.now(), changedBy: actor.userId });
    stored.policy.forget(stored.id);
    this.onChange(userId);
    logger.info(`${titleOf(subject)} was set.`, { by: actor.userId, limits });
    return this.current(subject);
  }

  /** Returns to the limits of the settings. */
  async remove(subject: BudgetSubject, actor: Actor): Promise<BudgetLimitsView> {
    const { id, limits, policy } = this.storedOf(subject);
    const isRemoved = await limits.remove(id);
    policy.forget(id);
    this.onChange(subject.userId);
    if (isRemoved) this.ports.logger.info(`${titleOf(subject)} was reset to the settings.`, { by: actor.userId });
    return this.current(subject);
  }

  private async listOwn(userId: string): Promise<BudgetList> {
    const { policy, limits, accounts } = this.ports;
    const [own, everyone, stored] = await Promise.all([
      limits.find(userId),
      limits.find(undefined),
      accounts.find(userId),
    ]);
    return {
      everyone: withoutAuthor(policy.forEveryone(everyone)),
      budgets: [withoutAuthor(this.budgetOf(userId, own, everyone, stored?.account))],
      isTruncated: false,
    };
  }

  private async listAll(admin: Actor, search: string): Promise<BudgetList> {
    const { policy, limits, accounts, searchUsers } = this.ports;
    const named = await searchedUsers(admin, search, searchUsers);
    const [everyone, rows, used] = await Promise.all([
      limits.find(undefined),
      limits.ofUsers(MAX_LISTED + 1, search),
      accounts.ofMonth(windowsAt(this.now()).month, MAX_LISTED + 1, search),
    ]);
    const own = new Map(rows.map((row) => [row.userId ?? '', row]));
    for (const userId of named) {
      const row = await limits.find(userId);
      if (row !== undefined) own.set(userId, row);
    }
    const configured = policy.configuredUsers().filter((userId) => userId.startsWith(search));
    const accountsById = new Map(used.map((account) => [account.userId, account]));
    const userIds = [...new Set([...own.keys(), ...configured, ...accountsById.keys(), ...named])];
    // Their accounts are not among those that cost most, or were not searched.
    for (const userId of userIds) {
      if (accountsById.has(userId) || (used.length <= MAX_LISTED && !named.includes(userId))) continue;
      const stored = await accounts.find(userId);
      if (stored !== undefined) accountsById.set(userId, stored.account);
    }
    const budgets = userIds
      .map((userId) => this.budgetOf(userId, own.get(userId), everyone, accountsById.get(userId)))
      .sort((left, right) => closeness(right) - closeness(left) || compare(left.userId, right.userId));
    return {
      everyone: policy.forEveryone(everyone),
      budgets: budgets.slice(0, MAX_LISTED),
      isTruncated: budgets.length > MAX_LISTED,
      teams: await this.listTeams(),
    };
  }

  private async listTeams(): Promise<readonly TeamBudgetView[]> {
    const { teams } = this.ports;
    if (teams === undefined) return [];
    const [rows, used] = await Promise.all([
      teams.limits.ofUsers(MAX_LISTED),
      teams.accounts.ofMonth(windowsAt(this.now()).month, MAX_LISTED),
    ]);
    const own = new Map(rows.map((row) => [row.userId ?? '', row]));
    const accountsByTeam = new Map(used.map((account) => [account.userId, account]));
    return [...new Set([...own.keys(), ...accountsByTeam.keys()])]
      .sort(compare)
      .slice(0, MAX_LISTED)
      .map((team) => ({
        team,
        ...teams.policy.forEveryone(own.get(team)),
        usage: budgetUsageAt(team, accountsByTeam.get(team), this.now()),
      }));
  }

  private budgetOf(
    userId: string,
    own: StoredBudgetLimits | undefined,
    everyone: StoredBudgetLimits | undefined,
    account: BudgetAccount | undefined,
  ): BudgetView {
    return {
      userId,
      ...this.ports.policy.effective(userId, own, everyone),
      usage: budgetUsageAt(userId, account, this.now()),
    };
  }

  /** The stores of the subject, and its id there. */
  private storedOf({ userId, team }: BudgetSubject): StoredBudgets & { readonly id: string | undefined } {
    if (team === undefined) return { ...this.ports, id: userId };
    if (userId !== undefined) throw invalid('team', 'cannot be combined with "userId"');
    if (this.ports.teams === undefined) throw invalid('team', 'is not supported by this host');
    return { ...this.ports.teams, id: team };
  }

  private async current(subject: BudgetSubject): Promise<BudgetLimitsView> {
    const { userId } = subject;
    const { id, policy, limits } = this.storedOf(subject);
    if (userId === undefined) return policy.forEveryone(await limits.find(id));
    const [own, everyone] = await Promise.all([limits.find(userId), limits.find(undefined)]);
    return policy.effective(userId, own, everyone);
  }
}

/** The largest share of a limit that is used; 0 without limits. */
function closeness({ limits, usage }: BudgetView): number {
  const shares = BUDGET_WINDOWS.flatMap((window) =>
    (Object.entries(limits[window] ?? {}) as [keyof Amount, number][]).map(([amount, limit]) =>
      limit === 0 ? 1 : usage[window].used[amount] / limit,
    ),
  );
  return Math.max(0, ...shares);
}

function compare(left: string, right: string): number {
  return left < right ? -1 : Number(left > right);
}

/** Who the admins are is none of the users' business. */
function withoutAuthor<V extends BudgetLimitsView>({ changedBy: _, ...view }: V): Omit<V, 'changedBy'> {
  return view;
}

function titleOf({ userId, team }: BudgetSubject): string {
  if (team !== undefined) return `The budget of the team ${JSON.stringify(team)}`;
  return userId === undefined ? 'The budget of everyone' : `The budget of the user ${JSON.stringify(userId)}`;
}
