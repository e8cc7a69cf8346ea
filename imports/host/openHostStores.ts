/** Opens what a host keeps in its database and several of its services share. */
import type { DocumentDatabase } from '../database/DocumentDatabase';
import { openBackgroundCalls } from '../business/ai/infrastructure/persistence/background/DocumentBackgroundCalls';
import { openUserBatches } from '../business/batches/infrastructure/DocumentUserBatches';
import { openBatchStore } from '../business/ai/infrastructure/persistence/batches/DocumentBatchStore';
import { boundsFor } from '../database/bounds/StorageBounds';
import type { StorageBounds } from '../database/bounds/StorageBounds';
import { BUDGET_LIMITS, DocumentBudgetLimits } from '../business/limits/infrastructure/DocumentBudgetLimits';
import { BUDGETS, DocumentBudgetStore } from '../business/limits/infrastructure/DocumentBudgetStore';
import { openChatTurns } from '../business/ai/infrastructure/persistence/conversations/DocumentChatTurns';
import {
  DocumentConversationStore,
  MESSAGES,
} from '../business/ai/infrastructure/persistence/conversations/DocumentConversationStore';
import { DocumentInbox } from '../business/ai/infrastructure/persistence/inbox/DocumentInbox';
import { openPromptStore } from '../business/prompts/infrastructure/DocumentPromptStore';
import { DocumentRateStore, TOKEN_RATES } from '../business/limits/infrastructure/DocumentRateStore';
import { DocumentUserLoads, USER_LOADS } from '../business/limits/infrastructure/DocumentUserLoads';
import { openResponseConversations } from '../business/ai/infrastructure/persistence/responses/DocumentResponseConversations';
import { openResponseEvents } from '../business/ai/infrastructure/persistence/responses/DocumentResponseEvents';
import { openResponseStore } from '../business/ai/infrastructure/persistence/responses/DocumentResponseStore';
import {
  DocumentRoutingRules,
  ROUTING_RULES,
} from '../business/ai/infrastructure/persistence/routing/DocumentRoutingRules';
import { DocumentQueuedRuns } from '../business/ai/infrastructure/persistence/runs/DocumentQueuedRuns';
import { openRunEvents } from '../business/ai/infrastructure/persistence/runs/DocumentRunEvents';
import { DocumentRunList } from '../business/ai/infrastructure/persistence/runs/DocumentRunList';
import { openRunStore } from '../business/ai/infrastructure/persistence/runs/DocumentRunStore';
import { RUNS, TOOL_CALLS } from '../business/ai/infrastructure/persistence/runs/runDocuments';
import { REQUESTS } from '../business/requestLog/infrastructure/DocumentRequestStore';
import { openToolTasks } from '../business/ai/infrastructure/persistence/toolTasks/DocumentToolTasks';
import { DocumentUsageReports } from '../business/usage/infrastructure/DocumentUsageReports';
import { openVendorObjects } from '../business/ai/infrastructure/persistence/vendorObjects/DocumentVendorObjects';

export type HostStores = Awaited<ReturnType<typeof openHostStores>>;

/**
 * Creates the indexes, too.
 * @throws errors of the database
 */
export async function openHostStores(database: DocumentDatabase, storage: Partial<StorageBounds> = {}) {
  const bounds = boundsFor(database, storage);
  const memory = new DocumentConversationStore(database.collection(MESSAGES));
  const budgets = new DocumentBudgetStore(database.collection(BUDGETS));
  const rates = new DocumentRateStore(database.collection(TOKEN_RATES));
  // Another process serves the same users, unless the database is open here only.
  const userLoads = database.isExclusive ? undefined : new DocumentUserLoads(database.collection(USER_LOADS));
  const runList = new DocumentRunList(database);
  const [
    responses,
    conversations,
    responseEvents,
    vendorObjects,
    batches,
    userBatches,
    backgroundCalls,
    prompts,
    runs,
    turns,
    runEvents,
    toolTasks,
  ] = await Promise.all([
    openResponseStore(database, { bounds }),
    openResponseConversations(database, bounds),
    openResponseEvents(database, { bounds }),
    openVendorObjects(database),
    openBatchStore(database),
    openUserBatches(database),
    openBackgroundCalls(database),
    openPromptStore(database),
    openRunStore(database),
    openChatTurns(database),
    database.isExclusive ? undefined : openRunEvents(database),
    openToolTasks(database),
    memory.ready(),
    budgets.ready(),
    rates.ready(),
    userLoads?.ready(),
    runList.ready(),
  ]);
  return {
    memory,
    turns,
    responses,
    conversations,
    responseEvents,
    vendorObjects,
    batches,
    userBatches,
    backgroundCalls,
    prompts,
    runs,
    runEvents,
    toolTasks,
    runList,
    bounds,
    queuedRuns: new DocumentQueuedRuns(database.collection(RUNS)),
    inbox: new DocumentInbox(database),
    reports: new DocumentUsageReports(database.collection(REQUESTS), database.collection(TOOL_CALLS)),
    budgets,
    budgetLimits: new DocumentBudgetLimits(database.collection(BUDGET_LIMITS)),
    tokenBudgets: new DocumentBudgetStore(database.collection(BUDGETS), 'token'),
    teamBudgets: new DocumentBudgetStore(database.collection(BUDGETS), 'team'),
    teamLimits: new DocumentBudgetLimits(database.collection(BUDGET_LIMITS), 'team'),
    rates,
    userLoads,
    routingRules: new DocumentRoutingRules(database.collection(ROUTING_RULES)),
  };
}
