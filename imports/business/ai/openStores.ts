/** Opens what the AI module of a host keeps in the database, and several services share. */
import type { StorageBounds } from '../../database/bounds/StorageBounds';
import type { DocumentDatabase } from '../../database/DocumentDatabase';
import { openBackgroundCalls } from './infrastructure/persistence/background/DocumentBackgroundCalls';
import { openBatchStore } from './infrastructure/persistence/batches/DocumentBatchStore';
import { openChatTurns } from './infrastructure/persistence/conversations/DocumentChatTurns';
import {
  DocumentConversationStore,
  MESSAGES,
} from './infrastructure/persistence/conversations/DocumentConversationStore';
import { DocumentInbox } from './infrastructure/persistence/inbox/DocumentInbox';
import { openResponseConversations } from './infrastructure/persistence/responses/DocumentResponseConversations';
import { openResponseEvents } from './infrastructure/persistence/responses/DocumentResponseEvents';
import { openResponseStore } from './infrastructure/persistence/responses/DocumentResponseStore';
import { DocumentRoutingRules, ROUTING_RULES } from './infrastructure/persistence/routing/DocumentRoutingRules';
import { DocumentQueuedRuns } from './infrastructure/persistence/runs/DocumentQueuedRuns';
import { openRunEvents } from './infrastructure/persistence/runs/DocumentRunEvents';
import { DocumentRunList } from './infrastructure/persistence/runs/DocumentRunList';
import { openRunStore } from './infrastructure/persistence/runs/DocumentRunStore';
import { RUNS } from './infrastructure/persistence/runs/runDocuments';
import { openToolTasks } from './infrastructure/persistence/toolTasks/DocumentToolTasks';
import { openVendorObjects } from './infrastructure/persistence/vendorObjects/DocumentVendorObjects';

export type AIStores = Awaited<ReturnType<typeof openStores>>;

/** Creates the indexes, too. @throws errors of the database */
export async function openStores(database: DocumentDatabase, bounds: StorageBounds) {
  const memory = new DocumentConversationStore(database.collection(MESSAGES));
  const runList = new DocumentRunList(database);
  const [
    responses,
    conversations,
    responseEvents,
    vendorObjects,
    batches,
    backgroundCalls,
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
    openBackgroundCalls(database),
    openRunStore(database),
    openChatTurns(database),
    // Another process serves the same users, unless the database is open here only.
    database.isExclusive ? undefined : openRunEvents(database),
    openToolTasks(database),
    memory.ready(),
    runList.ready(),
  ]);
  return {
    /** What the AI module takes. */
    ports: {
      memory,
      turns,
      responses,
      vendorObjects,
      batches,
      backgroundCalls,
      runs,
      routingRules: new DocumentRoutingRules(database.collection(ROUTING_RULES)),
    },
    conversations,
    responseEvents,
    runEvents,
    toolTasks,
    runList,
    queuedRuns: new DocumentQueuedRuns(database.collection(RUNS)),
    inbox: new DocumentInbox(database),
  };
}
