/** The API whose shape an error has below a path, for requests that no route answers. */
import type { HttpRequest } from './HttpMessages';
import type { ApiName } from './errorResponse';

type ApiOf = ApiName | ((request: HttpRequest) => ApiName);

/** The paths below which every request is one of the vendors' APIs. The first that matches counts. */
export const VENDOR_PATHS: readonly (readonly [path: string, api: ApiOf])[] = [
  ['/v1/messages', 'anthropic_messages'],
  ['/v1/chat', 'chat_completions'],
  [
    '/v1/files',
    ({ headers }) => (headers['anthropic-version'] === undefined ? 'chat_completions' : 'anthropic_messages'),
  ],
  ['/v1/batches', 'chat_completions'],
  ['/v1beta', 'gemini'],
  ['/v1alpha', 'gemini'],
  ['/v1', ({ headers }) => (headers['x-goog-api-key'] === undefined ? 'responses' : 'gemini')],
];

const PATHS: typeof VENDOR_PATHS = [
  ...VENDOR_PATHS,
  ['/openai/deployments', 'chat_completions'],
  ['/api/chat', 'ai_sdk'],
];

/** @param request its `url` is relative to where the API is mounted */
export function apiOfPath(request: HttpRequest): ApiName {
  const [, api = 'app'] = PATHS.find(([start]) => isBelow(request.url, start)) ?? [];
  return typeof api === 'function' ? api(request) : api;
}

function isBelow(url: string, start: string): boolean {
  const [path = ''] = url.split('?');
  return path === start || path.startsWith(`${start}/`);
}
