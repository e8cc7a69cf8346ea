/** The HTTP routes of operations: the argument is in the path, and in the query or the body. */
import { argumentFields } from '../../host/argumentFields';
import type { FieldKind } from '../../host/argumentFields';
import { routesOf } from '../../host/defineOperation';
import type { AnyOperation, ResolvedRoute } from '../../host/defineOperation';
import { fieldsOf } from '../../business/ai/domain/util/json';
import { omitUndefined } from '../../business/ai/domain/util/omitUndefined';
import type { Operation } from '../../business/ai/domain/types/Operation';
import type { JsonObject } from '../../business/ai/domain/types/VendorTypes';
import { toActor } from '../auth/ApiPrincipal';
import { describeRoute } from '../openapi/describeRoute';
import type { AddEndpoint, Endpoint } from './Endpoint';
import type { HttpRequest } from './HttpMessages';
import type { RouteHandler } from './RequestContext';

/** Definitions, and by their names what carries them out; those without it get no routes. */
export interface ServedOperations {
  readonly definitions: readonly AnyOperation[];
  readonly bound: Readonly<Partial<Record<string, Operation>>>;
}

/** Responds in its own way, such as with a file of any length. */
export type OperationHandler<R = never> = (
  operation: Operation<R>,
  readArgument: (request: HttpRequest) => JsonObject,
) => RouteHandler;

/**
 * @param handlers by name, instead of responding with the result as JSON
 * @returns the first segments of the paths
 */
export function addOperationRoutes(
  add: AddEndpoint,
  { definitions, bound }: ServedOperations,
  handlers: Readonly<Partial<Record<string, OperationHandler>>> = {},
): readonly string[] {
  const endpoints = definitions.flatMap((definition) => {
    const operation = bound[definition.name];
    if (operation === undefined) return [];
    return routesOf(definition).map((route) => {
      const { path, method } = route;
      const hasOtherFields = readsOthers(definition, route);
      const readArgument = argumentReader(definition, route, hasOtherFields);
      // A handler knows the result of its operation.
      const own = handlers[definition.name]?.(operation as Operation<never>, readArgument);
      const handler = own ?? responder(operation, route, readArgument);
      const endpoint: Endpoint = omitUndefined({
        ...{ method, scope: definition.access, handler },
        readsBody: method === 'post' && hasOtherFields,
        describe: () => describeRoute(definition, route),
        isUncancellable: route.isUncancellable,
      });
      return { path, endpoint };
    });
  });
  // A path with a name in place of another's parameter comes first.
  const byPath = Map.groupBy(endpoints, ({ path }) => path);
  const sorted = [...byPath].sort(([one], [other]) => (rank(one) < rank(other) ? -1 : 1));
  for (const [path, routes] of sorted) add('app', path, path, ...routes.map(({ endpoint }) => endpoint));
  return [...new Set(sorted.map(([path]) => /^\/api\/[^/]+/.exec(path)?.[0] ?? path))];
}

function rank(path: string): string {
  return path.replaceAll(':', '\uffff');
}

/** Whether fields of the argument are in the query or the body, which are not looked at otherwise. */
function readsOthers({ argument }: AnyOperation, { isPathOnly, parameters }: ResolvedRoute): boolean {
  return isPathOnly !== true && Object.keys(argumentFields(argument)).some((name) => !parameters.includes(name));
}

function responder(
  operation: Operation,
  { status, field, fileName, api, toError }: ResolvedRoute,
  readArgument: (request: HttpRequest) => unknown,
): RouteHandler {
  return async ({ principal, request, response }) => {
    try {
      const result = await operation(toActor(principal, api), readArgument(request));
      // The result is that of this operation, which the definition typed.
      const name = fileName?.(result as never);
      if (name !== undefined) response.set('content-disposition', `attachment; filename=${name}`);
      response.status(status ?? 200).json(field === undefined ? result : { [field]: result });
    } catch (error) {
      throw toError === undefined ? error : toError(error);
    }
  };
}

/** The path determines the argument, even if the query or the body names another. */
function argumentReader(
  definition: AnyOperation,
  route: ResolvedRoute,
  hasOtherFields: boolean,
): (request: HttpRequest) => JsonObject {
  const { method, parameters } = route;
  const kinds = argumentFields(definition.argument);
  return ({ params, query, body }) => {
    const inPath = Object.fromEntries(parameters.map((name) => [name, params[name]]));
    if (!hasOtherFields) return { ...route.argument, ...inPath };
    if (method !== 'post') return { ...route.argument, ...readQuery(kinds, query), ...inPath };
    // A body that is no object is refused by the operation.
    if (parameters.length === 0 && route.argument === undefined) return body as JsonObject;
    return { ...route.argument, ...fieldsOf(body), ...inPath };
  };
}

/** What has the wrong form is passed as it is, for the operation to refuse. */
export function readQuery(kinds: Readonly<Record<string, FieldKind>>, query: HttpRequest['query']): JsonObject {
  return Object.fromEntries(Object.entries(query).map(([name, value]) => [name, readText(kinds[name], value)]));
}

/** A field that is repeated arrives as a list, and one with brackets as an object. */
function readText(kind: FieldKind = 'text', value: unknown): unknown {
  if (typeof value !== 'string') return value;
  if (kind === 'number') return value.trim() === '' || Number.isNaN(Number(value)) ? value : Number(value);
  if (kind === 'list') return value.split(',').filter((entry) => entry !== '');
  if (kind === 'flag') return value === 'false' ? false : value === '' || value === 'true' ? true : value;
  return value;
}
