/** Streams and statistics of runs. */
import { ANYTHING, FLAG, objectOf, TEXT } from '../jsonSchemas';
import type { RouteDescriptions } from '../RouteDescription';

export const RUN_ROUTES: RouteDescriptions = {
  'GET /api/runs/stream': {
    summary: 'The events of the caller’s runs',
    query: { executionId: TEXT, family: FLAG, brief: FLAG },
    streams: 'always',
  },
  'GET /api/stats': {
    summary: 'Count runs and calls per state, provider and day',
    result: objectOf({ counts: ANYTHING }),
  },
};
