/** Lists, sums, ratings and tags of runs over HTTP. `GET /runs` is beside `POST /runs`. */
import type { HttpRequest } from '../http/HttpMessages';
import { fieldsOf } from '../../business/ai/domain/json';
import type { RunListOperations } from '../../business/ai/application/operations/RunListOperations';
import type { AddEndpoint } from '../http/Endpoint';
import { operationRoute } from '../http/operationRoute';
import { queryArgument } from '../http/queryArgument';
import type { RouteHandler } from '../http/RequestContext';

const FILTER = {
  numbers: ['since', 'from', 'to', 'minCost', 'maxCost', 'minDuration', 'maxDuration', 'limit'],
  lists: ['state'],
  flags: ['waiting'],
} as const;

/** Clients that know nothing of pages get as many runs as before there were any. */
const DEFAULT_LIMIT = 200;

/** Responds with `{ runs, total, next? }`. */
export function listRunsByPage(list: RunListOperations['ai.runs.list']): RouteHandler {
  const readQuery = queryArgument(FILTER);
  return operationRoute(list, (request) => ({ limit: DEFAULT_LIMIT, ...readQuery(request) }));
}

export function addRunListRoutes(
  add: AddEndpoint,
  { 'ai.runs.summary': summary, 'ai.runs.rate': rate, 'ai.runs.tag': tag }: Partial<RunListOperations>,
): readonly string[] {
  if (summary === undefined || rate === undefined || tag === undefined) return [];
  add('app', '/runs/summary', '/runs/summary', {
    method: 'get',
    scope: 'read',
    handler: operationRoute(summary, queryArgument(FILTER)),
  });
  add('app', '/runs/:id/rating', '/runs/:id/rating', {
    method: 'post',
    scope: 'generate',
    handler: operationRoute(rate, ofRun),
  });
  add('app', '/runs/:id/tags', '/runs/:id/tags', {
    method: 'post',
    scope: 'generate',
    handler: operationRoute(tag, ofRun),
  });
  return [];
}

/** The path determines the run, even if the body names another. */
function ofRun({ body, params }: HttpRequest): object {
  return { ...fieldsOf(body), executionId: params['id'] };
}
