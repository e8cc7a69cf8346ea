/** An OpenID provider on 127.0.0.1 that signs somebody in at once, and lies where a test wants it to. */
import { createHash, createSign, generateKeyPairSync, randomBytes } from 'node:crypto';
import type { KeyObject } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

type Claims = Readonly<Record<string, unknown>>;

/** What the issuer keeps for a code. */
interface Grant {
  readonly challenge: string;
  readonly nonce: string;
  readonly redirectUri: string;
}

export const CLIENT_ID = 'bolide';
export const CLIENT_SECRET = 'a-secret-of-the-dashboard';

const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2_048 });
/** Not published. */
export const FOREIGN_KEY: KeyObject = generateKeyPairSync('rsa', { modulusLength: 2_048 }).privateKey;

export class TestIssuer {
  /** Who signs in. */
  person: Claims & { readonly sub: string } = { sub: 'ann' };
  /** Claims that only the user info endpoint gives. */
  userInfo: Claims = {};
  /** Replaces claims of ID tokens. */
  claims: Claims = {};
  header: Claims = {};
  key: KeyObject | 'none' = privateKey;
  /** Changes what the browser brings back. */
  changeCallback: (parameters: URLSearchParams) => void = () => undefined;
  /** Replaces metadata. */
  metadata: Claims = {};
  /** The method and path of every request. */
  readonly requests: string[] = [];
  isDown = false;
  private readonly server: Server;
  private readonly grants = new Map<string, Grant>();

  private constructor(server: Server) {
    this.server = server;
    server.on('request', (request: IncomingMessage, response: ServerResponse) => void this.take(request, response));
  }

  static async start(): Promise<TestIssuer> {
    const server = createServer().listen(0, '127.0.0.1');
    await once(server, 'listening');
    return new TestIssuer(server);
  }

  get url(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  /** Honest again, and without a memory. */
  reset(): void {
    this.person = { sub: 'ann' };
    this.userInfo = {};
    this.claims = {};
    this.header = {};
    this.key = privateKey;
    this.changeCallback = () => undefined;
    this.metadata = {};
    this.isDown = false;
    this.requests.length = 0;
  }

  async stop(): Promise<void> {
    const closed = once(this.server, 'close');
    this.server.close();
    this.server.closeAllConnections();
    await closed;
  }

  private async take(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(request.url ?? '', this.url);
    this.requests.push(`${request.method ?? ''} ${url.pathname}`);
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const send = (status: number, body: object): void => {
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
    };
    if (this.isDown) send(503, { error: 'temporarily_unavailable' });
    else if (url.pathname === '/.well-known/openid-configuration') send(200, this.describe());
    else if (url.pathname === '/authorize') this.authorize(url.searchParams, response);
    else if (url.pathname === '/jwks')
      send(200, { keys: [{ ...publicKey.export({ format: 'jwk' }), kid: 'k1', use: 'sig', alg: 'RS256' }] });
    else if (url.pathname === '/token') this.exchange(new URLSearchParams(Buffer.concat(chunks).toString()), send);
    else if (url.pathname === '/userinfo') send(200, { sub: this.person.sub, ...this.userInfo });
    else send(404, {});
  }

  private describe(): Claims {
    const at = (path: string): string => this.url + path;
    return {
      issuer: this.url,
      authorization_endpoint: at('/authorize'),
      token_endpoint: at('/token'),
      jwks_uri: at('/jwks'),
      userinfo_endpoint: at('/userinfo'),
      end_session_endpoint: at('/end'),
      response_types_supported: ['code'],
      code_challenge_methods_supported: ['S256'],
      id_token_signing_alg_values_supported: ['RS256'],
      authorization_response_iss_parameter_supported: true,
      ...this.metadata,
    };
  }

  private authorize(parameters: URLSearchParams, response: ServerResponse): void {
    const code = randomBytes(16).toString('hex');
    const read = (name: string): string => parameters.get(name) ?? '';
    this.grants.set(code, {
      challenge: read('code_challenge'),
      nonce: read('nonce'),
      redirectUri: read('redirect_uri'),
    });
    const callback = new URL(read('redirect_uri'));
    const answer = new URLSearchParams({ code, state: read('state'), iss: this.url });
    this.changeCallback(answer);
    callback.search = answer.toString();
    response.writeHead(302, { location: callback.href }).end();
  }

  private exchange(body: URLSearchParams, send: (status: number, body: object) => void): void {
    const grant = this.grants.get(body.get('code') ?? '');
    this.grants.delete(body.get('code') ?? '');
    const challenge = createHash('sha256')
      .update(body.get('code_verifier') ?? '')
      .digest('base64url');
    if (grant?.challenge !== challenge || grant.redirectUri !== body.get('redirect_uri')) {
      send(400, { error: 'invalid_grant' });
      return;
    }
    const now = Math.floor(Date.now() / 1_000);
    const own = { iss: this.url, aud: CLIENT_ID, iat: now, exp: now + 300, nonce: grant.nonce };
    const idToken = this.sign({ ...own, ...this.person, ...this.claims });
    send(200, { access_token: 'access', token_type: 'Bearer', expires_in: 300, id_token: idToken });
  }

  /** A JWT with these claims. */
  sign(claims: Claims): string {
    const encode = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url');
    const header = { alg: this.key === 'none' ? 'none' : 'RS256', kid: 'k1', typ: 'JWT', ...this.header };
    const data = `${encode(header)}.${encode(claims)}`;
    if (this.key === 'none') return `${data}.`;
    return `${data}.${createSign('RSA-SHA256').update(data).sign(this.key).toString('base64url')}`;
  }
}
