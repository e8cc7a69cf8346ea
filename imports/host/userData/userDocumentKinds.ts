/** What the AI module stores about a user. */
import { BACKGROUND_CALLS } from '../../business/ai/infrastructure/persistence/background/DocumentBackgroundCalls';
import { BATCHES } from '../../business/ai/infrastructure/persistence/batches/DocumentBatchStore';
import { BATCH_REQUESTS, USER_BATCHES } from '../../business/batches/infrastructure/DocumentUserBatches';
import { BUDGET_LIMITS } from '../../business/limits/infrastructure/DocumentBudgetLimits';
import { BUDGETS, budgetId } from '../../business/limits/infrastructure/DocumentBudgetStore';
import { RESPONSE_CACHE } from '../../business/ai/infrastructure/persistence/cache/DocumentResponseCache';
import { CHAT_TURNS } from '../../business/ai/infrastructure/persistence/conversations/DocumentChatTurns';
import { MESSAGES } from '../../business/ai/infrastructure/persistence/conversations/DocumentConversationStore';
import { JOB_STATES } from '../../business/ai/infrastructure/persistence/jobs/DocumentJobStates';
import { MCP_ACCOUNTS } from '../../business/mcp/infrastructure/DocumentMcpAccounts';
import { MCP_SERVERS } from '../../business/mcp/infrastructure/DocumentMcpServers';
import { MEMORIES } from '../../business/memory/infrastructure/DocumentMemoryRecords';
import { PROMPTS } from '../../business/prompts/infrastructure/DocumentPromptStore';
import { USER_LOADS, userLoadId } from '../../business/limits/infrastructure/DocumentUserLoads';
import { keyOfWindow, WINDOWS_COLLECTION } from '../../database/FixedWindowLimiter';
import { REQUEST_BODIES, REQUESTS } from '../../business/requestLog/infrastructure/DocumentRequestStore';
import {
  CONVERSATION_ITEMS,
  CONVERSATIONS,
} from '../../business/ai/infrastructure/persistence/responses/DocumentResponseConversations';
import { RESPONSE_EVENTS } from '../../business/ai/infrastructure/persistence/responses/DocumentResponseEvents';
import { RESPONSES } from '../../business/ai/infrastructure/persistence/responses/DocumentResponseStore';
import { ROUTING_RULES } from '../../business/ai/infrastructure/persistence/routing/DocumentRoutingRules';
import { RUN_EVENTS } from '../../business/ai/infrastructure/persistence/runs/DocumentRunEvents';
import { DELTAS_COLLECTION } from '../../business/ai/infrastructure/persistence/runs/LiveTextStore';
import { RUN_SIGNALS } from '../../business/ai/infrastructure/persistence/runs/DocumentRunSignals';
import { RUN_COMMANDS, RUNS, TOOL_CALLS } from '../../business/ai/infrastructure/persistence/runs/runDocuments';
import { STATS_COLLECTION } from '../../business/ai/infrastructure/persistence/runs/RunStatistics';
import { RUN_ITEMS } from '../../business/ai/infrastructure/persistence/runs/RunTranscripts';
import { TOOL_TASKS } from '../../business/ai/infrastructure/persistence/toolTasks/DocumentToolTasks';
import { VENDOR_OBJECTS } from '../../business/ai/infrastructure/persistence/vendorObjects/DocumentVendorObjects';
import { authored, ownedBy } from '../../business/privacy/infrastructure/UserDocumentKind';
import type { UserDocumentKind } from '../../business/privacy/infrastructure/UserDocumentKind';

const OF_USER = ownedBy('userId');
const OF_RUN = { part: 'executionId', of: { collection: RUNS, ...OF_USER } } as const;

