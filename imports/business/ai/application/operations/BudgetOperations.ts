/** `ai.budgets.*` for any transport. Users see their own budget, admins see and set everyone's. */
import { invalid, line, optionalValue, readObject, required } from '../../domain/arguments';
import { BUDGET_WINDOWS, windowsAt } from '../../domain/entities/BudgetAccount';
import type { Amount, BudgetAccount } from '../../domain/entities/BudgetAccount';
import { LLMInvalidRequestError, LLMPermissionError } from '../../domain/errors/LLMErrors';
import type { BudgetLimitStore, StoredBudgetLimits } from '../../domain/interfaces/BudgetLimitStore';
import type { BudgetAccountReader } from '../../domain/interfaces/BudgetStore';
import type { Logger } from '../../domain/interfaces/Logger';
import type { Actor, UserLookup } from '../../domain/types/Actor';
import type { BudgetLimitsView, BudgetList, BudgetView, TeamBudgetView } from '../../domain/types/BudgetViews';
import type { JsonObject } from '../../domain/types/VendorTypes';
import type { BudgetPolicy } from '../services/budgets/BudgetPolicy';
import { budgetUsageAt } from './budgetUsageAt';
import { ARGUMENT_LIMITS } from './readArguments';
import { readBudgetLimits } from './readBudgetLimits';
import { signedIn } from './RunOperations';

export interface BudgetOperationsPorts {
  readonly policy: BudgetPolicy;
  readonly limits: BudgetLimitStore;
  readonly accounts: BudgetAccountReader;
  /** Resolves when what calls of this process have used is in the accounts. */
  readonly usageSettled: () => Promise<void>;
  /** The budgets of teams. Absent: there are none. */
  readonly teams?: {
    readonly policy: BudgetPolicy;
    readonly limits: BudgetLimitStore;
    readonly accounts: BudgetAccountReader;
  };
  /** The app's accounts: only their users may have limits. Absent: any user id may. */
  readonly findUser?: UserLookup;
  /** Receives every change of a limit, at the level info. */
  readonly logger: Logger;
  /** Called after every change. @param userId undefined: it may concern everyone */
  readonly onChange?: (userId?: string) => void;
  /** Milliseconds since the epoch. */
  readonly now?: () => number;
}

/** Every operation throws LLMAuthError if nobody is logged in, and LLMInvalidRequestError for its argument. */
export interface BudgetOperations {
  /** Takes `{ search? }`: how user ids start. Users get their own budget only. */
  readonly 'ai.budgets.list': (actor: Actor, argument?: unknown) => Promise<BudgetList>;
  /**
   * Takes `{ userId?, team?, limits: { day?, month? } }`, each window `{ calls?, tokens?, money? }`. The limits replace
   * all those the user or the team had; `{}` means no limits. Without either, they apply to every user who has none of
   * their own.
   * @throws LLMPermissionError
   */
  readonly 'ai.budgets.set': (actor: Actor, argument: unknown) => Promise<BudgetLimitsView>;
  /** Takes `{ userId?, team? }` and returns to the limits of the settings. @throws LLMPermissionError */
  readonly 'ai.budgets.remove': (actor: Actor, argument?: unknown) => Promise<BudgetLimitsView>;
}

/** Users in a list, and stored rows that are read for it. */
const MAX_LISTED = 500;

