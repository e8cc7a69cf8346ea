/** `/api/runs/stream` and `/api/stats`: what is told of runs over HTTP besides the operations. */
import { toActor } from '../auth/ApiPrincipal';
import type { AddEndpoint } from '../http/Endpoint';
import { streamRunEvents } from './runEventStream';
import type { RunEventStreamPorts } from './runEventStream';
import type { RunRoutePorts } from './RunRoutePorts';

export interface RunRoutesPorts extends Omit<RunEventStreamPorts, 'events' | 'queries'> {
  readonly runs?: RunRoutePorts;
}

/** Added before `/api/runs/:executionId`, which would match the stream. */
export function addRunRoutes(add: AddEndpoint, { runs, ...ports }: RunRoutesPorts): void {
  if (runs === undefined) return;
  add('app', '/api/runs/stream', '/api/runs/stream', {
    method: 'get',
    scope: 'read',
    handler: streamRunEvents({ ...ports, events: runs.events, queries: runs.queries }),
    holds: 'connections',
  });
  add('app', '/api/stats', '/api/stats', {
    method: 'get',
    scope: 'read',
    handler: async ({ principal, response }) => {
      response.json({ counts: await runs.queries.stats(toActor(principal)) });
    },
  });
}
