/**
 * What of each collection is users' content, which is stored sealed if the operator wants it. What documents are found,
 * sorted and counted by stays in plain text: ids, names of providers, models, tools and prompts, states, times, tags
 * and numbers.
 */
import { API_TOKENS } from '../../api/auth/DocumentApiTokenStore';
import { CHATS } from '../../api/chat/ChatStore';
import { SESSIONS } from '../../api/dashboard/SessionStore';
import { IDENTITIES } from '../../api/signIn/Identities';
import { SIGN_IN_STATES } from '../../api/signIn/UsedStates';
import { SCHEDULES } from '../../business/ai/infrastructure/jobs/ScheduleTimes';
import { AUDIT, AUDIT_KEYS } from '../../business/audit/infrastructure/DocumentAuditStore';
import { BACKGROUND_CALLS } from '../../business/ai/infrastructure/persistence/background/DocumentBackgroundCalls';
import { BATCHES } from '../../business/ai/infrastructure/persistence/batches/DocumentBatchStore';
import { BUDGET_LIMITS } from '../../business/limits/infrastructure/DocumentBudgetLimits';
import { BUDGETS } from '../../business/limits/infrastructure/DocumentBudgetStore';
import { RESPONSE_CACHE } from '../../business/ai/infrastructure/persistence/cache/DocumentResponseCache';
import { CHAT_TURNS } from '../../business/ai/infrastructure/persistence/conversations/DocumentChatTurns';
import { MESSAGES } from '../../business/ai/infrastructure/persistence/conversations/DocumentConversationStore';
import { BATCH_REQUESTS, USER_BATCHES } from '../../business/batches/infrastructure/DocumentUserBatches';
import { JOB_STATES } from '../../business/ai/infrastructure/persistence/jobs/DocumentJobStates';
import { MCP_ACCOUNTS } from '../../business/mcp/infrastructure/DocumentMcpAccounts';
import { MCP_DEFINITIONS, MCP_SERVERS } from '../../business/mcp/infrastructure/DocumentMcpServers';
import { MEMORIES } from '../../business/memory/infrastructure/DocumentMemoryRecords';
import { PROMPTS } from '../../business/prompts/infrastructure/DocumentPromptStore';
import { TOKEN_RATES } from '../../business/limits/infrastructure/DocumentRateStore';
import { USER_LOADS } from '../../business/limits/infrastructure/DocumentUserLoads';
import { WINDOWS_COLLECTION } from '../../database/FixedWindowLimiter';
import { REQUEST_BODIES, REQUESTS } from '../../business/requestLog/infrastructure/DocumentRequestStore';
import {
  CONVERSATION_ITEMS,
  CONVERSATIONS,
} from '../../business/ai/infrastructure/persistence/responses/DocumentResponseConversations';
import { RESPONSE_EVENTS } from '../../business/ai/infrastructure/persistence/responses/DocumentResponseEvents';
import { RESPONSES } from '../../business/ai/infrastructure/persistence/responses/DocumentResponseStore';
import { ROUTING_RULES } from '../../business/ai/infrastructure/persistence/routing/DocumentRoutingRules';
import { DELTAS_COLLECTION } from '../../business/ai/infrastructure/persistence/runs/LiveTextStore';
import { RUN_SIGNALS } from '../../business/ai/infrastructure/persistence/runs/DocumentRunSignals';
import { RUN_EVENT_WATCHERS, RUN_EVENTS } from '../../business/ai/infrastructure/persistence/runs/DocumentRunEvents';
import {
  RUN_COMMANDS,
  RUN_OWNERS,
  RUNS,
  TOOL_CALLS,
} from '../../business/ai/infrastructure/persistence/runs/runDocuments';
import { STATS_COLLECTION } from '../../business/ai/infrastructure/persistence/runs/RunStatistics';
import { RUN_ITEMS } from '../../business/ai/infrastructure/persistence/runs/RunTranscripts';
import type { ContentRules } from '../../business/privacy/infrastructure/ContentRule';
import { VENDOR_OBJECTS } from '../../business/ai/infrastructure/persistence/vendorObjects/DocumentVendorObjects';
import { TOOL_TASKS } from '../../business/ai/infrastructure/persistence/toolTasks/DocumentToolTasks';
import { COLLECTIONS } from '../../business/providers/infrastructure/factories/createProvidersModule';
import { CONTENT_KEYS } from '../../business/privacy/infrastructure/UserContentKeys';

