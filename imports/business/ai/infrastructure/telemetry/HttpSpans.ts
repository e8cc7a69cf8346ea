/**
 * The server spans of HTTP requests, joined to the caller's trace. An app that instruments its HTTP server already has
 * one for each request, which only gets the route.
 * https://github.com/open-telemetry/semantic-conventions/tree/v1.41.0/docs/http/http-spans.md
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Attributes } from '@opentelemetry/api';
import { fail } from './fail';
import { loadOpenTelemetry, tracing } from './openTelemetry';

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
  const { context, propagation, SpanKind, trace } = traces.api;
  const { request, response } = traced;
  const route = traced.route.replace(/^[A-Z]+ /, '');
  const active = context.active();
  const outer = trace.getSpan(active);
  if (outer !== undefined) {
    outer.setAttribute('http.route', route);
    work();
    return;
  }
  const parent = propagation.extract(active, request.headers);
  const method = request.method ?? 'GET';
  const span = traces.tracer.startSpan(`${method} ${route}`, { kind: SpanKind.SERVER }, parent);
  if (!span.isRecording()) {
    context.with(trace.setSpan(parent, span), work);
    return;
  }
  span.setAttributes(requestAttributes({ request, route }, method));
  const end = (): void => {
    const hasLeft = !response.writableFinished;
    // Proxies log 499 for clients that disconnected.
    const status = hasLeft && !response.headersSent ? 499 : response.statusCode;
    span.setAttribute('http.response.status_code', status);
    if (status >= 500 || hasLeft) {
      fail(traces.api, span, hasLeft ? 'aborted' : String(status));
    }
    span.end();
  };
  if (response.closed) end();
  else response.once('close', end);
  context.with(trace.setSpan(parent, span), work);
}

/** Without the query, which may contain keys, and the client's address, which is personal. */
function requestAttributes({ request, route }: Pick<TracedRequest, 'request' | 'route'>, method: string): Attributes {
  const { headers, url = '/', socket, httpVersion } = request;
  const [path = '/'] = url.split('?', 1);
  const [, host, port] = /^(\[[^\]]+\]|[^:]+)(?::(\d+))?$/.exec(headers.host ?? '') ?? [];
  return {
    'http.request.method': method,
    'http.route': route,
    'url.path': path,
    'url.scheme': 'encrypted' in socket ? 'https' : 'http',
    'network.protocol.version': httpVersion,
    ...(host === undefined ? {} : { 'server.address': host }),
    ...(port === undefined ? {} : { 'server.port': Number(port) }),
    ...(headers['user-agent'] === undefined ? {} : { 'user_agent.original': headers['user-agent'] }),
  };
}
