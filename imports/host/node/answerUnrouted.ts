/**
 * Answers what the router gives up on before any route or error handler: a request target that is no URL.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { errorResponse } from '../../api/http/errorResponse';
import { HttpError } from '../../api/http/HttpError';
import { createRequestId } from '../../api/http/requestId';
import { toLLMError } from '../../api/http/toLLMError';
import { parseUrl } from '../../business/ai/domain/util/parseUrl';

/** @param thrown what a handler threw; undefined if no route matched */
export function answerUnrouted(thrown: unknown, request: IncomingMessage, response: ServerResponse): void {
  if (response.headersSent) {
    response.destroy();
    return;
  }
  const requestId = createRequestId();
  const error = thrown === undefined || thrown === null ? unrouted(request) : toLLMError(thrown, printError);
  const { status, body, headers } = errorResponse(error, { api: 'app', requestId });
  const json = JSON.stringify(body);
  response.writeHead(status, {
    'cache-control': 'no-store',
    'x-content-type-options': 'nosniff',
    ...headers,
    'content-type': 'application/json; charset=utf-8',
    'content-length': Buffer.byteLength(json),
    // The request's body has not been read.
    connection: 'close',
  });
  response.end(request.method === 'HEAD' ? undefined : json);
}

function unrouted({ method = '', url = '' }: IncomingMessage): HttpError {
  // https://www.rfc-editor.org/rfc/rfc9112#section-3.2: a path, an absolute URL, or `*`
  return url.startsWith('/') || url === '*' || parseUrl(url) !== undefined
    ? new HttpError(404, `Not found: ${method} ${url.slice(0, 200)}.`)
    : new HttpError(400, 'The request target is invalid: it is neither a path nor a URL.');
}

function printError(error: unknown): void {
  console.error('A request failed unexpectedly:', error);
}
