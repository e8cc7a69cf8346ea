/** An MCP server that wants a token, and its authorization server, at one address. */
import { serveMcp, INITIALIZE, jsonRpc } from './serveMcp';

export interface ProtectedServer {
  /** The address of the MCP server. */
  readonly url: string;
  /** The address of the authorization server. */
  readonly issuer: string;
  /** The issuer that the MCP server names. */
  authorizationServer: string;
  readonly authorizations: URLSearchParams[];
  readonly exchanges: URLSearchParams[];
  /** Tokens that came with requests to the MCP server. */
  readonly tokensSeen: string[];
  /** Requests to the authorization server that carried the MCP server's headers. */
  readonly leaks: string[];
  /** Tokens that are not accepted any more. */
  readonly revoked: Set<string>;
  /** The description of the tool. */
  description: string;
  /** What the tool's calls need; undefined: nothing. */
  requiredScope: string | undefined;
  /** The person signs in. @returns what the authorization server sends back */
  approve(url: URL, user: string): URLSearchParams;
  close(): Promise<void>;
}

export async function serveProtected(authorizationServer?: string): Promise<ProtectedServer> {
  const rpc = jsonRpc({
    ...INITIALIZE,
    'tools/list': () => ({
      tools: [{ name: 'ping', description: state.description, inputSchema: { type: 'object' } }],
    }),
    'tools/call': () => {
      const { requiredScope } = state;
      const token = state.tokensSeen.at(-1) ?? 'nobody';
      if (requiredScope === undefined || scopes.get(token)?.includes(requiredScope) === true)
        return { content: [{ type: 'text', text: token }] };
      const challenge = `Bearer error="insufficient_scope", scope="${requiredScope}"`;
      return new Response(null, { status: 403, headers: { 'www-authenticate': challenge } });
    },
  });
  const state = {
    authorizationServer: authorizationServer ?? '',
    authorizations: [] as URLSearchParams[],
    exchanges: [] as URLSearchParams[],
    tokensSeen: [] as string[],
    leaks: [] as string[],
    revoked: new Set<string>(),
    description: 'Says whose account it is called with.',
    requiredScope: undefined as string | undefined,
  };
  /** What was asked for, by access token. */
  const scopes = new Map<string, readonly string[]>();
  const grant = (user: string, asked: URLSearchParams): void =>
    void scopes.set(`token of ${user}`, (asked.get('scope') ?? '').split(' '));
  /** Refresh tokens, each of which can be used once, with whose they are. */
  const grants = new Map<string, string>();
  let count = 0;
  const issue = (user: string, token: string): Response => {
    count += 1;
    const refreshToken = `refresh-${count}-of-${user}`;
    grants.set(refreshToken, user);
    const tokens = { access_token: token, refresh_token: refreshToken, token_type: 'Bearer', expires_in: 3600 };
    return Response.json(tokens);
  };
  const served = await serveMcp(async (request) => {
    const { pathname } = new URL(request.url);
    if (pathname !== '/mcp' && request.headers.has('x-tenant')) state.leaks.push(pathname);
    if (pathname.startsWith('/.well-known/oauth-protected-resource'))
      return Response.json({ resource: served.url, authorization_servers: [state.authorizationServer] });
    if (pathname.startsWith('/.well-known/'))
      return Response.json({
        issuer,
        authorization_endpoint: `${issuer}/authorize`,
        token_endpoint: `${issuer}/token`,
        revocation_endpoint: `${issuer}/revoke`,
        registration_endpoint: `${issuer}/register`,
        response_types_supported: ['code'],
        code_challenge_methods_supported: ['S256'],
        authorization_response_iss_parameter_supported: true,
        token_endpoint_auth_methods_supported: ['none', 'client_secret_basic'],
      });
    if (pathname === '/authorize') return new Response(consentPage(request.url), { headers: HTML });
    if (pathname === '/decide') {
      const { searchParams } = new URL(request.url);
      grant(searchParams.get('login') ?? '', searchParams);
      return Response.redirect(redirectOf(searchParams, issuer), 303);
    }
    if (pathname === '/register')
      return Response.json({ ...((await request.json()) as object), client_id: 'registered' }, { status: 201 });
    if (pathname === '/token') {
      const form = new URLSearchParams(await request.text());
      state.exchanges.push(form);
      if (form.get('grant_type') !== 'refresh_token')
        return issue(form.get('code') ?? '', `token of ${form.get('code')}`);
      const given = form.get('refresh_token') ?? '';
      const user = grants.get(given);
      grants.delete(given);
      if (user === undefined) return Response.json({ error: 'invalid_grant' }, { status: 400 });
      return issue(user, `token of ${user}, refreshed ${count}`);
    }
    if (pathname === '/revoke') {
      const token = new URLSearchParams(await request.text()).get('token') ?? '';
      for (const each of state.tokensSeen)
        if (each.startsWith(`token of ${grants.get(token)}`)) state.revoked.add(each);
      grants.delete(token);
      return new Response(null);
    }
    const token = request.headers.get('authorization')?.replace('Bearer ', '');
    if (token !== undefined) state.tokensSeen.push(token);
    if (token?.startsWith('token of ') === true && !state.revoked.has(token)) return rpc(request);
    const challenge = `Bearer resource_metadata="${issuer}/.well-known/oauth-protected-resource/mcp"`;
    return new Response(null, { status: 401, headers: { 'www-authenticate': challenge } });
  });
  const issuer = new URL(served.url).origin;
  if (authorizationServer === undefined) state.authorizationServer = issuer;
  return Object.assign(state, {
    url: served.url,
    issuer,
    close: () => served.close(),
    approve: ({ searchParams }: URL, user: string) => {
      state.authorizations.push(searchParams);
      grant(user, searchParams);
      return new URLSearchParams({ code: user, state: searchParams.get('state') ?? '', iss: issuer });
    },
  });
}

const HTML = { 'content-type': 'text/html; charset=utf-8' };

/** Where a browser is asked who the person is and whether they agree. */
function consentPage(url: string): string {
  const { searchParams } = new URL(url);
  const hidden = ['redirect_uri', 'state', 'scope']
    .map((name) => `<input type="hidden" name="${name}" value="${searchParams.get(name) ?? ''}">`)
    .join('');
  const buttons = ['allow', 'deny'].map((each) => `<button name="decision" value="${each}">${each}</button>`).join('');
  return `<!doctype html><title>Sign in</title><form action="/decide">${hidden}<input name="login">${buttons}</form>`;
}

function redirectOf(searchParams: URLSearchParams, issuer: string): string {
  const url = new URL(searchParams.get('redirect_uri') ?? '');
  const answer =
    searchParams.get('decision') === 'allow'
      ? { code: searchParams.get('login') ?? '' }
      : { error: 'access_denied', error_description: 'The person has said no.' };
  url.search = new URLSearchParams({ ...answer, state: searchParams.get('state') ?? '', iss: issuer }).toString();
  return url.href;
}
