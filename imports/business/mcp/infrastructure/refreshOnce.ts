/** Sends requests that refresh tokens one at a time, and answers the others with what the first has got. */
import type { McpFetch } from './createMcpFetch';
import type { McpOAuth } from './McpOAuth';

type Send = (url: string | URL, init?: RequestInit) => Promise<Response>;

/** @param fetch sends all requests of the client: to the server, and to its authorization server */
export function refreshOnce(fetch: McpFetch, oauth: McpOAuth): Send {
  return async (url, init) => {
    const refreshToken = refreshTokenIn(init);
    if (refreshToken === undefined) return fetch(url, init);
    const replaced = await oauth.claimRefresh(refreshToken);
    if (replaced !== undefined) {
      const { issuer: _, ...tokens } = replaced;
      return Response.json(tokens);
    }
    try {
      const response = await fetch(url, init);
      // Otherwise, the client saves the tokens.
      if (!response.ok) await oauth.releaseRefresh();
      return response;
    } catch (error) {
      await oauth.releaseRefresh();
      throw error;
    }
  };
}

function refreshTokenIn({ method, body }: RequestInit = {}): string | undefined {
  if (method !== 'POST' || !(body instanceof URLSearchParams) || body.get('grant_type') !== 'refresh_token')
    return undefined;
  return body.get('refresh_token') ?? undefined;
}
