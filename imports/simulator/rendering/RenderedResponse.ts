/** A response as the bytes that go over the network, event by event. */
import type { JsonObject } from '../../business/ai/domain/types/VendorTypes';
import type { SseEvent } from '../wires/WireSimulator';

export interface RenderedResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  /** The body in parts; in a stream, each is one event. */
  readonly frames: readonly Buffer[];
}

export function renderJson(
  status: number,
  body: JsonObject | readonly unknown[],
  headers: Readonly<Record<string, string>> = {},
): RenderedResponse {
  return {
    status,
    headers: { 'content-type': 'application/json', ...headers },
    frames: [Buffer.from(JSON.stringify(body))],
  };
}

/** Server-sent events, https://html.spec.whatwg.org/multipage/server-sent-events.html. */
export function renderSse(
  events: readonly SseEvent[],
  lineEnd: '\n' | '\r\n' = '\n',
  headers: Readonly<Record<string, string>> = {},
): RenderedResponse {
  const frames = events.map(({ event, data }) =>
    Buffer.from(`${event === undefined ? '' : `event: ${event}${lineEnd}`}data: ${data}${lineEnd}${lineEnd}`),
  );
  return {
    status: 200,
    headers: { 'content-type': 'text/event-stream; charset=utf-8', 'cache-control': 'no-cache', ...headers },
    frames,
  };
}
