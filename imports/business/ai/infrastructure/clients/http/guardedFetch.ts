/**
 * The one way out, for every vendor and every download, on `node:http`'s keep-alive agents: limits on time and
 * size, and a guard on where it may go. It follows no redirect and retries nothing.
 */
import { Agent as HttpAgent } from 'node:http';
import type { OutgoingHttpHeaders } from 'node:http';
import { Agent as HttpsAgent } from 'node:https';
import type { LookupFunction } from 'node:net';
import { LLMConnectionError } from '../../../domain/errors/LLMErrors';
import type { TransportLimits } from '../../../domain/types/VendorTypes';
import { allowedUrl, guardLookup } from './addressGuard';
import { sendRequest } from './HttpExchange';
import type { GuardedCall } from './HttpExchange';
import type { GuardedResponse } from './GuardedResponse';

export interface GuardedFetchOptions {
  readonly limits: TransportLimits;
  /** Whether http, loopback and private addresses may be reached: for base URLs that the operator set. */
  readonly allowPrivateHosts: boolean;
  /** Instead of the system's name lookup. */
  readonly lookup?: LookupFunction;
}

export interface GuardedInit {
  readonly method?: string | undefined;
  readonly headers?: Iterable<readonly [string, string]> | Readonly<Record<string, string>> | undefined;
  readonly body?: string | Uint8Array | undefined;
  readonly call?: GuardedCall | undefined;
}

export interface GuardedFetch {
  /**
   * Settles when the answer's headers are here, whatever its status.
   * @throws LLMInvalidRequestError for a URL that is not allowed, LLMConnectionError, LLMTimeoutError, the
   *   signal's reason
   */
  (url: string | URL, init?: GuardedInit): Promise<GuardedResponse>;
  /** Closes all sockets, those in use too; later calls fail. */
  close(): void;
}

export function createGuardedFetch(options: GuardedFetchOptions): GuardedFetch {
  const { limits, allowPrivateHosts } = options;
  // The socket used last is used first, so that the others fall idle and close.
  const pool = { keepAlive: true, maxSockets: limits.maxSockets, scheduling: 'lifo' } as const;
  const agents = { http: new HttpAgent(pool), https: new HttpsAgent(pool) };
  const lookup = allowPrivateHosts ? options.lookup : guardLookup(options.lookup);
  let closed = false;

  const guardedFetch = async (input: string | URL, init: GuardedInit = {}): Promise<GuardedResponse> => {
    const call = init.call ?? {};
    call.signal?.throwIfAborted();
    if (closed) throw new LLMConnectionError('this transport was closed');
    const url = allowedUrl(input, allowPrivateHosts);
    const request = { url, method: init.method ?? 'GET', headers: plainHeaders(init.headers), body: init.body };
    return sendRequest(request, call, { agents, limits, lookup });
  };
  return Object.assign(guardedFetch, {
    close() {
      closed = true;
      agents.http.destroy();
      agents.https.destroy();
    },
  });
}

function plainHeaders(headers: GuardedInit['headers']): OutgoingHttpHeaders {
  if (headers === undefined) return {};
  return Symbol.iterator in headers ? Object.fromEntries(headers) : { ...headers };
}
