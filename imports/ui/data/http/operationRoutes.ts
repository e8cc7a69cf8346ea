/** The HTTP request of each operation. */
import { DashboardError } from '../DashboardData';
import type { ArgumentOf, OperationName, Operations } from '../operations';

export interface OperationRequest {
  readonly method: 'GET' | 'POST' | 'DELETE';
  /** With its query. */
  readonly path: string;
  readonly body?: object;
}

export interface OperationRoute<N extends OperationName> {
  readonly request: (argument: ArgumentOf<N>) => OperationRequest;
  /** The field of the response that is the result. Absent: the entire response is. */
  readonly field?: string;
}

export const OPERATION_ROUTES: { readonly [N in keyof Operations]: OperationRoute<N> } = {
  'ai.providers.list': { request: () => get('/api/providers'), field: 'providers' },
  'ai.providers.create': { request: (provider) => post('/api/providers', provider), field: 'provider' },
  'ai.providers.update': {
    request: ({ providerId, ...body }) => post(path`/api/providers/${providerId}`, body),
    field: 'provider',
  },
  'ai.providers.remove': { request: ({ providerId }) => remove(path`/api/providers/${providerId}`), field: 'provider' },
  'ai.providers.setApiKey': {
    request: ({ providerId, ...body }) => post(path`/api/providers/${providerId}/api-key`, body),
    field: 'provider',
  },
  'ai.providers.setMyApiKey': {
    request: ({ providerId, ...body }) => post(path`/api/providers/${providerId}/my-api-key`, body),
    field: 'provider',
  },
  'ai.providers.test': {
    request: ({ providerId }) => post(path`/api/providers/${providerId}/test`),
    field: 'provider',
  },
  'ai.providers.connect': {
    request: ({ providerId }) => post(path`/api/providers/${providerId}/connect`),
    field: 'url',
  },
  'ai.providers.disconnect': {
    request: ({ providerId }) => post(path`/api/providers/${providerId}/disconnect`),
    field: 'provider',
  },
  'ai.providers.get': { request: ({ providerId }) => get(path`/api/providers/${providerId}`), field: 'provider' },
  'ai.providers.vendors': { request: () => get('/api/providers/vendors'), field: 'vendors' },
  'ai.providers.models': { request: ({ providerId }) => get(path`/api/providers/${providerId}/models`) },
  'ai.providers.health': { request: () => get('/api/providers/health'), field: 'health' },
};

type QueryFields = Readonly<Record<string, string | number | boolean | readonly string[] | undefined>>;

/** @param query fields that are undefined are left out, lists are comma-separated */
function get(route: string, query: object = {}): OperationRequest {
  const search = new URLSearchParams(
    // A list becomes text as its entries between commas.
    Object.entries(query as QueryFields).flatMap(([name, value]) =>
      value === undefined ? [] : [[name, String(value)]],
    ),
  ).toString();
  return { method: 'GET', path: search === '' ? route : `${route}?${search}` };
}

function remove(route: string): OperationRequest {
  return { method: 'DELETE', path: route };
}

function post(route: string, body: object = {}): OperationRequest {
  return { method: 'POST', path: route, body };
}

/**
 * A path whose parameters are encoded.
 * @throws DashboardError for an empty parameter, with which it would be the path of another operation
 */
function path(segments: TemplateStringsArray, ...parameters: readonly string[]): string {
  if (parameters.includes('')) throw new DashboardError('invalid-request', 'The name or id must not be empty.');
  return String.raw({ raw: segments }, ...parameters.map(encodeURIComponent));
}
