/** An OAuth 2.1 server on loopback that consents at once: metadata, code with PKCE, and bearer tokens. */
import { createHash, randomUUID } from 'node:crypto';
import { createServer } from 'node:http';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';

export class FakeAuthorizationServer {
  url = '';
  /** The access tokens that were issued. */
  readonly issued: string[] = [];
  /** Code challenges by code. */
  private readonly codes = new Map<string, string>();
  private readonly server: Server;

  constructor() {
    this.server = createServer((request, response) => {
      this.handle(request, response).catch((error: unknown) => {
        response.writeHead(500).end(String(error));
      });
    });
  }

  async start(): Promise<void> {
    await new Promise<void>((resolve) => this.server.listen(0, '127.0.0.1', resolve));
    const address = this.server.address();
    this.url = `http://127.0.0.1:${typeof address === 'object' && address !== null ? address.port : 0}`;
  }

  stop(): void {
    this.server.close();
    this.server.closeAllConnections();
  }

  private async handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { pathname, searchParams } = new URL(request.url ?? '/', this.url);
    if (pathname.startsWith('/.well-known/')) sendJson(response, 200, this.metadata());
    else if (pathname === '/authorize') this.authorize(searchParams, response);
    else if (pathname === '/token') this.issue(new URLSearchParams(await readBody(request)), response);
    else response.writeHead(404).end();
  }

  private metadata(): object {
    return {
      issuer: this.url,
      authorization_endpoint: `${this.url}/authorize`,
      token_endpoint: `${this.url}/token`,
      response_types_supported: ['code'],
      grant_types_supported: ['authorization_code', 'refresh_token'],
      code_challenge_methods_supported: ['S256'],
      token_endpoint_auth_methods_supported: ['client_secret_basic', 'client_secret_post'],
      authorization_response_iss_parameter_supported: true,
    };
  }

  private authorize(parameters: URLSearchParams, response: ServerResponse): void {
    const code = randomUUID();
    this.codes.set(code, parameters.get('code_challenge') ?? '');
    const callback = new URL(parameters.get('redirect_uri') ?? '');
    callback.searchParams.set('code', code);
    callback.searchParams.set('state', parameters.get('state') ?? '');
    callback.searchParams.set('iss', this.url);
    response.writeHead(302, { location: callback.href }).end();
  }

  private issue(parameters: URLSearchParams, response: ServerResponse): void {
    const challenge = this.codes.get(parameters.get('code') ?? '');
    this.codes.delete(parameters.get('code') ?? '');
    const verifier = parameters.get('code_verifier') ?? '';
    if (challenge === undefined || createHash('sha256').update(verifier).digest('base64url') !== challenge) {
      sendJson(response, 400, { error: 'invalid_grant' });
      return;
    }
    const token = `access-${randomUUID()}`;
    this.issued.push(token);
    sendJson(response, 200, {
      access_token: token,
      token_type: 'Bearer',
      expires_in: 3600,
      refresh_token: `refresh-${randomUUID()}`,
    });
  }
}

function sendJson(response: ServerResponse, status: number, body: object): void {
  response.writeHead(status, { 'content-type': 'application/json', 'cache-control': 'no-store' });
  response.end(JSON.stringify(body));
}

async function readBody(request: IncomingMessage): Promise<string> {
  request.setEncoding('utf8');
  let body = '';
  for await (const chunk of request) body += String(chunk);
  return body;
}