const OF_USER = { field: 'userId' } as const;
const OF_RUN = { run: 'executionId' } as const;

export const SEALED_CONTENT: ContentRules = {
  [RUNS]: {
    content: [
      'input',
      'transcript',
      'response',
      'compaction',
      'plan',
      'openCalls.*',
      'title',
      'metadata',
      'comment',
      'argumentsHash',
      'error.message',
    ],
    owner: OF_USER,
  },
  [TOOL_CALLS]: { content: ['arguments', 'argumentsHash', 'result', 'note', 'error', 'call', 'input'], owner: OF_USER },
  [RUN_ITEMS]: { content: ['items'], owner: OF_USER },
  [DELTAS_COLLECTION]: { content: ['text'], owner: OF_RUN },
  [RUN_SIGNALS]: { content: ['payload'], owner: OF_RUN },
  [RUN_EVENTS]: { content: ['events'], owner: OF_USER },
  [RUN_EVENT_WATCHERS]: null,
  [RUN_COMMANDS]: { content: ['order'], owner: OF_RUN },
  [CHAT_TURNS]: { content: ['request', 'outcome'], owner: OF_USER },
  [MESSAGES]: { content: ['text'], owner: OF_USER },
  [RESPONSES]: { content: ['stored'], owner: OF_USER },
  [RESPONSE_EVENTS]: { content: ['frames', 'request'], owner: OF_USER },
  [RESPONSE_CACHE]: { content: ['response'], owner: OF_USER },
  [CONVERSATIONS]: { content: ['metadata'], owner: OF_USER },
  [CONVERSATION_ITEMS]: { content: ['item'], owner: OF_USER },
  [REQUESTS]: { content: ['error.message', 'annotations', 'warnings'], owner: OF_USER },
  [REQUEST_BODIES]: { content: ['request', 'response', 'exchanges'], owner: OF_USER },
  [TOOL_TASKS]: { content: ['note', 'result', 'error'], owner: OF_USER },
  [CHATS]: { content: ['messages', 'fingerprint'], owner: OF_USER },
  [BATCH_REQUESTS]: { content: ['request', 'result'], owner: OF_USER },
  // A vector tells what its text is about.
  [MEMORIES]: { content: ['text', 'vector'], owner: OF_USER },
  // Prompts that everyone can use belong to the host.
  [PROMPTS]: { content: ['versions'], owner: { field: 'owner' } },
  // An error may quote what a task was working on.
  [JOB_STATES]: { content: ['error'], owner: 'host' },
  [CONTENT_KEYS]: null,
  [RUN_OWNERS]: null,
  [SCHEDULES]: null,
  [STATS_COLLECTION]: null,
  [VENDOR_OBJECTS]: null,
  [BATCHES]: null,
  [USER_BATCHES]: null,
  [BACKGROUND_CALLS]: null,
  [ROUTING_RULES]: null,
  [BUDGETS]: null,
  [BUDGET_LIMITS]: null,
  [TOKEN_RATES]: null,
  [WINDOWS_COLLECTION]: null,
  [USER_LOADS]: null,
  [API_TOKENS]: null,
  [SESSIONS]: null,
  [IDENTITIES]: null,
  [SIGN_IN_STATES]: null,
  [AUDIT]: null,
  [AUDIT_KEYS]: null,
  // Secrets are sealed by the operator's keys, whatever is set.
  [MCP_SERVERS]: null,
  [MCP_DEFINITIONS]: null,
  [MCP_ACCOUNTS]: null,
  [COLLECTIONS.providers]: null,
  [COLLECTIONS.credentials]: null,
  [COLLECTIONS.authorizations]: null,
  [COLLECTIONS.usage]: null,
  [COLLECTIONS.changes]: null,
};
