/**
 * The server spans of HTTP requests, joined to the caller's trace. An app that instruments its HTTP server already has
 * one for each request, which only gets the route.
 * https://github.com/open-telemetry/semantic-conventions/tree/v1.41.0/docs/http/http-spans.md
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Attributes, Context } from '@opentelemetry/api';
import { loadOpenTelemetry, tracing } from './openTelemetry';
import type { Tracing } from './Tracing';
import { withoutThrowing } from './withoutThrowing';
import { omitUndefined } from '../../domain/util/omitUndefined';

export interface TracedRequest {
  readonly request: Pick<IncomingMessage, 'method' | 'headers' | 'url' | 'socket' | 'httpVersion'>;
  readonly response: Pick<ServerResponse, 'once' | 'closed' | 'statusCode' | 'writableFinished' | 'headersSent'>;
  /** The path's pattern, which may follow the method. */
  readonly route: string;
}

/** @param work is done with the request's span as the active one. */
export function traceRequest(traced: TracedRequest, work: () => void): void {
  const loading = loadOpenTelemetry();
  if (loading === undefined) traceNow(traced, work);
  else void loading.then(() => traceNow(traced, work));
}

function traceNow(traced: TracedRequest, work: () => void): void {
  const traces = tracing();
  if (traces === undefined) {
    work();
    return;
  }
  const { request, response, route } = traced;
  const outer = traces.api.trace.getSpan(traces.active);
  if (outer !== undefined) {
    withoutThrowing(() => void outer.setAttribute('http.route', pathOf(route)));
    work();
    return;
  }
  const begun = begin(traces, request, route);
  const end = (): void => {
    const hasLeft = !response.writableFinished;
    // Proxies log 499 for clients that disconnected.
    begun.end({ status: hasLeft && !response.headersSent ? 499 : response.statusCode, hasLeft });
  };
  if (response.closed) end();
  else response.once('close', end);
  traces.within(begun.context, work);
}

/** How the server has answered a request. */
export interface RequestOutcome {
  readonly status: number;
  /** The client has disconnected before. */
  readonly hasLeft: boolean;
}

/**
 * A request that arrives as a message of a WebSocket, with the trace of the request that opened the socket.
 * @param handle is done with the request's span as the active one
 */
export async function traceMessage(
  { request, route }: Pick<TracedRequest, 'request' | 'route'>,
  handle: () => Promise<RequestOutcome>,
): Promise<void> {
  const loading = loadOpenTelemetry();
  if (loading !== undefined) await loading;
  const traces = tracing();
  if (traces === undefined) {
    await handle();
    return;
  }
  const begun = begin(traces, request, route);
  begun.end(await traces.within(begun.context, handle));
}

/** Below what is active: an app that instruments its HTTP server has a span for the request that opened a socket. */
function begin(
  traces: Tracing,
  request: TracedRequest['request'],
  route: string,
): { readonly context: Context; end(outcome: RequestOutcome): void } {
  const { SpanKind, trace } = traces.api;
  const { active } = traces;
  const parent = trace.getSpan(active) === undefined ? traces.extract(active, request.headers) : active;
  const path = pathOf(route);
  const method = request.method ?? 'GET';
  const span = traces.startSpan(`${method} ${path}`, { kind: SpanKind.SERVER }, parent);
  if (span.isRecording) span.setAttributes(requestAttributes({ request, route: path }, method));
  return {
    context: span.in(parent),
    end({ status, hasLeft }) {
      span.setAttributes({ 'http.response.status_code': status });
      if (status >= 500 || hasLeft) span.fail(hasLeft ? 'aborted' : String(status));
      span.end();
    },
  };
}

function pathOf(route: string): string {
  return route.replace(/^[A-Z]+ /, '');
}

/** Without the query, which may contain keys, and the client's address, which is personal. */
function requestAttributes({ request, route }: Pick<TracedRequest, 'request' | 'route'>, method: string): Attributes {
  const { headers, url = '/', socket, httpVersion } = request;
  const [path = '/'] = url.split('?', 1);
  const [, host, port] = /^(\[[^\]]+\]|[^:]+)(?::(\d+))?$/.exec(headers.host ?? '') ?? [];
  return omitUndefined({
    'http.request.method': method,
    'http.route': route,
    'url.path': path,
    'url.scheme': 'encrypted' in socket ? 'https' : 'http',
    'network.protocol.version': httpVersion,
    'server.address': host,
    'server.port': port === undefined ? undefined : Number(port),
    'user_agent.original': headers['user-agent'],
  });
}
