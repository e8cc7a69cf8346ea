/** Connects a user's account at a vendor: the way there, the way back, and the way out again. */
import { isLLMError, LLMInvalidRequestError, LLMPermissionError } from '../../../ai/domain/errors/LLMErrors';
import { decideAccess } from '../../domain/entities/ProviderAccess';
import { isPersonal } from '../../domain/entities/Provider';
import type { Provider } from '../../domain/entities/Provider';
import { AUTHORIZATION_LIFETIME_MS } from '../../domain/entities/PendingAuthorization';
import type { PendingAuthorization } from '../../domain/entities/PendingAuthorization';
import { credentialIdFor } from '../../domain/entities/StoredCredential';
import { OAuthRefusal } from '../../domain/interfaces/AuthorizationServer';
import type { AuthorizationStore } from '../../domain/interfaces/AuthorizationStore';
import type { Clock } from '../../domain/interfaces/Clock';
import type { EventLog } from '../../domain/interfaces/EventLog';
import type { ProviderStore } from '../../domain/interfaces/ProviderStore';
import { SealError } from '../../domain/interfaces/Sealer';
import type { SealBinding, Sealer } from '../../domain/interfaces/Sealer';
import type { UserLookup } from '../../../ai/domain/types/Actor';
import type { TokenSet } from '../../domain/types/TokenSet';
import { withoutSecrets } from '../../domain/withoutSecrets';
import { destinationHash } from '../credentials/CredentialVault';
import type { CredentialVault } from '../credentials/CredentialVault';
import { hashOf, isBinding, isSameHash, isToken, MIN_BINDING_LENGTH, randomToken } from './flowTokens';
import { userOAuthSettings } from './OAuthClients';
import type { OAuthClients } from './OAuthClients';
import { ConnectTickets } from './ConnectTickets';

export interface OAuthFlowPorts {
  readonly providers: ProviderStore;
  readonly authorizations: AuthorizationStore;
  readonly vault: CredentialVault;
  readonly clients: OAuthClients;
  readonly sealer: Sealer;
  readonly findUser: UserLookup;
  readonly clock: Clock;
  readonly log: EventLog;
  /** Where browsers reach this app, from its configuration: requests have no say in it. */
  readonly rootUrl: string;
}

/** What a browser brings back. */
export interface AuthorizationCallback {
  readonly parameters: URLSearchParams;
  /** From the browser's cookie. */
  readonly binding: string | undefined;
  /** Who is signed in, where the host can tell. */
  readonly userId?: string | undefined;
}

export type RefusalReason =
  | 'unknown-state'
  | 'state-used-again'
  | 'state-expired'
  | 'other-browser'
  | 'other-user'
  | 'provider-changed'
  | 'not-allowed'
  | 'refused-by-server'
  | 'server-unreachable';

export type FlowOutcome =
  | { readonly connected: true; readonly providerName: string; readonly userId: string }
  /** `detail` is what the server said: text that was written elsewhere. */
  | {
      readonly connected: false;
      readonly reason: RefusalReason;
      readonly providerName?: string;
      readonly detail?: string;
    };

export interface TicketInfo {
  readonly userId: string;
  readonly providerName: string;
}

const CALLBACK_PATH = '/oauth/callback';

export class OAuthFlow {
  private readonly ports: OAuthFlowPorts;
  private readonly tickets: ConnectTickets;
  private readonly root: string;

  /** @throws LLMInvalidRequestError for a root URL that browsers can't be sent to */
  constructor(ports: OAuthFlowPorts) {
    this.ports = ports;
    this.tickets = new ConnectTickets(ports);
    this.root = checkedRoot(ports.rootUrl);
  }

  get rootUrl(): string {
    return this.root;
  }

  /**
   * @param binding what the caller's browser keeps in its cookie for this; without it the browser is given one on
   *   a page of this app
   * @returns the URL to open in the caller's browser
   * @throws LLMPermissionError, LLMInvalidRequestError
   */
  async connect(userId: string, providerId: string, binding?: string): Promise<string> {
    if (binding !== undefined) return (await this.start(userId, providerId, binding)).href;
    userOAuthSettings(await this.allowedProvider(userId, providerId));
    const ticket = await this.tickets.issue(userId, providerId);
    return `${this.root}/oauth/${encodeURIComponent(providerId)}/start?ticket=${ticket}`;
  }

