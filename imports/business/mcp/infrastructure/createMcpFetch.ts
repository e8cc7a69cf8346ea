/** Lets the MCP client send its requests through the guarded fetch, and bounds what a server may answer. */
import { setTimeout as delay } from 'node:timers/promises';
import { DEFAULT_TRANSPORT_LIMITS } from '../../ai/domain/types/VendorTypes';
import { createGuardedFetch } from '../../ai/infrastructure/clients/http/guardedFetch';
import type { GuardedResponse } from '../../ai/infrastructure/clients/http/GuardedResponse';
import type { PrivateHosts } from '../../ai/infrastructure/clients/http/privateHosts';
import { isLLMError, LLMStreamError } from '../../ai/domain/errors/LLMErrors';
import { AnswerWatch } from './AnswerWatch';
import type { RequestId } from './AnswerWatch';
import { sendingSignal } from './CallDeadline';
import { messagePace } from './messagePace';

export interface McpFetch {
  (url: string | URL, init?: RequestInit): Promise<Response>;
  /** Closes all sockets. */
  close(): void;
}

export interface McpFetchOptions {
  readonly allowPrivateHosts: PrivateHosts;
  /** Milliseconds for a request and its response. Streams of notifications have no limit. */
  readonly timeout: number;
  /** What is sent with each request to a URL. */
  readonly headersFor?: (url: URL) => Readonly<Record<string, string>>;
  /** The most bytes of a response, or of one event of a stream. */
  readonly maxMessageBytes: number;
}

/** Requests in progress at one server. Others wait. */
const MAX_SOCKETS = 64;
/** The longest delay that timers support: 24 days. */
const UNLIMITED_MS = 2 ** 31 - 1;
/** https://fetch.spec.whatwg.org/#null-body-status */
const NULL_BODY_STATUSES: ReadonlySet<number> = new Set([204, 205, 304]);

export function createMcpFetch(options: McpFetchOptions): McpFetch {
  const { allowPrivateHosts, timeout, maxMessageBytes, headersFor } = options;
  const limits = { ...DEFAULT_TRANSPORT_LIMITS, maxSockets: MAX_SOCKETS, maxResponseBytes: Number.MAX_SAFE_INTEGER };
  const guardedFetch = createGuardedFetch({ limits, allowPrivateHosts });
  /** Requests without an answer whose server can go on, by the last event of each. */
  const unanswered = new Map<string, RequestId>();
  const fetch = async (url: string | URL, init: RequestInit = {}): Promise<Response> => {
    const { method = 'GET', signal } = init;
    const headers = new Headers(init.headers);
    for (const [name, value] of Object.entries(headersFor?.(new URL(url)) ?? {}))
      if (!headers.has(name)) headers.set(name, value);
    // Boundary: the client sends JSON as text and forms, and nothing else.
    const body =
      init.body === undefined || init.body === null ? undefined : String(init.body as string | URLSearchParams);
    const isStream = method === 'GET' && headers.get('accept')?.includes('text/event-stream') === true;
    const isListening = isStream || headers.get('mcp-method') === 'subscriptions/listen';
    const message = messageOf(headers.get('content-type')?.startsWith('application/json') === true ? body : undefined);
    // A tool's call takes as long as a person does who is asked during it; its own time limit pauses meanwhile.
    const sending = message.method === 'tools/call' ? sendingSignal.getStore() : undefined;
    const signals = [signal, sending].filter((each) => each !== undefined && each !== null);
    const lastEventId = isStream ? (headers.get('last-event-id') ?? undefined) : undefined;
    const resumed = lastEventId === undefined ? undefined : unanswered.get(lastEventId);
    const watched = resumed ?? (isListening ? undefined : message.id);
    const sent = guardedFetch(url, {
      method,
      headers: [...headers],
      body,
      call: {
        ...(signals.length === 0 ? {} : { signal: AbortSignal.any(signals) }),
        timeout: isListening || sending !== undefined ? UNLIMITED_MS : timeout,
      },
    });
    if (resumed !== undefined && lastEventId !== undefined) {
      const refusal = await refusalOf(sent);
      if (refusal !== undefined) {
        unanswered.delete(lastEventId);
        return new Response(errorEvent(resumed, `${LOST} It cannot be resumed: ${refusal}`), EVENTS);
      }
    }
    const watch = watched === undefined ? undefined : new AnswerWatch(watched, lastEventId);
    return toResponse(await sent, maxMessageBytes, watch, (eventId, id) => unanswered.set(eventId, id));
  };
  return Object.assign(fetch, { close: () => guardedFetch.close() });
}

