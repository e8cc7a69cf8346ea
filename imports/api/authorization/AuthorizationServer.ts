/**
 * An authorization server for `/mcp`: the app's own users let MCP clients act for them. The authorization code flow of
 * OAuth 2.1 for public clients, with PKCE.
 *
 * What a client has registered is sealed in its id, and what a user has consented to in the code, so that neither costs
 * anything until a user has consented. A grant is an API token that only `/mcp` accepts.
 */
import { createHash, createHmac } from 'node:crypto';
import { fieldsOf, isList } from '../../business/ai/domain/util/json';
import { omitUndefined } from '../../business/ai/domain/util/omitUndefined';
import type { JsonObject } from '../../business/ai/domain/types/VendorTypes';
import { hashOf, isSameHash, isToken, randomToken } from '../../business/providers/application/oauth/flowTokens';
import { SealError } from '../../business/providers/domain/interfaces/Sealer';
import type { Sealer } from '../../business/providers/domain/interfaces/Sealer';
import type { ApiPrincipal, Scope } from '../auth/ApiPrincipal';
import { GRANT_PREFIX } from '../auth/ApiTokens';
import type { ApiTokens, ListedApiToken } from '../auth/ApiTokens';
import type { UsedStates } from '../signIn/UsedStates';
import { OAuthProtocolError } from './OAuthProtocolError';
import { isLoopback, matchesRedirect, readClient } from './readClient';
import type { OAuthClient } from './readClient';

export interface AuthorizationServerPorts {
  readonly tokens: Pick<ApiTokens, 'issue' | 'rotate' | 'update' | 'find' | 'verifyGrant' | 'list' | 'revoke'>;
  readonly sealer: Sealer;
  readonly usedCodes: Pick<UsedStates, 'use'>;
  /** Whether the user still exists. */
  readonly isUser: (userId: string) => Promise<boolean>;
  /** Signs refresh tokens; the same in all processes. */
  readonly secret: Buffer;
  /** Where browsers reach this server, without a slash at the end. */
  readonly rootUrl: string;
  /** What tokens are issued for. https://www.rfc-editor.org/rfc/rfc8707 */
  readonly resource: string;
  /** Milliseconds since the epoch. */
  readonly now?: () => number;
}

/** What a client asks a user for. */
export interface AuthorizationRequest {
  readonly clientId: string;
  readonly client: OAuthClient;
  readonly redirectUri: string;
  readonly challenge: string;
  readonly scopes: readonly Scope[];
  readonly state: string | undefined;
}

/** What a code stands for. */
interface Code {
  readonly id: string;
  readonly client: string;
  readonly name: string;
  readonly redirectUri: string;
  readonly challenge: string;
  readonly scopes: readonly Scope[];
  readonly userId: string;
  readonly expiresAt: number;
}

export interface IssuedTokens {
  readonly response: JsonObject;
  readonly userId: string;
  readonly tokenId: string;
  /** Whether the user has consented just now. */
  readonly isNew: boolean;
}

export const AUTHORIZATION_PATHS = {
  authorize: '/oauth/authorize',
  token: '/oauth/token',
  register: '/oauth/register',
  revoke: '/oauth/revoke',
  grants: '/oauth/grants',
} as const;
/** Tokens of clients never have the rights of admins. */
export const GRANTED_SCOPES: readonly Scope[] = ['generate', 'read', 'approve'];

const CODE_MS = 60_000;
const ACCESS_MS = 3_600_000;
/** How long a grant is valid that its client does not use. */
const REFRESH_MS = 90 * 86_400_000;
/** How long the secrets before a refresh are valid, for requests in progress and answers that were lost. */
const GRACE_MS = 30_000;
/** The most grants of one user. A further one revokes the oldest. */
const MAX_GRANTS = 50;
const REFRESH_PREFIX = 'mcpr_';
const SEALED = /^([\w-]{1,64})\.([\w-]{1,6000})$/;

export class AuthorizationServer {
  private readonly ports: AuthorizationServerPorts;
  private readonly now: () => number;
  private readonly refreshKey: Buffer;
  readonly issuer: string;

  constructor(ports: AuthorizationServerPorts) {
    this.ports = ports;
    this.now = ports.now ?? Date.now;
    this.issuer = ports.rootUrl;
    this.refreshKey = createHmac('sha256', ports.secret).update('mcp refresh tokens').digest();
  }

