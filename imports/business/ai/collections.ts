/** What the AI module stores. */
import { authoredBy, ownedBy } from '../../database/StoredCollection';
import type { StoredCollection } from '../../database/StoredCollection';
import { SCHEDULES } from './infrastructure/jobs/ScheduleTimes';
import { BACKGROUND_CALLS } from './infrastructure/persistence/background/DocumentBackgroundCalls';
import { BATCHES } from './infrastructure/persistence/batches/DocumentBatchStore';
import { RESPONSE_CACHE } from './infrastructure/persistence/cache/DocumentResponseCache';
import { CHAT_TURNS } from './infrastructure/persistence/conversations/DocumentChatTurns';
import { MESSAGES } from './infrastructure/persistence/conversations/DocumentConversationStore';
import { JOB_STATES } from './infrastructure/persistence/jobs/DocumentJobStates';
import {
  CONVERSATION_ITEMS,
  CONVERSATIONS,
} from './infrastructure/persistence/responses/DocumentResponseConversations';
import { RESPONSE_EVENTS } from './infrastructure/persistence/responses/DocumentResponseEvents';
import { RESPONSES } from './infrastructure/persistence/responses/DocumentResponseStore';
import { ROUTING_RULES } from './infrastructure/persistence/routing/DocumentRoutingRules';
import { PROCESS_WRITES } from '../../database/meteor/WriteRelay';
import { RUN_EVENT_WATCHERS, RUN_EVENTS } from './infrastructure/persistence/runs/DocumentRunEvents';
import { RUN_SIGNALS } from './infrastructure/persistence/runs/DocumentRunSignals';
import { DELTAS_COLLECTION } from './infrastructure/persistence/runs/LiveTextStore';
import { RUN_COMMANDS, RUN_OWNERS, RUNS, TOOL_CALLS } from './infrastructure/persistence/runs/runDocuments';
import { STATS_COLLECTION } from './infrastructure/persistence/runs/RunStatistics';
import { RUN_ITEMS } from './infrastructure/persistence/runs/RunTranscripts';
import { TOOL_TASKS } from './infrastructure/persistence/toolTasks/DocumentToolTasks';
import { VENDOR_OBJECTS } from './infrastructure/persistence/vendorObjects/DocumentVendorObjects';

const BY_USER = ownedBy('userId');
const BY_RUN = { part: 'executionId', of: { collection: RUNS, ...BY_USER } } as const;
/** Whose content it is. */
const USER = { field: 'userId' } as const;
const OWNER_OF_RUN = { run: 'executionId' } as const;

