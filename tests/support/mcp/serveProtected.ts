/** An MCP server that wants a token, and its authorization server, at one address. */
import { serveMcp, INITIALIZE, jsonRpc } from './serveMcp';

export interface ProtectedServer {
  /** Of the MCP server. */
  readonly url: string;
  /** Of the authorization server. */
  readonly issuer: string;
  /** The issuer that the MCP server names. */
  authorizationServer: string;
  readonly authorizations: URLSearchParams[];
  readonly exchanges: URLSearchParams[];
  /** Tokens that came with requests to the MCP server. */
  readonly tokensSeen: string[];
  /** Requests to the authorization server that carried the MCP server's headers. */
  readonly leaks: string[];
  /** The person signs in. @returns what the authorization server sends back */
  approve(url: URL, user: string): URLSearchParams;
  close(): Promise<void>;
}

export async function serveProtected(authorizationServer?: string): Promise<ProtectedServer> {
  const rpc = jsonRpc({
    ...INITIALIZE,
    'tools/list': () => ({ tools: [{ name: 'ping', inputSchema: { type: 'object' } }] }),
  });
  const state = {
    authorizationServer: authorizationServer ?? '',
    authorizations: [] as URLSearchParams[],
    exchanges: [] as URLSearchParams[],
    tokensSeen: [] as string[],
    leaks: [] as string[],
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
        registration_endpoint: `${issuer}/register`,
        response_types_supported: ['code'],
        code_challenge_methods_supported: ['S256'],
        authorization_response_iss_parameter_supported: true,
        token_endpoint_auth_methods_supported: ['none', 'client_secret_basic'],
      });
    if (pathname === '/register')
      return Response.json({ ...((await request.json()) as object), client_id: 'registered' }, { status: 201 });
    if (pathname === '/token') {
      const form = new URLSearchParams(await request.text());
      state.exchanges.push(form);
      return Response.json({ access_token: `token of ${form.get('code')}`, token_type: 'Bearer', expires_in: 3600 });
    }
    const token = request.headers.get('authorization')?.replace('Bearer ', '');
    if (token !== undefined) state.tokensSeen.push(token);
    if (token?.startsWith('token of ') === true) return rpc(request);
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
      return new URLSearchParams({ code: user, state: searchParams.get('state') ?? '', iss: issuer });
    },
  });
}
