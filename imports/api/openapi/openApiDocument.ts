/**
 * The OpenAPI document of the routes that are registered: methods, paths, scopes and errors come from their
 * registration, the rest from the operations, or from the tables in `descriptions`. https://spec.openapis.org/oas/v3.1.1
 */
import { omitUndefined } from '../../business/ai/domain/util/omitUndefined';
import type { JsonObject } from '../../business/ai/domain/types/VendorTypes';
import type { Scope } from '../auth/ApiPrincipal';
import type { ApiName } from '../http/errorResponse';
import { CONVERSATION_ROUTES } from './descriptions/conversationRoutes';
import { GATEWAY_ROUTES } from './descriptions/gatewayRoutes';
import { RUN_ROUTES } from './descriptions/runRoutes';
import { SERVER_ROUTES } from './descriptions/serverRoutes';
import { ERROR_NAMES, ERROR_SCHEMAS } from './errorSchemas';
import { TEXT } from './jsonSchemas';
import type { RouteDescription, RouteDescriptions, Schema } from './RouteDescription';

/** An endpoint as it was registered. */
export interface RegisteredRoute {
  readonly method: string;
  /** The path with `:name` for parameters. */
  readonly name: string;
  /** Absent where the request tells which API it is of. */
  readonly api?: ApiName | undefined;
  /** Absent: the route is public. */
  readonly scope?: Scope | undefined;
  /** Default: what the tables in `descriptions` say. */
  readonly describe?: (() => RouteDescription) | undefined;
}

interface Area {
  readonly tag: string;
  readonly routes: RouteDescriptions;
}

const AREAS: readonly Area[] = [
  { tag: 'Gateway', routes: { ...GATEWAY_ROUTES, ...CONVERSATION_ROUTES } },
  { tag: 'Runs', routes: RUN_ROUTES },
  { tag: 'Server and accounts', routes: SERVER_ROUTES },
];

/** The places in which a token is accepted. */
const SECURITY_SCHEMES: Readonly<Record<string, Schema>> = {
  bearer: { type: 'http', scheme: 'bearer' },
  'x-api-key': { type: 'apiKey', in: 'header', name: 'x-api-key' },
  'x-goog-api-key': { type: 'apiKey', in: 'header', name: 'x-goog-api-key' },
  'api-key': { type: 'apiKey', in: 'header', name: 'api-key' },
};

/** @returns the document without `servers`, since where the API is mounted is known with a request only */
export function openApiDocument(routes: readonly RegisteredRoute[]): JsonObject {
  const paths: Record<string, Record<string, JsonObject>> = {};
  const described = routes.map((route) => ({ route, ...descriptionOf(route) }));
  for (const { route, tag, description } of described) {
    const path = description.path ?? route.name.replace(/:(\w+)/g, (_, name: string) => `{${name}}`);
    // A colon in front of a verb, such as `:countTokens`, begins no parameter.
    const template = path.replace(/\}\{(\w+)\}/g, '}:$1');
    paths[template] = { ...paths[template], [route.method]: operation(route, template, tag, description) };
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'Bolide',
      version: '1',
      description:
        'The APIs of OpenAI, Anthropic and Google in front of every vendor, and the operations of the server. Bodies ' +
        'of the vendors’ APIs are described by their main fields; the other fields of these APIs are accepted, too.',
    },
    tags: [...new Set(described.map(({ tag }) => tag))].map((name) => ({ name })),
    paths,
    components: {
      securitySchemes: SECURITY_SCHEMES,
      schemas: Object.fromEntries(
        Object.entries(ERROR_NAMES).map(([api, name]) => [name, ERROR_SCHEMAS[api as ApiName]]),
      ),
    },
  };
}

function descriptionOf({ method, name, describe }: RegisteredRoute): {
  readonly tag: string;
  readonly description: RouteDescription;
} {
  const key = `${method.toUpperCase()} ${name}`;
  const own = describe?.();
  if (own !== undefined) return { tag: own.tag ?? 'Other', description: own };
  const area = AREAS.find(({ routes }) => Object.hasOwn(routes, key));
  return { tag: area?.tag ?? 'Other', description: area?.routes[key] ?? { summary: key } };
}

function operation(
  { method, api, scope }: RegisteredRoute,
  path: string,
  tag: string,
  route: RouteDescription,
): JsonObject {
  const { summary, description, body, example, status = 200 } = route;
  const parameters = [...pathParameters(path, route.parameters), ...queryParameters(route)];
  return omitUndefined({
    operationId: operationId(method, path),
    summary,
    description,
    tags: [tag],
    parameters: parameters.length === 0 ? undefined : parameters,
    requestBody: body && {
      required: true,
      content: { 'application/json': omitUndefined({ schema: body, example }) },
    },
    // A role lists the scope that a token needs.
    security: scope === undefined ? [] : Object.keys(SECURITY_SCHEMES).map((name) => ({ [name]: [scope] })),
    responses: { [String(status)]: success(route), default: failure(api) },
  });
}

function pathParameters(path: string, schemas: RouteDescription['parameters']): readonly JsonObject[] {
  return [...path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => ({
    name,
    in: 'path',
    required: true,
    schema: schemas?.[name] ?? TEXT,
  }));
}

function queryParameters({ query = {}, requiredQuery = {} }: RouteDescription): readonly JsonObject[] {
  return [
    ...Object.entries(requiredQuery).map(([name, schema]) => ({ name, in: 'query', required: true, schema })),
    ...Object.entries(query).map(([name, schema]) => ({ name, in: 'query', schema })),
  ];
}

const EVENTS = { 'text/event-stream': { schema: TEXT } };

function success({ result, content, streams }: RouteDescription): JsonObject {
  const json = result === undefined ? {} : { 'application/json': { schema: result } };
  const others = Object.fromEntries((content ?? []).map((type) => [type, { schema: TEXT }]));
  return {
    description: streams === 'always' ? 'Events.' : 'Success.',
    content: { ...json, ...others, ...(streams === undefined ? {} : EVENTS) },
  };
}

/** Where several APIs share a path, the request tells whose form an error has. */
function failure(api: ApiName | undefined): JsonObject {
  const names =
    api === undefined
      ? [ERROR_NAMES.responses, ERROR_NAMES.anthropic_messages, ERROR_NAMES.gemini]
      : [ERROR_NAMES[api]];
  const forms = names.map((name) => ({ $ref: `#/components/schemas/${name}` }));
  return {
    description: 'What is wrong.',
    content: {
      [api === 'ai_sdk' ? 'text/plain' : 'application/json']: {
        schema: forms.length === 1 ? forms[0] : { anyOf: forms },
      },
    },
  };
}

/** `GET /runs/{id}` is `getRunsById`. */
function operationId(method: string, path: string): string {
  const words = path
    .split(/[/:._-]/)
    .filter((word) => word !== '')
    .map((word) =>
      word.replace(/^\{(\w)(\w*)\}$/, (_, first: string, rest: string) => `By${first.toUpperCase()}${rest}`),
    );
  return method + words.map((word) => word.charAt(0).toUpperCase() + word.slice(1)).join('');
}
