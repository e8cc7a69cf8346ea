/**
 * Creates what limits model calls: the models and rates of API tokens, the tokens per minute of users, and the budgets
 * of users, tokens and teams.
 */
import { checkBudgets } from './application/checkBudgets';
import { TokenModelLimiter } from './application/TokenModelLimiter';
import type { TokenModelLimiterOptions } from './application/TokenModelLimiter';
import { TokenPolicy } from './application/TokenPolicy';
import { TokenRateLimiter } from './application/TokenRateLimiter';
import { BudgetPolicy } from './application/BudgetPolicy';
import { BudgetReservations } from './application/BudgetReservations';
import type { BudgetSubject } from './application/BudgetReservations';
import type { CallLimiter } from './application/CallLimiter';
import { UserTokenLimiter } from './application/UserTokenLimiter';
import type { UserLimiter } from './application/UserLimiter';
import type { BudgetLimits, BudgetSettings } from '../ai/domain/entities/BudgetAccount';
import type { LimitedToken } from '../ai/domain/types/ApiTokenLimits';
import type { RateAccount } from './domain/RateAccount';
import type { AccountStore } from './domain/AccountStore';
import type { ApiTokenReader } from '../ai/domain/interfaces/ApiTokenReader';
import type { BudgetLimitStore } from './domain/BudgetLimitStore';
import type { BudgetStore } from './domain/BudgetStore';
import type { Logger } from '../ai/domain/interfaces/Logger';
import { omitUndefined } from '../ai/domain/util/omitUndefined';
import { MemoryBudgetStore } from './infrastructure/MemoryBudgetStore';

/** Limits of API tokens, and of the teams that they belong to. */
export interface ApiTokenPorts {
  readonly tokens: ApiTokenReader;
  readonly budgets: BudgetStore;
  readonly rates: AccountStore<RateAccount>;
  readonly teamBudgets: BudgetStore;
  readonly teamLimits: BudgetLimitStore;
}

export interface CallLimitPorts {
  readonly budgets?: BudgetStore;
  readonly budgetLimits?: BudgetLimitStore;
  /** Default: the tokens of requests have no limits. */
  readonly apiTokens?: ApiTokenPorts;
  /** Default: users' tokens per minute have no limit. */
  readonly userLimiter?: UserLimiter;
  readonly logger?: Logger;
  /** Milliseconds since the epoch. Default: the system's. */
  readonly now?: () => number;
}

export interface CallLimits {
  readonly budgetPolicy: BudgetPolicy;
  /** Present if tokens may have limits. */
  readonly apiTokens?: {
    readonly policy: TokenPolicy;
    readonly rates: TokenRateLimiter;
    readonly teamPolicy: BudgetPolicy;
  };
  /** In the order in which they admit calls. */
  limiters(models: Omit<TokenModelLimiterOptions, 'policy'>): readonly CallLimiter[];
  /** Resolves when what all calls so far have used is stored. */
  settled(): Promise<void>;
}

/** @throws LLMInvalidRequestError for a budget that there is not */
export function createCallLimits(settings: BudgetSettings | undefined, ports: CallLimitPorts): CallLimits {
  if (settings !== undefined) checkBudgets(settings, 'budgets');
  const { budgets = new MemoryBudgetStore(), budgetLimits, apiTokens, userLimiter, logger, now } = ports;
  const shared = omitUndefined({ logger, now });
  const budgetPolicy = new BudgetPolicy({ settings, store: budgetLimits });
  const userTokens = userLimiter?.limitsTokens === true ? [new UserTokenLimiter(userLimiter)] : [];
  const users = !budgetPolicy.hasLimits
    ? []
    : [
        new BudgetReservations({
          ...shared,
          store: budgets,
          subjectOf: ({ userId }) => {
            const limits = budgetPolicy.limitsOf(userId);
            const subjectOf = (known: BudgetLimits | undefined): BudgetSubject => ({
              id: userId,
              limits: known,
              name: 'your budget',
            });
            return limits instanceof Promise ? limits.then(subjectOf) : subjectOf(limits);
          },
          countsEveryone: budgetPolicy.isChangeable,
        }),
      ];
  if (apiTokens === undefined)
    return { budgetPolicy, limiters: () => [...userTokens, ...users], settled: () => allSettled(users) };

  const policy = new TokenPolicy({ tokens: apiTokens.tokens, now });
  const rates = new TokenRateLimiter({ ...shared, policy, store: apiTokens.rates });
  const teamPolicy = new BudgetPolicy({ store: apiTokens.teamLimits });
  const ofToken = new BudgetReservations({
    ...shared,
    store: apiTokens.budgets,
    subjectOf: ({ options: { origin } }) => {
      const id = origin?.tokenId;
      if (id === undefined) return undefined;
      const token = policy.find(id);
      return token instanceof Promise ? token.then((found) => tokenSubject(id, found)) : tokenSubject(id, token);
    },
    countsEveryone: true,
  });
  const ofTeam = new BudgetReservations({
    ...shared,
    store: apiTokens.teamBudgets,
    subjectOf: ({ options: { origin } }) => {
      const token = origin?.tokenId === undefined ? undefined : policy.find(origin.tokenId);
      const subjectOf = (team: string | undefined): undefined | Promise<BudgetSubject> =>
        team === undefined ? undefined : teamSubject(team, teamPolicy);
      return token instanceof Promise ? token.then((found) => subjectOf(found?.team)) : subjectOf(token?.team);
    },
    countsEveryone: true,
  });
  return {
    budgetPolicy,
    apiTokens: { policy, rates, teamPolicy },
    settled: () => allSettled([rates, ...users, ofToken, ofTeam]),
    limiters: (models) => [
      new TokenModelLimiter({ policy, ...models }),
      ...userTokens,
      rates,
      ...users,
      ofToken,
      ofTeam,
    ],
  };
}

function tokenSubject(id: string, token: LimitedToken | undefined): BudgetSubject | undefined {
  if (token === undefined) return undefined;
  const { name, budgets: limits } = token;
  const isLimited = limits?.day !== undefined || limits?.month !== undefined;
  return { id, limits: isLimited ? limits : undefined, name: `the budget of the API token "${name}"` };
}

async function teamSubject(team: string, policy: BudgetPolicy): Promise<BudgetSubject> {
  return { id: team, limits: await policy.limitsOf(team), name: `the budget of the team "${team}"` };
}

async function allSettled(limiters: readonly Pick<BudgetReservations, 'settled'>[]): Promise<void> {
  await Promise.all(limiters.map((each) => each.settled()));
}