export const AI_COLLECTIONS = [
  {
    name: RUNS,
    bound: 'account',
    content: {
      content: [
        'input',
        'output',
        'transcript',
        'response',
        'compaction',
        'plan',
        'openCalls.*',
        'messages.*',
        'title',
        'metadata',
        'comment',
        'argumentsHash',
        'error.message',
      ],
      owner: USER,
    },
    ofUsers: [
      {
        kind: 'runs',
        owner: BY_USER,
        json: ['input', 'output', 'transcript', 'response', 'plan', 'openCalls.*', 'messages.*'],
        hidden: ['owner', 'fence', 'words', 'usedWords'],
      },
    ],
  },
  {
    name: TOOL_CALLS,
    bound: 'account',
    content: {
      content: ['arguments', 'argumentsHash', 'result', 'note', 'error', 'call', 'input', 'answers'],
      owner: USER,
    },
    ofUsers: [{ kind: 'toolCalls', owner: BY_RUN, json: ['call'], hidden: ['fence'] }],
  },
  {
    name: RUN_ITEMS,
    bound: 'account',
    content: { content: ['items'], owner: USER },
    ofUsers: [{ kind: 'runItems', owner: BY_RUN, json: ['items'], hidden: ['fence'] }],
  },
  {
    name: DELTAS_COLLECTION,
    bound: 'brief',
    content: { content: ['text'], owner: OWNER_OF_RUN },
    ofUsers: [{ kind: 'liveTexts', owner: BY_RUN }],
  },
  {
    name: RUN_EVENTS,
    bound: 'brief',
    content: { content: ['events'], owner: USER },
    ofUsers: [{ kind: 'liveEvents', owner: BY_USER, json: ['events'], hidden: ['origin', 'batch'] }],
  },
  {
    name: RUN_COMMANDS,
    bound: 'brief',
    content: { content: ['order'], owner: OWNER_OF_RUN },
    ofUsers: [{ kind: 'commands', owner: BY_RUN, json: ['order'] }],
  },
  {
    name: RUN_SIGNALS,
    bound: 'account',
    content: { content: ['payload'], owner: OWNER_OF_RUN },
    ofUsers: [{ kind: 'signals', owner: BY_RUN, json: ['payload'] }],
  },
  {
    name: STATS_COLLECTION,
    bound: 'small',
    content: null,
    ofUsers: [{ kind: 'statistics', owner: BY_USER, isSmall: true }],
  },
  {
    name: MESSAGES,
    bound: 'account',
    content: { content: ['text'], owner: USER },
    kept: { by: 'messages', field: 'storedAt' },
    ofUsers: [{ kind: 'messages', owner: BY_USER }],
  },
  {
    name: CHAT_TURNS,
    bound: 'account',
    content: { content: ['request', 'outcome'], owner: USER },
    ofUsers: [
      { kind: 'chatTurns', owner: BY_USER, json: ['request', 'outcome'], hidden: ['owner', 'place', 'attempts'] },
    ],
  },
  {
    name: RESPONSES,
    bound: 'evicted',
    content: { content: ['stored'], owner: USER },
    kept: { by: 'responses', field: 'usedAt' },
    ofUsers: [{ kind: 'responses', owner: BY_USER, json: ['stored'] }],
  },
  {
    name: RESPONSE_CACHE,
    bound: 'evicted',
    content: { content: ['response'], owner: USER },
    ofUsers: [{ kind: 'cachedResponses', owner: BY_USER, json: ['response'] }],
  },
  {
    name: RESPONSE_EVENTS,
    bound: 'evicted',
    content: { content: ['frames', 'request'], owner: USER },
    ofUsers: [{ kind: 'responseEvents', owner: BY_USER, json: ['frames', 'request'], hidden: ['owner'] }],
  },
  {
    name: CONVERSATIONS,
    bound: 'evicted',
    content: { content: ['metadata'], owner: USER },
    kept: { by: 'conversations', field: 'usedAt' },
    ofUsers: [{ kind: 'conversations', owner: BY_USER, json: ['metadata'] }],
  },
  {
    name: CONVERSATION_ITEMS,
    bound: 'evicted',
    content: { content: ['item'], owner: USER },
    kept: { by: 'conversations', field: 'usedAt' },
    ofUsers: [{ kind: 'conversationItems', owner: BY_USER, json: ['item'] }],
  },
  {
    name: TOOL_TASKS,
    bound: 'account',
    content: { content: ['note', 'result', 'error'], owner: USER },
    ofUsers: [{ kind: 'toolTasks', owner: BY_USER, json: ['result'], hidden: ['owner'] }],
  },
  {
    name: VENDOR_OBJECTS,
    bound: 'small',
    content: null,
    ofUsers: [{ kind: 'vendorObjects', owner: BY_USER, isSmall: true }],
  },
  {
    name: BACKGROUND_CALLS,
    bound: 'small',
    content: null,
    ofUsers: [{ kind: 'backgroundCalls', owner: BY_USER, isSmall: true }],
  },
  {
    name: BATCHES,
    bound: 'account',
    content: null,
    ofUsers: [{ kind: 'batches', owner: BY_USER, json: ['parts'], hidden: ['owner'] }],
  },
  // What an admin has set belongs to the host.
  { name: ROUTING_RULES, bound: 'operators', content: null, ofUsers: [authoredBy('changedBy')] },
  // An error may quote what a task was working on.
  {
    name: JOB_STATES,
    bound: 'operators',
    content: { content: ['error'], owner: 'host' },
    ofUsers: [authoredBy('pausedBy')],
  },
  // Records of processes, and the app's own schedules.
  { name: RUN_OWNERS, bound: 'operators', content: null, ofUsers: [] },
  { name: RUN_EVENT_WATCHERS, bound: 'operators', content: null, ofUsers: [] },
  { name: PROCESS_WRITES, bound: 'operators', content: null, ofUsers: [] },
  { name: SCHEDULES, bound: 'operators', content: null, ofUsers: [] },
] as const satisfies readonly StoredCollection[];