export const AI_USER_DOCUMENTS = [
  {
    kind: 'runs',
    collection: RUNS,
    owner: OF_USER,
    json: ['input', 'transcript', 'response', 'plan', 'openCalls.*'],
    hidden: ['owner', 'fence', 'words', 'usedWords'],
  },
  { kind: 'toolCalls', collection: TOOL_CALLS, owner: OF_RUN, json: ['call'], hidden: ['fence'] },
  { kind: 'runItems', collection: RUN_ITEMS, owner: OF_RUN, json: ['items'], hidden: ['fence'] },
  { kind: 'liveTexts', collection: DELTAS_COLLECTION, owner: OF_RUN },
  { kind: 'liveEvents', collection: RUN_EVENTS, owner: OF_USER, json: ['events'], hidden: ['origin', 'batch'] },
  { kind: 'commands', collection: RUN_COMMANDS, owner: OF_RUN, json: ['order'] },
  { kind: 'signals', collection: RUN_SIGNALS, owner: OF_RUN, json: ['payload'] },
  { kind: 'statistics', collection: STATS_COLLECTION, owner: OF_USER, isSmall: true },
  { kind: 'messages', collection: MESSAGES, owner: OF_USER },
  {
    kind: 'chatTurns',
    collection: CHAT_TURNS,
    owner: OF_USER,
    json: ['request', 'outcome'],
    hidden: ['owner', 'place', 'attempts'],
  },
  { kind: 'responses', collection: RESPONSES, owner: OF_USER, json: ['stored'] },
  { kind: 'cachedResponses', collection: RESPONSE_CACHE, owner: OF_USER, json: ['response'] },
  {
    kind: 'responseEvents',
    collection: RESPONSE_EVENTS,
    owner: OF_USER,
    json: ['frames', 'request'],
    hidden: ['owner'],
  },
  { kind: 'conversations', collection: CONVERSATIONS, owner: OF_USER, json: ['metadata'] },
  { kind: 'conversationItems', collection: CONVERSATION_ITEMS, owner: OF_USER, json: ['item'] },
  { kind: 'requests', collection: REQUESTS, owner: OF_USER, hidden: ['words'], isSmall: true },
  {
    kind: 'requestBodies',
    collection: REQUEST_BODIES,
    owner: OF_USER,
    json: ['request', 'response', 'exchanges.*.request', 'exchanges.*.response'],
  },
  {
    kind: 'mcpAccounts',
    collection: MCP_ACCOUNTS,
    owner: OF_USER,
    // Without what is sealed.
    fields: { server: 1, userId: 1, listsTools: 1, signedInAt: 1 },
    isSmall: true,
  },
  { kind: 'toolTasks', collection: TOOL_TASKS, owner: OF_USER, json: ['result'], hidden: ['owner'] },
  { kind: 'vendorObjects', collection: VENDOR_OBJECTS, owner: OF_USER, isSmall: true },
  { kind: 'backgroundCalls', collection: BACKGROUND_CALLS, owner: OF_USER, isSmall: true },
  { kind: 'batches', collection: BATCHES, owner: OF_USER, json: ['parts'], hidden: ['owner'] },
  {
    kind: 'userBatches',
    collection: USER_BATCHES,
    owner: OF_USER,
    json: ['origin', 'error'],
    hidden: ['owner'],
    isSmall: true,
  },
  { kind: 'batchRequests', collection: BATCH_REQUESTS, owner: OF_USER, json: ['request', 'result'] },
  { kind: 'memories', collection: MEMORIES, owner: OF_USER, hidden: ['revision', 'vector', 'model'] },
  { kind: 'prompts', collection: PROMPTS, owner: ownedBy('owner'), json: ['versions.*.content'] },
  // What an admin has set or shared belongs to the host.
  authored(PROMPTS, 'userId', (userId) => ({ owner: { $ne: userId } })),
  authored(BUDGET_LIMITS, 'changedBy'),
  authored(ROUTING_RULES, 'changedBy'),
  authored(MCP_SERVERS, 'changedBy'),
  authored(JOB_STATES, 'pausedBy'),
  {
    kind: 'budgets',
    collection: BUDGETS,
    owner: { selector: (userId) => ({ _id: budgetId(userId) }) },
    json: ['holds', 'paid'],
    isLimit: true,
  },
  {
    kind: 'budgets',
    collection: BUDGET_LIMITS,
    owner: { selector: (userId) => ({ _id: budgetId(userId) }) },
    // Who set it is somebody else.
    hidden: ['changedBy'],
    isLimit: true,
    isSmall: true,
  },
  {
    kind: 'rateWindows',
    collection: WINDOWS_COLLECTION,
    owner: { matches: (documentId, userId) => keyOfWindow(documentId)[1] === userId },
    isLimit: true,
    isSmall: true,
  },
  {
    kind: 'rateWindows',
    collection: USER_LOADS,
    owner: { selector: (userId) => ({ _id: userLoadId(userId) }) },
    json: ['processes'],
    isLimit: true,
  },
] as const satisfies readonly UserDocumentKind[];
