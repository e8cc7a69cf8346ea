/** The log of model calls, and the export of a run with its calls. */
import { maxEntriesFor } from '../../database/bounds/EntryBound';
import { defineFeature } from '../../host/Feature';
import { RunExporter } from '../ai/application/operations/RunExporter';
import { RUN_EXPORT_OPERATIONS } from '../ai/application/operations/runExportOperations';
import { REQUEST_OPERATIONS } from './application/requestOperations';
import { REQUEST_COLLECTIONS } from './collections';
import { createRequestLog } from './createRequestLog';

/** The share of the heap for the entries that the embedded database has in memory. */
const SHARE_OF_HEAP = 1 / 3;
/** Calls in the export of a run. */
const MAX_EXPORTED_REQUESTS = 1_000;

export const requestLog = defineFeature({
  name: 'requestLog',
  collections: REQUEST_COLLECTIONS,
  operations: [...REQUEST_OPERATIONS, ...RUN_EXPORT_OPERATIONS],
  async open({ settings, database, bounds, notify }) {
    const log = createRequestLog(settings.requestLog ?? {}, {
      database,
      onStored: (userId) => notify('requests', userId),
      bounds: { maxEntries: maxEntriesFor(database, SHARE_OF_HEAP, Infinity), bodies: bounds },
    });
    await log.ready();
    return { log, ports: log.log === undefined ? {} : { requestLog: log.log } };
  },
  start: ({ stores, searchUsers }, { log }) => ({
    services: {
      requestLog: { ...log, searchUsers },
      runExporter: new RunExporter({
        runs: stores.ports.runs,
        requestsOf: (executionId) => log.requests.ofRun(executionId, MAX_EXPORTED_REQUESTS),
      }),
    },
    flush: () => log.flush(),
    close: () => log.flush(),
  }),
});
