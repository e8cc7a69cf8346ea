/** Lets `oauth4webapi` send its requests through the guarded fetch, like everything else. */
import type { CustomFetchOptions } from 'oauth4webapi';
import type { GuardedFetch } from '../../../ai/infrastructure/clients/http/guardedFetch';

/** For the entire request, including its response. */
export const OAUTH_TIMEOUT_MS = 15_000;
const MAX_BODY_BYTES = 512 * 1024;

/**
 * Every request opens its own connection. An idle one may have been closed by the server, unnoticed so far, and a lost
 * request cannot be sent again, since the server may have used the code or refresh token in it.
 */
export const OWN_CONNECTION = { connection: 'close' } as const;

export type OAuthFetch = (
  url: string,
  options: CustomFetchOptions<string, URLSearchParams | string | undefined>,
) => Promise<Response>;

export interface OAuthFetchHooks {
  /** Called directly before sending. May throw to cancel the request. */
  readonly beforeSend?: (() => void) | undefined;
  /** Transforms the body before the library reads it. */
  readonly readBody?: (text: string) => string;
}

export function createOAuthFetch(
  fetch: GuardedFetch,
  { beforeSend, readBody = (text) => text }: OAuthFetchHooks = {},
): OAuthFetch {
  return async (url, { method, headers, body, signal }) => {
    beforeSend?.();
    const call = { signal, timeout: OAUTH_TIMEOUT_MS, maxResponseBytes: MAX_BODY_BYTES };
    const response = await fetch(url, {
      method,
      headers: { ...headers, ...OWN_CONNECTION },
      body: body?.toString(),
      call,
    });
    const text = readBody(await response.text());
    return new Response(NULL_BODY_STATUSES.has(response.status) ? null : text, {
      status: response.status,
      headers: [...response.headers],
    });
  };
}

/** https://fetch.spec.whatwg.org/#null-body-status */
const NULL_BODY_STATUSES: ReadonlySet<number> = new Set([204, 205, 304]);
