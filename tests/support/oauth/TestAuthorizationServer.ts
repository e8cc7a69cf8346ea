/** A certified authorization server on 127.0.0.1, with strict rotation of refresh tokens and faults on demand. */
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { IncomingMessage, RequestListener, Server, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import Provider from 'oidc-provider';
import type { GrantContext } from 'oidc-provider';
import { CANARY, canaryWatch } from '../canaries';
import { grantAdapter } from './grantAdapter';
import type { GrantRows } from './grantAdapter';

export interface TestAuthorizationServerOptions {
  /** In seconds. Default: one hour. */
  readonly accessTokenTtl?: number;
  /**
   * For how long a used refresh token is accepted again, in milliseconds. Default: 0; reuse then revokes the entire
   * grant.
   */
  readonly reuseGraceMs?: number;
  readonly redirectUris: readonly string[];
  readonly requirePkce?: boolean;
  readonly resources?: readonly string[];
}

/** A token request that the server has processed, whether or not its response arrived. */
export interface TokenRequest {
  readonly parameters: URLSearchParams;
  readonly status: number;
}

/** Handles a request before the server does. Returns true if the server must not handle it too. */
export type Intercept = (request: IncomingMessage, response: ServerResponse, pass: () => void) => boolean;

export const CLIENT = { id: 'bolide', secret: `client-${CANARY}-0123456789-abcdefghij` } as const;
export const APP_CLIENT = { id: 'bolide-app', secret: `app-${CANARY}-0123456789-abcdefghijkl` } as const;

export class TestAuthorizationServer {
  readonly url: string;
  readonly tokenRequests: TokenRequest[] = [];
  /** The path and query of every request. */
  readonly paths: string[] = [];
  /** What the server stores: codes, tokens and grants. */
  readonly rows: GrantRows;
  intercept: Intercept = () => false;
  private readonly server: Server;
  private readonly handle: RequestListener;

  private constructor(server: Server, options: TestAuthorizationServerOptions) {
    this.server = server;
    this.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const { adapter, rows } = grantAdapter(options.reuseGraceMs ?? 0);
    this.rows = rows;
    this.handle = withoutConsoleOutput(() => {
      const provider = new Provider(this.url, configurationOf(options, adapter));
      plantCanaries(provider);
      provider.on('grant.success', (context) =>
        this.tokenRequests.push({ parameters: parametersOf(context), status: 200 }),
      );
      provider.on('grant.error', (context) =>
        this.tokenRequests.push({ parameters: parametersOf(context), status: 400 }),
      );
      return provider.callback();
    });
  }

  static async start(options: TestAuthorizationServerOptions): Promise<TestAuthorizationServer> {
    const server = createServer();
    canaryWatch.except(server);
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const host = new TestAuthorizationServer(server, options);
    server.on('request', (request, response) => host.take(request, response));
    return host;
  }

  /** Counts the granted token requests of a grant type. */
  countGranted(grantType: string): number {
    return this.tokenRequests.filter(
      ({ parameters, status }) => status === 200 && parameters.get('grant_type') === grantType,
    ).length;
  }

  async stop(): Promise<void> {
    const closed = once(this.server, 'close');
    this.server.close();
    this.server.closeAllConnections();
    await closed;
  }

  private take(request: IncomingMessage, response: ServerResponse): void {
    this.paths.push(request.url ?? '');
    const pass = (): void => {
      this.handle(request, response);
    };
    if (!this.intercept(request, response, pass)) pass();
  }
}

/** Puts the canary into codes and tokens. */
function plantCanaries(provider: Provider): void {
  for (const { prototype } of [
    provider.AccessToken,
    provider.ClientCredentials,
    provider.RefreshToken,
    provider.AuthorizationCode,
  ]) {
    const original = Reflect.get(prototype, 'generateTokenId');
    prototype.generateTokenId = function (this: object) {
      return CANARY + original.call(this);
    };
  }
}

function parametersOf({ oidc }: GrantContext): URLSearchParams {
  return new URLSearchParams(
    Object.entries(oidc.body ?? {}).flatMap(([name, value]) => [value].flat().map((each) => [name, String(each)])),
  );
}

/** Suppresses the package's warnings about settings for production. */
function withoutConsoleOutput<T>(make: () => T): T {
  const { info, warn } = console;
  console.info = console.warn = () => undefined;
  try {
    return make();
  } finally {
    Object.assign(console, { info, warn });
  }
}

function configurationOf(
  { accessTokenTtl = 3_600, redirectUris, requirePkce = true, resources = [] }: TestAuthorizationServerOptions,
  adapter: unknown,
): object {
  const common = {
    redirect_uris: redirectUris,
    response_types: ['code'],
    token_endpoint_auth_method: 'client_secret_basic',
  };
  return {
    adapter,
    clients: [
      {
        ...common,
        client_id: CLIENT.id,
        client_secret: CLIENT.secret,
        grant_types: ['authorization_code', 'refresh_token'],
      },
      {
        client_id: APP_CLIENT.id,
        client_secret: APP_CLIENT.secret,
        grant_types: ['client_credentials'],
        redirect_uris: [],
        response_types: [],
        token_endpoint_auth_method: 'client_secret_post',
      },
      {
        ...common,
        client_id: 'bolide-public',
        token_endpoint_auth_method: 'none',
        grant_types: ['authorization_code', 'refresh_token'],
      },
    ],
    cookies: { keys: ['a key of the tests'] },
    findAccount: (_context: unknown, sub: string) => ({ accountId: sub, claims: () => ({ sub }) }),
    scopes: ['openid', 'offline_access', 'llm'],
    rotateRefreshToken: true,
    pkce: { required: () => requirePkce },
    ttl: {
      AccessToken: () => accessTokenTtl,
      ClientCredentials: () => accessTokenTtl,
      RefreshToken: 86_400,
      Grant: 86_400,
      IdToken: 3_600,
      Interaction: 600,
      Session: 86_400,
      AuthorizationCode: 60,
    },
    features: {
      clientCredentials: { enabled: true },
      revocation: {
        enabled: true,
        allowedPolicy: (_context: unknown, client: { clientId: string }, token: { clientId: string }) =>
          token.clientId === client.clientId,
      },
      introspection: { enabled: true },
      resourceIndicators: {
        enabled: resources.length > 0,
        defaultResource: () => undefined,
        useGrantedResource: () => true,
        getResourceServerInfo: (_context: unknown, resource: string) => {
          if (!resources.includes(resource)) throw new Error('unknown resource');
          return { scope: 'llm', audience: resource, accessTokenTTL: accessTokenTtl, accessTokenFormat: 'opaque' };
        },
      },
    },
  };
}