  /** https://www.rfc-editor.org/rfc/rfc8414#section-2 */
  get metadata(): JsonObject {
    const at = (path: string): string => this.ports.rootUrl + path;
    return {
      issuer: this.issuer,
      authorization_endpoint: at(AUTHORIZATION_PATHS.authorize),
      token_endpoint: at(AUTHORIZATION_PATHS.token),
      registration_endpoint: at(AUTHORIZATION_PATHS.register),
      revocation_endpoint: at(AUTHORIZATION_PATHS.revoke),
      scopes_supported: GRANTED_SCOPES,
      response_types_supported: ['code'],
      response_modes_supported: ['query'],
      grant_types_supported: ['authorization_code', 'refresh_token'],
      token_endpoint_auth_methods_supported: ['none'],
      revocation_endpoint_auth_methods_supported: ['none'],
      code_challenge_methods_supported: ['S256'],
      authorization_response_iss_parameter_supported: true,
    };
  }

  /** https://www.rfc-editor.org/rfc/rfc7591#section-3 @throws OAuthProtocolError */
  register(body: unknown): JsonObject {
    const client = readClient(body);
    return {
      client_id: this.seal('client', client),
      client_id_issued_at: Math.floor(this.now() / 1_000),
      client_name: client.name,
      redirect_uris: client.redirectUris,
      grant_types: ['authorization_code', 'refresh_token'],
      response_types: ['code'],
      token_endpoint_auth_method: 'none',
    };
  }

  /**
   * https://www.rfc-editor.org/rfc/rfc6749#section-4.1.1, https://www.rfc-editor.org/rfc/rfc7636#section-4.3
   * @throws OAuthProtocolError, with where to redirect once the client and its address are known
   */
  readRequest(query: URLSearchParams): AuthorizationRequest {
    const clientId = single(query, 'client_id') ?? '';
    const client = this.clientOf(clientId);
    const redirectUri = single(query, 'redirect_uri') ?? '';
    if (!client.redirectUris.some((registered) => matchesRedirect(registered, redirectUri)))
      throw new OAuthProtocolError('invalid_redirect_uri', 'The client has not registered this "redirect_uri".');
    const state = single(query, 'state');
    const refuse = (code: OAuthProtocolError['code'], description: string): OAuthProtocolError =>
      new OAuthProtocolError(
        code,
        description,
        this.redirection({ redirectUri, state }, { error: code, error_description: description }),
      );
    for (const name of new Set(query.keys()))
      if (name !== 'resource' && query.getAll(name).length > 1)
        throw refuse('invalid_request', `"${name}" is repeated.`);
    if (single(query, 'response_type') !== 'code')
      throw refuse('unsupported_response_type', '"response_type" must be "code".');
    const challenge = single(query, 'code_challenge') ?? '';
    if (!isToken(challenge) || single(query, 'code_challenge_method') !== 'S256')
      throw refuse('invalid_request', 'PKCE is required: "code_challenge" with the "code_challenge_method" S256.');
    if (!this.isResource(query)) throw refuse('invalid_target', `"resource" must be ${this.ports.resource}.`);
    const asked = (single(query, 'scope') ?? '').split(' ');
    const scopes = GRANTED_SCOPES.filter((scope) => asked.includes(scope));
    return { clientId, client, redirectUri, challenge, state, scopes: scopes.length === 0 ? GRANTED_SCOPES : scopes };
  }

  /** The user consents. @returns where the browser goes */
  approve(request: AuthorizationRequest, userId: string): URL {
    const { clientId, client, redirectUri, challenge, scopes } = request;
    const code: Code = {
      ...{ id: randomToken(), client: hashOf(clientId), name: client.name, redirectUri, challenge, scopes, userId },
      expiresAt: this.now() + CODE_MS,
    };
    return this.redirection(request, { code: this.seal('code', code) });
  }

  /** The user refuses. @returns where the browser goes */
  deny(request: AuthorizationRequest): URL {
    return this.redirection(request, { error: 'access_denied', error_description: 'The user has refused.' });
  }

  /** https://www.rfc-editor.org/rfc/rfc6749#section-4.1.3 and section 6 @throws OAuthProtocolError */
  async exchange(form: URLSearchParams): Promise<IssuedTokens> {
    const type = single(form, 'grant_type');
    if (!this.isResource(form))
      throw new OAuthProtocolError('invalid_target', `"resource" must be ${this.ports.resource}.`);
    const clientId = single(form, 'client_id') ?? '';
    this.clientOf(clientId);
    if (type === 'authorization_code') return this.redeem(form, clientId);
    if (type === 'refresh_token') return this.refresh(single(form, 'refresh_token') ?? '', clientId);
    throw new OAuthProtocolError(
      'unsupported_grant_type',
      '"grant_type" must be "authorization_code" or "refresh_token".',
    );
  }