  /** Who a ticket is for; it stays good. Undefined for one that is not, or no longer. */
  async readTicket(providerId: string, ticket: string): Promise<TicketInfo | undefined> {
    const pending = await this.tickets.find(providerId, ticket);
    const provider = pending === undefined ? undefined : await this.ports.providers.find(providerId);
    return pending === undefined || provider === undefined
      ? undefined
      : { userId: pending.userId, providerName: provider.name };
  }

  /** @returns undefined for a ticket that is not good, or was used @throws as `start` */
  async redeemTicket(providerId: string, ticket: string, binding: string): Promise<URL | undefined> {
    const pending = await this.tickets.use(providerId, ticket);
    return pending === undefined ? undefined : this.start(pending.userId, providerId, binding);
  }

  /**
   * @returns where the browser that has the binding is sent @throws LLMPermissionError, LLMInvalidRequestError,
   * transport errors
   */
  async start(userId: string, providerId: string, binding: string): Promise<URL> {
    if (!isBinding(binding))
      throw new LLMInvalidRequestError(`a binding is ${MIN_BINDING_LENGTH} to 128 characters of base64url`, {
        path: 'binding',
      });
    const { clients, authorizations, sealer, clock, log } = this.ports;
    const provider = await this.allowedProvider(userId, providerId);
    const settings = userOAuthSettings(provider);
    const secrets: FlowSecrets = { codeVerifier: randomToken(), nonce: randomToken() };
    const request = { ...secrets, state: randomToken(), redirectUri: this.root + CALLBACK_PATH };
    const url = await clients.serverFor(settings).authorizationUrl(settings, request);
    const createdAt = clock.now();
    await authorizations.insert({
      _id: hashOf(request.state),
      stage: 'state',
      providerId,
      userId,
      createdAt,
      expiresAt: createdAt + AUTHORIZATION_LIFETIME_MS,
      bindingHash: hashOf(binding),
      destination: destinationHash(provider),
      redirectUri: request.redirectUri,
      box: sealer.seal(JSON.stringify(secrets), flowBinding(providerId, userId)),
    });
    log.info('oauth:started', { providerId, userId });
    return url;
  }

  /**
   * Takes the browser's answer once: whoever presents a state again finds it used. Throws only what is a fault of
   * this app.
   */
  async complete(answer: AuthorizationCallback): Promise<FlowOutcome> {
    const { authorizations, clock, log } = this.ports;
    const state = onlyState(answer.parameters);
    const pending = state === undefined ? undefined : await authorizations.find(hashOf(state));
    if (state === undefined || pending?.stage !== 'state') return this.refuse('unknown-state', {});
    const { providerId, userId } = pending;
    const refuse = (reason: RefusalReason, more: { providerName?: string; detail?: string } = {}): FlowOutcome =>
      this.refuse(reason, { providerId, userId }, more);
    if (!(await authorizations.use(pending._id, clock.now()))) return refuse('state-used-again');
    if (clock.now() >= pending.expiresAt) return refuse('state-expired');
    if (answer.binding === undefined || !isSameHash(hashOf(answer.binding), pending.bindingHash))
      return refuse('other-browser');
    if (answer.userId !== undefined && answer.userId !== userId) return refuse('other-user');
    const provider = await this.ports.providers.find(providerId);
    if (provider === undefined || !decideAccess(provider, await this.ports.findUser(userId)).allowed)
      return refuse('not-allowed');
    const { name: providerName } = provider;
    const secrets = this.secretsOf(pending);
    if (
      provider.auth.kind !== 'oauth_user' ||
      destinationHash(provider) !== pending.destination ||
      secrets === undefined
    )
      return refuse('provider-changed', { providerName });
    try {
      const isKept = await this.exchange(provider, pending, { ...secrets, state, parameters: answer.parameters });
      if (!isKept) return refuse('provider-changed', { providerName });
    } catch (error) {
      if (error instanceof OAuthRefusal)
        return refuse('refused-by-server', { providerName, detail: detailOf(error, answer.parameters) });
      if (isLLMError(error) && error.retryable)
        return refuse('server-unreachable', { providerName, detail: error.message });
      throw error;
    }
    log.info('oauth:connected', { providerId, userId });
    return { connected: true, providerName, userId };
  }

