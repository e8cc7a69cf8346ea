/** Who may call the HTTP API: tokens, sessions and identities. And the chats that it keeps. */
import { TOOL_CALLS } from '../business/ai/infrastructure/persistence/runs/runDocuments';
import { BUDGETS, DocumentBudgetStore } from '../business/limits/infrastructure/DocumentBudgetStore';
import { REQUESTS } from '../business/requestLog/infrastructure/DocumentRequestStore';
import { DocumentUsageReports } from '../business/usage/infrastructure/DocumentUsageReports';
import { defineFeature } from '../host/Feature';
import { CHATS, ChatStore } from './chat/ChatStore';
import { API_COLLECTIONS } from './collections';
import { SESSIONS, SessionStore } from './dashboard/SessionStore';
import { IDENTITIES, IdentityStore } from './signIn/Identities';
import { TokenAdministration } from './tokens/TokenAdministration';
import { TOKEN_OPERATIONS } from './tokens/tokenOperations';

export const api = defineFeature({
  name: 'api',
  collections: API_COLLECTIONS,
  operations: TOKEN_OPERATIONS,
  async open({ database, ports }) {
    const chats = new ChatStore(database.collection(CHATS));
    // Another process may serve the dashboard.
    const sessions = new SessionStore(database.collection(SESSIONS));
    const identities = new IdentityStore(database.collection(IDENTITIES));
    await Promise.all([chats.ready(), sessions.ready(), identities.ready()]);
    return { chats, sessions: ports.dashboard?.sessions ?? sessions, identities };
  },
  start: ({ settings, ports, database, tokens, ai, accounts, notify, logger }, { chats, sessions, identities }) => ({
    services: {
      tokens: new TokenAdministration({
        tokens,
        lifetimeMs: settings.tokenLifetimeMs,
        accounts: new DocumentBudgetStore(database.collection(BUDGETS), 'token'),
        usageSettled: ai.usageSettled,
        usage: new DocumentUsageReports(database.collection(REQUESTS), database.collection(TOOL_CALLS)),
        logger,
        onChange: (userId) => notify('tokens', userId),
        findUser: accounts,
      }),
    },
    chats,
    revokeUser: async (userId) => ({
      apiTokens: await tokens.revokeAll(userId),
      identities: await identities.removeOfUser(userId),
      sessions: await sessions.removeOfUser(userId),
    }),
    removeUser: async (userId) => ({ chats: await chats.removeOfUser(userId) }),
    async close() {
      await tokens.settled();
      await ports.dashboard?.sessions.settled();
    },
  }),
});
