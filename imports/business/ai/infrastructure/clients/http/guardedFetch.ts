/**
 * Every outgoing request goes through here, to vendors and for downloads alike: over `node:http`'s keep-alive agents,
 * with limits on time and size, a guard on addresses, and a fair share of each host's sockets for each user. Follows no
 * redirects and never retries.
 */
import type { OutgoingHttpHeaders } from 'node:http';
import type { LookupFunction } from 'node:net';
import { LLMConnectionError, LLMTimeoutError } from '../../../domain/errors/LLMErrors';
import type { TransportLimits } from '../../../domain/types/VendorTypes';
import { parseAllowedUrl, guardLookup } from './addressGuard';
import type { PrivateHosts } from './privateHosts';
import { sendRequest, targetOf } from './HttpExchange';
import type { GuardedCall, HttpTarget, Transport } from './HttpExchange';
import { nodeHttp, nodeHttps } from './nodeHttp';
import { SocketTurns } from './SocketTurns';
import type { ReleaseSocket } from './SocketTurns';
import type { GuardedResponse } from './GuardedResponse';

export interface GuardedFetchOptions {
  readonly limits: TransportLimits;
  /** Permits http, loopback and private addresses. `true` only for base URLs that the operator configured. */
  readonly allowPrivateHosts: PrivateHosts;
  /** Default: the system's name lookup. */
  readonly lookup?: LookupFunction;
  /** Milliseconds that a socket is kept without a request, if the server does not announce a shorter time. */
  readonly idleTimeout?: number;
}

/** Load balancers and reverse proxies keep sockets for at least a minute by default. */
const IDLE_TIMEOUT_MS = 55_000;

export interface GuardedInit {
  readonly method?: string | undefined;
  readonly headers?: Iterable<readonly [string, string]> | Readonly<Record<string, string>> | undefined;
  readonly body?: string | Uint8Array | AsyncIterable<Uint8Array> | undefined;
  readonly call?: GuardedCall | undefined;
}

export interface GuardedFetch {
  /**
   * Resolves when the response's headers have arrived, whatever its status.
   * @throws LLMInvalidRequestError for a URL that is not allowed, LLMConnectionError, LLMTimeoutError, the
   *   signal's reason
   */
  (url: string | URL, init?: GuardedInit): Promise<GuardedResponse>;
  /** Closes all sockets, including those in use. Later calls fail. */
  close(): void;
}

export function createGuardedFetch(options: GuardedFetchOptions): GuardedFetch {
  const { limits, allowPrivateHosts } = options;
  // Last in, first out, so that surplus sockets become idle and close. The agent closes a socket a second before the
  // server would, by its `keep-alive` header, but only if it has a time limit of its own. A request that is sent while
  // the server closes the socket fails, and not every request may be repeated.
  const pool = {
    keepAlive: true,
    maxSockets: limits.maxSockets,
    scheduling: 'lifo',
    timeout: options.idleTimeout ?? IDLE_TIMEOUT_MS,
  } as const;
  let transport: Transport | undefined;
  const lookup = allowPrivateHosts === true ? options.lookup : guardLookup(options.lookup, allowPrivateHosts);
  const openTransport = (): Transport => {
    const [http, https] = [nodeHttp(), nodeHttps()];
    const agents = { http: new http.Agent(pool), https: new https.Agent(pool) };
    return { http, https, agents, limits, lookup };
  };
  const turns = new SocketTurns(limits.maxSockets);
  let closed = false;
  const assertOpen = (): void => {
    if (closed) throw new LLMConnectionError('The transport is closed.');
  };

  /** By the objects with which clients keep their addresses. */
  const targets = new WeakMap<URL, HttpTarget>();
  const allowedTarget = (input: string | URL): HttpTarget => {
    const known = typeof input === 'string' ? undefined : targets.get(input);
    // An object may have been changed since.
    if (known !== undefined && known.href === String(input)) return known;
    const target = targetOf(parseAllowedUrl(input, allowPrivateHosts));
    if (typeof input !== 'string') targets.set(input, target);
    return target;
  };

  const guardedFetch = async (input: string | URL, init: GuardedInit = {}): Promise<GuardedResponse> => {
    const call = init.call ?? {};
    call.signal?.throwIfAborted();
    assertOpen();
    const target = allowedTarget(input);
    const request = { target, method: init.method ?? 'GET', headers: toPlainHeaders(init.headers), body: init.body };
    const release =
      turns.takeFree(target.origin, call.userId) ??
      (await waitForSocket(turns, target, call, call.timeout ?? limits.totalTimeout));
    try {
      assertOpen();
      return await sendRequest(request, call, (transport ??= openTransport()), release);
    } catch (error) {
      release();
      call.signal?.throwIfAborted();
      throw error;
    }
  };
  return Object.assign(guardedFetch, {
    close() {
      closed = true;
      transport?.agents.http.destroy();
      transport?.agents.https.destroy();
    },
  });
}

/** @throws LLMTimeoutError, the signal's reason */
async function waitForSocket(
  turns: SocketTurns,
  { origin, host }: HttpTarget,
  { userId, signal, vendor }: GuardedCall,
  timeout: number,
): Promise<ReleaseSocket> {
  const waiting = new AbortController();
  const timer = setTimeout(
    () =>
      waiting.abort(
        new LLMTimeoutError(
          `No connection to ${host} became free within ${timeout} ms.`,
          vendor === undefined ? {} : { vendor },
        ),
      ),
    Math.min(timeout, MAX_WAIT_MS),
  );
  try {
    return await turns.wait(
      origin,
      userId,
      signal === undefined ? waiting.signal : AbortSignal.any([signal, waiting.signal]),
    );
  } finally {
    clearTimeout(timer);
  }
}

/** The longest delay that timers support. */
const MAX_WAIT_MS = 2 ** 31 - 1;

function toPlainHeaders(headers: GuardedInit['headers']): OutgoingHttpHeaders {
  if (headers === undefined) return {};
  return Symbol.iterator in headers ? Object.fromEntries(headers) : headers;
}
