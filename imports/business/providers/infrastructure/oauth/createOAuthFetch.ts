/** What `oauth4webapi` sends goes out by the same guarded way as everything else. */
import type { CustomFetchOptions } from 'oauth4webapi';
import type { GuardedFetch } from '../../../ai/infrastructure/clients/http/guardedFetch';

/** Whole requests, in milliseconds, and decoded bodies, in bytes: token endpoints answer in one small piece. */
export const OAUTH_TIMEOUT_MS = 15_000;
const MAX_BODY_BYTES = 512 * 1024;

export type OAuthFetch = (
  url: string,
  options: CustomFetchOptions<string, URLSearchParams | string | undefined>,
) => Promise<Response>;

export interface OAuthFetchHooks {
  /** May throw to stop a request at the last moment. */
  readonly beforeSend?: (() => void) | undefined;
  /** The body as the library is to see it. */
  readonly readBody?: (text: string) => string;
}

export function createOAuthFetch(
  fetch: GuardedFetch,
  { beforeSend, readBody = (text) => text }: OAuthFetchHooks = {},
): OAuthFetch {
  return async (url, { method, headers, body, signal }) => {
    beforeSend?.();
    const call = { signal, timeout: OAUTH_TIMEOUT_MS, maxResponseBytes: MAX_BODY_BYTES };
    const answer = await fetch(url, { method, headers, body: body?.toString(), call });
    const text = readBody(await answer.text());
    return new Response(BODILESS.has(answer.status) ? null : text, {
      status: answer.status,
      headers: [...answer.headers],
    });
  };
}

/** The Fetch standard gives these no body. */
const BODILESS: ReadonlySet<number> = new Set([204, 205, 304]);
