/** Reports of what was used. */
import { defineFeature, nothingToOpen } from '../../host/Feature';
import { TOOL_CALLS } from '../ai/infrastructure/persistence/runs/runDocuments';
import { REQUESTS } from '../requestLog/infrastructure/DocumentRequestStore';
import { USAGE_OPERATIONS } from './application/usageOperations';
import { DocumentUsageReports } from './infrastructure/DocumentUsageReports';

export const usage = defineFeature({
  name: 'usage',
  collections: [],
  operations: USAGE_OPERATIONS,
  open: nothingToOpen,
  start: ({ database }) => ({
    services: { usage: new DocumentUsageReports(database.collection(REQUESTS), database.collection(TOOL_CALLS)) },
  }),
});
