/** Budgets and rate limits of users, API tokens and teams. */
import { defineFeature } from '../../host/Feature';
import { isStoreOutage } from '../ai/domain/errors/LLMErrors';
import { BUDGET_OPERATIONS } from './application/budgetOperations';
import { Budgets } from './application/Budgets';
import { UserLimiter } from './application/UserLimiter';
import { LIMIT_COLLECTIONS } from './collections';
import { DEFAULT_USER_LIMITS } from './domain/UserLimits';
import { BUDGET_LIMITS, DocumentBudgetLimits } from './infrastructure/DocumentBudgetLimits';
import { BUDGETS, DocumentBudgetStore } from './infrastructure/DocumentBudgetStore';
import { DocumentRateStore, TOKEN_RATES } from './infrastructure/DocumentRateStore';
import { DocumentUserLoads, USER_LOADS } from './infrastructure/DocumentUserLoads';

export const limits = defineFeature({
  name: 'limits',
  collections: LIMIT_COLLECTIONS,
  operations: BUDGET_OPERATIONS,
  async open({ settings, database, tokens }) {
    const accounts = new DocumentBudgetStore(database.collection(BUDGETS));
    const rates = new DocumentRateStore(database.collection(TOKEN_RATES));
    // Another process serves the same users, unless the database is open here only.
    const userLoads = database.isExclusive ? undefined : new DocumentUserLoads(database.collection(USER_LOADS));
    await Promise.all([accounts.ready(), rates.ready(), userLoads?.ready()]);
    const userLimits = new DocumentBudgetLimits(database.collection(BUDGET_LIMITS));
    const teamBudgets = new DocumentBudgetStore(database.collection(BUDGETS), 'team');
    const teamLimits = new DocumentBudgetLimits(database.collection(BUDGET_LIMITS), 'team');
    const userLimiter = new UserLimiter({
      limits: { ...DEFAULT_USER_LIMITS, ...settings.userLimits },
      store: userLoads,
    });
    return {
      ...{ accounts, userLimits, teamBudgets, teamLimits, userLimiter },
      ports: {
        budgets: accounts,
        budgetLimits: userLimits,
        apiTokens: {
          tokens: { find: (id) => tokens.find(id) },
          budgets: new DocumentBudgetStore(database.collection(BUDGETS), 'token'),
          rates,
          teamBudgets,
          teamLimits,
        },
        userLimiter,
      },
    };
  },
  start: (
    { ai, accounts: findUser, searchUsers, notify, logger },
    { accounts, userLimits, teamBudgets, teamLimits, userLimiter },
  ) => ({
    services: {
      budgets: new Budgets({
        policy: ai.budgetPolicy,
        limits: userLimits,
        accounts,
        usageSettled: ai.usageSettled,
        teams: ai.apiTokens && { policy: ai.apiTokens.teamPolicy, limits: teamLimits, accounts: teamBudgets },
        onChange: (userId) => notify('budgets', userId),
        logger,
        findUser,
        searchUsers,
      }),
    },
    userLimiter,
    forgetUser(userId, keepsLimits) {
      if (!keepsLimits) userLimiter.forget(userId);
    },
    async close() {
      try {
        await userLimiter.close();
      } catch (error) {
        // Without its database, a process ends all the same.
        if (!isStoreOutage(error)) throw error;
      }
    },
  }),
});