  /** https://www.rfc-editor.org/rfc/rfc7009 @returns whose grant was revoked; undefined for a token that is not valid */
  async revoke(form: URLSearchParams): Promise<{ readonly userId: string; readonly tokenId: string } | undefined> {
    const token = single(form, 'token') ?? '';
    const refreshed = this.openRefresh(token, hashOf(single(form, 'client_id') ?? ''));
    const principal = refreshed === undefined ? await this.verify(token) : undefined;
    const tokenId = refreshed?.tokenId ?? principal?.token?.id;
    const stored = tokenId === undefined ? undefined : await this.ports.tokens.find(tokenId);
    if (tokenId === undefined || stored?.grant === undefined) return undefined;
    await this.ports.tokens.revoke(stored.userId, tokenId);
    return { userId: stored.userId, tokenId };
  }

  /** @returns the principal of an access token, while its user exists */
  async verify(token: string): Promise<ApiPrincipal | undefined> {
    if (!token.startsWith(GRANT_PREFIX)) return undefined;
    const principal = await this.ports.tokens.verifyGrant(token);
    return principal !== undefined && (await this.ports.isUser(principal.userId)) ? principal : undefined;
  }

  /** What the user has granted, the newest first. */
  async grants(userId: string): Promise<readonly ListedApiToken[]> {
    return (await this.ports.tokens.list(userId))
      .filter((token) => token.grant !== undefined && this.isAlive(token))
      .reverse();
  }

  private async redeem(form: URLSearchParams, clientId: string): Promise<IssuedTokens> {
    const code = this.open('code', single(form, 'code') ?? '') as Code | undefined;
    const verifier = single(form, 'code_verifier') ?? '';
    const isRight =
      code !== undefined &&
      code.expiresAt > this.now() &&
      code.client === hashOf(clientId) &&
      code.redirectUri === single(form, 'redirect_uri') &&
      /^[\w.~-]{43,128}$/.test(verifier) &&
      isSameHash(createHash('sha256').update(verifier).digest('base64url'), code.challenge);
    if (!isRight || !(await this.ports.isUser(code.userId)))
      throw new OAuthProtocolError('invalid_grant', 'The code is not valid, or not for this client.');
    if (!(await this.ports.usedCodes.use(`oauth:${hashOf(code.id)}`, code.expiresAt))) {
      // Somebody has a code that was used: https://www.rfc-editor.org/rfc/rfc6749#section-4.1.2
      for (const { _id, grant } of await this.ports.tokens.list(code.userId))
        if (grant?.code === hashOf(code.id)) await this.ports.tokens.revoke(code.userId, _id);
      throw new OAuthProtocolError('invalid_grant', 'The code was used before.');
    }
    const { userId, name, scopes, redirectUri } = code;
    await this.makeRoom(userId);
    const { token, id } = await this.ports.tokens.issue({
      ...{ userId, name, scopes, expiresAt: this.now() + ACCESS_MS },
      grant: { client: destinationOf(redirectUri), code: hashOf(code.id) },
    });
    return this.issued({ token, id, userId, scopes, clientId, isNew: true });
  }

  /** Each refresh token counts once; one that was used before revokes the grant, since somebody else may have it. */
  private async refresh(given: string, clientId: string): Promise<IssuedTokens> {
    const refused = new OAuthProtocolError('invalid_grant', 'The refresh token is not valid, or not for this client.');
    const opened = this.openRefresh(given, hashOf(clientId));
    const stored = opened === undefined ? undefined : await this.ports.tokens.find(opened.tokenId);
    if (opened === undefined || stored?.grant === undefined || stored.revokedAt !== undefined) throw refused;
    const { _id: id, userId, scopes } = stored;
    const generation = generationOf(stored);
    if (!this.isAlive(stored) || !(await this.ports.isUser(userId))) throw refused;
    if (opened.generation !== generation && this.now() - generation > GRACE_MS) {
      await this.ports.tokens.revoke(userId, id);
      throw refused;
    }
    const rotated = await this.ports.tokens.rotate(id, userId, { graceMs: GRACE_MS });
    const updated = await this.ports.tokens.update(id, userId, { expiresAt: this.now() + ACCESS_MS });
    if (rotated === undefined || updated === undefined) throw refused;
    return this.issued({ token: rotated.token, id, userId, scopes, clientId, isNew: false });
  }

