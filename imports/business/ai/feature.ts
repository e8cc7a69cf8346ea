/** Runs, and everything that people read and do with them. */
import { defineFeature, nothingToOpen } from '../../host/Feature';
import { Inbox } from './application/operations/Inbox';
import { INBOX_OPERATIONS } from './application/operations/inboxOperations';
import { MODEL_OPERATIONS } from './application/operations/modelOperations';
import { Queue } from './application/operations/Queue';
import { QUEUE_OPERATIONS } from './application/operations/queueOperations';
import { RoutingAdministration } from './application/operations/RoutingAdministration';
import { ROUTING_OPERATIONS } from './application/operations/routingOperations';
import { RUN_OPERATIONS } from './application/operations/runCommandOperations';
import { RunList } from './application/operations/RunList';
import { RUN_LIST_OPERATIONS } from './application/operations/runListOperations';
import { TOOL_OPERATIONS } from './application/operations/toolOperations';
import { AI_COLLECTIONS } from './collections';
import { isStoreOutage } from './domain/errors/LLMErrors';
import { ContentRetention } from './infrastructure/persistence/ContentRetention';
import { RunRetention } from './infrastructure/persistence/runs/RunRetention';
import { VENDOR_ROWS } from './infrastructure/vendors/vendors';

export const ai = defineFeature({
  name: 'ai',
  collections: AI_COLLECTIONS,
  operations: [
    ...QUEUE_OPERATIONS,
    ...ROUTING_OPERATIONS,
    ...MODEL_OPERATIONS,
    ...INBOX_OPERATIONS,
    ...RUN_OPERATIONS,
    ...RUN_LIST_OPERATIONS,
    ...TOOL_OPERATIONS,
  ],
  open: nothingToOpen,
  async start({
    settings,
    database,
    collections,
    ai: module,
    runs,
    stores,
    jobs,
    access,
    logger,
    notify,
    searchUsers,
  }) {
    const retention = new RunRetention(database, {
      endParked: (executionId, reason) => module.loop.claims.endParked(executionId, reason),
      times: settings.jobs?.retention,
      collections,
    });
    await retention.ready();
    retention.start();
    const contentRetention = new ContentRetention(database, collections, { times: settings.contentTimes ?? {} });
    contentRetention.start();
    module.telemetry.metrics.observe('bolide.queue.depth', async () => {
      try {
        return [{ value: (await stores.queuedRuns.waiting(1)).total }];
      } catch (error) {
        // It is unknown, then, which the absence of the metric says.
        if (isStoreOutage(error)) return [];
        throw error;
      }
    });
    return {
      services: {
        models: { providers: module.providers, access, vendorModels: (vendor) => VENDOR_ROWS[vendor] },
        queue: new Queue({
          jobs,
          runs: stores.queuedRuns,
          ownerOf: runs.ownerOf,
          runNow: (executionId) => module.queue.runNow(executionId),
          onChange: () => notify('queue'),
          logger,
        }),
        routing: new RoutingAdministration({
          routing: module.routing,
          store: stores.ports.routingRules,
          providers: module.providers,
          health: () => module.manager.health(),
          onChange: () => notify('routing'),
          logger,
        }),
        inbox: new Inbox({
          inbox: stores.inbox,
          ownerOf: runs.ownerOf,
          onDismissed: (_executionId, ownerId) => notify('runs', ownerId),
        }),
        runCommands: runs.commands,
        runList: new RunList({
          list: stores.runList,
          queries: runs.queries,
          ownerOf: runs.ownerOf,
          searchUsers,
          removeEnded: (executionId) => retention.removeEnded(executionId),
          onChange: (ownerId) => notify('runs', ownerId),
        }),
        tools: runs.queries,
      },
      async flush() {
        await runs.settled();
        await module.usageSettled();
      },
      forgetUser(userId) {
        module.loop.local.forget(userId);
        module.conversations.channels.forget(userId);
        runs.events.clear();
      },
      leave: () => runs.leave(),
      async close() {
        await retention.stop();
        await contentRetention.stop();
        await runs.close();
      },
    };
  },
});