  /**
   * Forgets the user's account or key, and tells the vendor where it wants to be told. @throws
   * LLMInvalidRequestError, LLMPermissionError
   */
  async disconnect(userId: string, providerId: string): Promise<void> {
    const { providers, vault, clients, log } = this.ports;
    const provider = await providers.find(providerId);
    if (provider === undefined) throw notAllowed();
    if (!isPersonal(provider.auth))
      throw new LLMInvalidRequestError(`'${provider.name}' has no credential of yours.`, { path: 'providerId' });
    const row = await vault.store.take(credentialIdFor(provider, userId));
    if (row === undefined) return;
    log.info('oauth:disconnected', { providerId, userId });
    const content = vault.contentOf(row);
    if (content !== undefined && provider.auth.kind === 'oauth_user')
      await clients.revoke(provider, provider.auth.oauth, content);
  }

  /**
   * @returns false where the provider was removed or led elsewhere while its server was asked: what came is given
   * back then
   */
  private async exchange(
    provider: Provider,
    { userId, redirectUri = '' }: PendingAuthorization,
    answer: FlowSecrets & { state: string; parameters: URLSearchParams },
  ): Promise<boolean> {
    const settings = userOAuthSettings(provider);
    const { clients, vault, clock, providers } = this.ports;
    const client = await clients.clientFor(provider, settings);
    const tokens = await clients.serverFor(settings).exchange(client, { ...answer, redirectUri });
    const expiresAt = tokens.expiresInMs === undefined ? {} : { expiresAt: clock.now() + tokens.expiresInMs };
    const scopes = tokens.scopes === undefined ? {} : { scopes: tokens.scopes };
    const content = contentOf(tokens);
    await vault.put(provider, credentialIdFor(provider, userId).kind, userId, content, { ...expiresAt, ...scopes });
    // Whoever removes a provider removes it before its credentials, so one of the two sees the other.
    const now = await providers.find(provider._id);
    if (now !== undefined && destinationHash(now) === destinationHash(provider)) return true;
    await vault.store.take(credentialIdFor(provider, userId));
    await clients.revoke(provider, settings, content, client);
    return false;
  }

  private async allowedProvider(userId: string, providerId: string): Promise<Provider> {
    const [provider, user] = await Promise.all([this.ports.providers.find(providerId), this.ports.findUser(userId)]);
    if (provider === undefined || !decideAccess(provider, user).allowed) throw notAllowed();
    return provider;
  }

  private secretsOf({ box, providerId, userId }: PendingAuthorization): FlowSecrets | undefined {
    if (box === undefined) return undefined;
    try {
      // `start` sealed it under this binding.
      return JSON.parse(this.ports.sealer.open(box, flowBinding(providerId, userId))) as FlowSecrets;
    } catch (error) {
      if (error instanceof SealError) return undefined;
      throw error;
    }
  }

  private refuse(
    reason: RefusalReason,
    who: { providerId?: string; userId?: string },
    more: { providerName?: string; detail?: string } = {},
  ): FlowOutcome {
    this.ports.log.warn('oauth:refused', { ...who, reason, detail: more.detail });
    return { connected: false, reason, ...more };
  }
}

interface FlowSecrets {
  readonly codeVerifier: string;
  readonly nonce: string;
}

/** RFC 6749, 3.1: no parameter comes twice. */
function onlyState(parameters: URLSearchParams): string | undefined {
  const [state, ...others] = parameters.getAll('state');
  return state !== undefined && others.length === 0 && isToken(state) ? state : undefined;
}

function flowBinding(providerId: string, userId: string): SealBinding {
  return ['authorization', providerId, userId];
}

function contentOf({ kind, accessToken, refreshToken }: TokenSet): Parameters<CredentialVault['put']>[3] {
  if (kind === 'api_key') return { type: 'api_key', key: accessToken };
  return { type: 'tokens', accessToken, ...(refreshToken === undefined ? {} : { refreshToken }) };
}

function detailOf({ error, description }: OAuthRefusal, parameters: URLSearchParams): string {
  return withoutSecrets(description === undefined ? error : `${error}: ${description}`, [
    parameters.get('code'),
    parameters.get('state'),
  ]);
}

function checkedRoot(rootUrl: string): string {
  const url = URL.canParse(rootUrl) ? new URL(rootUrl) : undefined;
  if (url === undefined || !/^https?:$/.test(url.protocol) || url.username !== '' || url.password !== '') {
    throw new LLMInvalidRequestError('the root URL is not an http or https URL', { path: 'rootUrl' });
  }
  return url.origin + url.pathname.replace(/\/+$/, '');
}

function notAllowed(): LLMPermissionError {
  return new LLMPermissionError('You may not use this provider.');
}