const LOST = 'The connection to the MCP server ended before it answered.';
const EVENTS = { status: 200, headers: { 'content-type': 'text/event-stream' } };

/** Why a stream is not sent again. Undefined: it is, or somebody has to sign in first. */
async function refusalOf(sent: Promise<GuardedResponse>): Promise<string | undefined> {
  try {
    const { status, body } = await sent;
    if (status === 200 || status === 401 || status === 403) return undefined;
    void body.return();
    return `status ${status}.`;
  } catch (error) {
    return isLLMError(error) ? error.message : undefined;
  }
}

/**
 * @param watch of the JSON-RPC request that it answers, if it is a single one
 * @param canResume told that the server can go on with a request after an event
 */
function toResponse(
  response: GuardedResponse,
  maxMessageBytes: number,
  watch: AnswerWatch | undefined,
  canResume: (eventId: string, requestId: RequestId) => void,
): Response {
  const { status, statusText, headers } = response;
  const init = { status, statusText, headers: [...headers] };
  if (NULL_BODY_STATUSES.has(status)) {
    void response.body.return();
    return new Response(null, init);
  }
  const isStream = /^text\/event-stream\b/i.test(headers.get('content-type') ?? '');
  const size = isStream ? eventSize() : totalSize();
  const pace = isStream ? messagePace(LINES_PER_EVENT) : undefined;
  /** @returns whether the request has its answer now: that the connection was lost */
  const endsUnanswered = (controller: ReadableStreamDefaultController<Uint8Array>, reason = ''): boolean => {
    if (!isStream || watch === undefined || watch.hasAnswer) return false;
    const { lastEventId, requestId } = watch;
    if (lastEventId !== undefined) canResume(lastEventId, requestId);
    else controller.enqueue(errorEvent(requestId, LOST + reason));
    return lastEventId === undefined;
  };
  const body = new ReadableStream<Uint8Array>({
    async pull(controller) {
      try {
        const { value, done } = await response.body.next();
        if (done === true) {
          endsUnanswered(controller);
          controller.close();
          return;
        }
        if (isStream) watch?.read(value);
        if (size(value) <= maxMessageBytes) {
          controller.enqueue(value);
          const waitMs = pace?.(value) ?? 0;
          if (waitMs > 0) await delay(waitMs);
          return;
        }
        const message = `The MCP server sent a message of more than ${maxMessageBytes} bytes.`;
        if (!isStream || watch === undefined) throw new LLMStreamError(message, { retryable: false });
        await response.body.return();
        controller.enqueue(errorEvent(watch.requestId, message));
        controller.close();
      } catch (error) {
        void response.body.return();
        if (isLLMError(error) && error.retryable && endsUnanswered(controller, ` ${error.message}`)) controller.close();
        else controller.error(error);
      }
    },
    cancel: async () => {
      await response.body.return();
    },
  });
  return new Response(body, init);
}

function messageOf(body: string | undefined): { readonly id?: RequestId; readonly method?: string } {
  return body === undefined ? {} : (JSON.parse(body) as ReturnType<typeof messageOf>);
}

/** The client would wait for the answer until the time limit if its stream only broke off. */
function errorEvent(id: RequestId, message: string): Uint8Array<ArrayBuffer> {
  const error = { jsonrpc: '2.0', id, error: { code: -32_000, message } };
  return new TextEncoder().encode(`\n\ndata: ${JSON.stringify(error)}\n\n`);
}

type Size = (chunk: Uint8Array) => number;

function totalSize(): Size {
  let bytes = 0;
  return (chunk) => (bytes += chunk.byteLength);
}

/** An event of a stream has at least one line, and an empty one at its end. */
const LINES_PER_EVENT = 2;
const LINE_FEED = 10;
const CARRIAGE_RETURN = 13;

/** The bytes since the last empty line, at most: events end with one. */
function eventSize(): Size {
  let bytes = 0;
  let isLineEmpty = true;
  return (chunk) => {
    let largest = bytes;
    for (const byte of chunk) {
      if (byte === LINE_FEED) {
        if (isLineEmpty) bytes = 0;
        isLineEmpty = true;
      } else if (byte !== CARRIAGE_RETURN) isLineEmpty = false;
      bytes += 1;
      largest = Math.max(largest, bytes);
    }
    return largest;
  };
}