  private async issued({
    token,
    id,
    userId,
    scopes,
    clientId,
    isNew,
  }: {
    readonly token: string;
    readonly id: string;
    readonly userId: string;
    readonly scopes: readonly Scope[];
    readonly clientId: string;
    readonly isNew: boolean;
  }): Promise<IssuedTokens> {
    const stored = await this.ports.tokens.find(id);
    const generation = stored === undefined ? this.now() : generationOf(stored);
    const body = `${id}.${generation.toString(36)}`;
    return {
      ...{ userId, tokenId: id, isNew },
      response: {
        access_token: token,
        token_type: 'Bearer',
        expires_in: ACCESS_MS / 1_000,
        refresh_token: `${REFRESH_PREFIX}${body}.${this.sign(body, hashOf(clientId))}`,
        scope: scopes.join(' '),
      },
    };
  }

  private openRefresh(
    token: string,
    client: string,
  ): { readonly tokenId: string; readonly generation: number } | undefined {
    const [, tokenId = '', generation = '', signature = ''] =
      /^mcpr_([0-9a-f]{16})\.([0-9a-z]{1,12})\.([\w-]{43})$/.exec(token) ?? [];
    if (tokenId === '' || !isSameHash(this.sign(`${tokenId}.${generation}`, client), signature)) return undefined;
    return { tokenId, generation: Number.parseInt(generation, 36) };
  }

  private sign(body: string, client: string): string {
    return createHmac('sha256', this.refreshKey).update(`${client}.${body}`).digest('base64url');
  }

  private async makeRoom(userId: string): Promise<void> {
    const grants = (await this.ports.tokens.list(userId)).filter(({ grant }) => grant !== undefined);
    const dead = grants.filter((token) => !this.isAlive(token));
    const excess = grants.filter((token) => this.isAlive(token)).slice(0, -(MAX_GRANTS - 1));
    for (const { _id } of [...dead, ...excess]) await this.ports.tokens.revoke(userId, _id);
  }

  private isAlive(token: Generation): boolean {
    return this.now() - generationOf(token) < REFRESH_MS;
  }

  private isResource(parameters: URLSearchParams): boolean {
    const { resource } = this.ports;
    return parameters.getAll('resource').every((given) => given.replace(/\/$/, '') === resource);
  }

  private clientOf(clientId: string): OAuthClient {
    const client = this.open('client', clientId);
    if (client !== undefined && isList(fieldsOf(client)['redirectUris'])) return client as OAuthClient;
    throw new OAuthProtocolError(
      'invalid_client',
      'This client is not registered here, or was before a key of this server was removed. Remove the connection in the client, and add it again.',
    );
  }

  private redirection(
    { redirectUri, state }: Pick<AuthorizationRequest, 'redirectUri' | 'state'>,
    parameters: Readonly<Record<string, string>>,
  ): URL {
    const url = new URL(redirectUri);
    // https://www.rfc-editor.org/rfc/rfc9207
    const all = omitUndefined({ ...parameters, state, iss: this.issuer });
    for (const [name, value] of Object.entries(all)) url.searchParams.set(name, value);
    return url;
  }

  private seal(purpose: 'client' | 'code', content: object): string {
    const { keyId, sealed } = this.ports.sealer.seal(JSON.stringify(content), this.binding(purpose));
    return `${keyId}.${sealed}`;
  }

  private open(purpose: 'client' | 'code', text: string): object | undefined {
    const [, keyId, sealed] = SEALED.exec(text) ?? [];
    if (keyId === undefined || sealed === undefined) return undefined;
    try {
      // Nobody else can have sealed it.
      return JSON.parse(this.ports.sealer.open({ keyId, sealed }, this.binding(purpose))) as object;
    } catch (error) {
      if (error instanceof SealError) return undefined;
      throw error;
    }
  }

  private binding(purpose: string): readonly string[] {
    return ['mcp authorization', purpose, this.issuer];
  }
}

type Generation = Pick<ListedApiToken, 'createdAt' | 'rotatedAt'>;

/** When the current secrets of a grant were issued. */
function generationOf({ createdAt, rotatedAt = createdAt }: Generation): number {
  return rotatedAt;
}

function single(parameters: URLSearchParams, name: string): string | undefined {
  const values = parameters.getAll(name);
  return values.length === 1 ? values[0] : undefined;
}

/** Where a client receives its codes, as people are shown it. */
export function destinationOf(redirectUri: string): string {
  const url = new URL(redirectUri);
  if (isLoopback(url)) return 'this computer';
  return url.protocol === 'https:' ? url.host : `the app that opens ${url.protocol}//${url.host}`;
}