export function createBudgetOperations(ports: BudgetOperationsPorts): BudgetOperations {
  const {
    policy,
    limits: store,
    accounts,
    usageSettled,
    teams,
    findUser,
    logger,
    onChange = () => undefined,
    now = Date.now,
  } = ports;

  const budgetOf = (
    userId: string,
    own: StoredBudgetLimits | undefined,
    everyone: StoredBudgetLimits | undefined,
    account: BudgetAccount | undefined,
  ): BudgetView => ({
    userId,
    ...policy.effective(userId, own, everyone),
    usage: budgetUsageAt(userId, account, now()),
  });

  const listOwn = async (userId: string): Promise<BudgetList> => {
    const [own, everyone, stored] = await Promise.all([
      store.find(userId),
      store.find(undefined),
      accounts.find(userId),
    ]);
    return {
      everyone: withoutAuthor(policy.forEveryone(everyone)),
      budgets: [withoutAuthor(budgetOf(userId, own, everyone, stored?.account))],
      isTruncated: false,
    };
  };

  const listAll = async (search: string): Promise<BudgetList> => {
    const [everyone, rows, used] = await Promise.all([
      store.find(undefined),
      store.ofUsers(MAX_LISTED + 1, search),
      accounts.ofMonth(windowsAt(now()).month, MAX_LISTED + 1, search),
    ]);
    const own = new Map(rows.map((row) => [row.userId ?? '', row]));
    const accountsById = new Map(used.map((account) => [account.userId, account]));
    const configured = policy.configuredUsers().filter((userId) => userId.startsWith(search));
    const userIds = [...new Set([...own.keys(), ...configured, ...accountsById.keys()])];
    // Their accounts are not among those that cost most.
    for (const userId of userIds) {
      if (accountsById.has(userId) || used.length <= MAX_LISTED) continue;
      const stored = await accounts.find(userId);
      if (stored !== undefined) accountsById.set(userId, stored.account);
    }
    const budgets = userIds
      .map((userId) => budgetOf(userId, own.get(userId), everyone, accountsById.get(userId)))
      .sort((left, right) => closeness(right) - closeness(left) || compare(left.userId, right.userId));
    return {
      everyone: policy.forEveryone(everyone),
      budgets: budgets.slice(0, MAX_LISTED),
      isTruncated: budgets.length > MAX_LISTED,
      teams: await listTeams(),
    };
  };

  const listTeams = async (): Promise<readonly TeamBudgetView[]> => {
    if (teams === undefined) return [];
    const [rows, used] = await Promise.all([
      teams.limits.ofUsers(MAX_LISTED),
      teams.accounts.ofMonth(windowsAt(now()).month, MAX_LISTED),
    ]);
    const own = new Map(rows.map((row) => [row.userId ?? '', row]));
    const accountsByTeam = new Map(used.map((account) => [account.userId, account]));
    return [...new Set([...own.keys(), ...accountsByTeam.keys()])]
      .sort(compare)
      .slice(0, MAX_LISTED)
      .map((team) => ({
        team,
        ...teams.policy.forEveryone(own.get(team)),
        usage: budgetUsageAt(team, accountsByTeam.get(team), now()),
      }));
  };

  /** The stores of the users' budgets or, if the argument names a team, those of the teams'. */
  const subjectIn = (fields: JsonObject): BudgetSubject => {
    const userId = optionalValue(fields, 'userId', readUserId);
    const team = optionalValue(fields, 'team', readUserId);
    if (team === undefined) return { id: userId, policy, limits: store, title: subjectOf(userId) };
    if (userId !== undefined) throw invalid('team', 'cannot be combined with "userId"');
    if (teams === undefined) throw invalid('team', 'is not supported by this host');
    return { id: team, team, ...teams, title: `The budget of the team ${JSON.stringify(team)}` };
  };

  const currentOf = async ({ id, team, policy: ofSubject, limits }: BudgetSubject): Promise<BudgetLimitsView> =>
    team === undefined ? current(id) : ofSubject.forEveryone(await limits.find(id));

  const current = async (userId: string | undefined): Promise<BudgetLimitsView> => {
    const everyone = await store.find(undefined);
    return userId === undefined
      ? policy.forEveryone(everyone)
      : policy.effective(userId, await store.find(userId), everyone);
  };

  return {
    async 'ai.budgets.list'(actor, argument = {}) {
      signedIn(actor);
      const search = optionalValue(readObject(argument, ['search']), 'search', line(ARGUMENT_LIMITS.id));
      await usageSettled();
      return actor.isAdmin === true ? listAll(search ?? '') : listOwn(actor.userId);
    },
    async 'ai.budgets.set'(actor, argument) {
      assertAdmin(actor);
      const fields = readObject(argument, ['userId', 'team', 'limits']);
      const subject = subjectIn(fields);
      const { id, team } = subject;
      const limits = required(fields, 'limits', readBudgetLimits);
      if (id !== undefined && team === undefined && findUser !== undefined && (await findUser(id)) === undefined)
        throw new LLMInvalidRequestError(`There is no user "${id}".`, { path: 'userId' });
      await subject.limits.set({ userId: id, limits, changedAt: now(), changedBy: actor.userId });
      subject.policy.forget(id);
      onChange(team === undefined ? id : undefined);
      logger.info(`${subject.title} was set.`, { by: actor.userId, limits });
      return currentOf(subject);
    },
    async 'ai.budgets.remove'(actor, argument = {}) {
      assertAdmin(actor);
      const subject = subjectIn(readObject(argument, ['userId', 'team']));
      const isRemoved = await subject.limits.remove(subject.id);
      subject.policy.forget(subject.id);
      onChange(subject.team === undefined ? subject.id : undefined);
      if (isRemoved) logger.info(`${subject.title} was reset to the settings.`, { by: actor.userId });
      return currentOf(subject);
    },
  };
}

interface BudgetSubject {
  /** Undefined: every user who has no limits of their own. */
  readonly id: string | undefined;
  readonly team?: string;
  readonly policy: BudgetPolicy;
  readonly limits: BudgetLimitStore;
  readonly title: string;
}

function assertAdmin(actor: Actor): void {
  signedIn(actor);
  if (actor.isAdmin !== true) throw new LLMPermissionError('Only administrators may change budgets.');
}

const readUserId = line(ARGUMENT_LIMITS.id);

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

function subjectOf(userId: string | undefined): string {
  return userId === undefined ? 'The budget of everyone' : `The budget of the user ${JSON.stringify(userId)}`;
}
