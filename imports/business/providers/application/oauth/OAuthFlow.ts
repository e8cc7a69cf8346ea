/** Connects a user's account at a vendor through the browser, and disconnects it again. */
import { isLLMError, LLMInvalidRequestError, LLMPermissionError } from '../../../ai/domain/errors/LLMErrors';
import { omitUndefined } from '../../../ai/domain/util/omitUndefined';
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
import type { User, UserLookup } from '../../../ai/domain/types/Actor';
import type { TokenSet } from '../../domain/types/TokenSet';
import { withoutSecrets } from '../../domain/withoutSecrets';
import { destinationHash } from '../credentials/CredentialVault';
import type { CredentialVault } from '../credentials/CredentialVault';
import { assertBinding, hashOf, randomToken } from './flowTokens';
import { userOAuthSettings } from './OAuthClients';
import type { OAuthClients } from './OAuthClients';
import { ConnectTickets } from './ConnectTickets';
import { singleState, STATE_REFUSALS } from './stateRefusals';
import type { AuthorizationCallback, StateRefusal } from './stateRefusals';
import { parseUrl } from '../../../ai/domain/util/parseUrl';

export interface OAuthFlowPorts {
  readonly providers: ProviderStore;
  readonly authorizations: AuthorizationStore;
  readonly vault: CredentialVault;
  readonly clients: OAuthClients;
  readonly sealer: Sealer;
  readonly findUser: UserLookup;
  readonly clock: Clock;
  readonly log: EventLog;
  /** Where browsers reach this app. Always configured, never derived from a request. */
  readonly rootUrl: string;
}

export type RefusalReason =
  | StateRefusal['reason']
  | 'provider-changed'
  | 'not-allowed'
  | 'refused-by-server'
  | 'server-unreachable';

export type FlowOutcome =
  | { readonly connected: true; readonly providerId: string; readonly providerName: string; readonly userId: string }
  /** `detail` quotes the authorization server, so it is untrusted text. */
  | {
      readonly connected: false;
      readonly reason: RefusalReason;
      readonly providerName?: string;
      readonly detail?: string;
    };

/** What the pages of a flow need of it. */
export interface BrowserFlow {
  readonly rootUrl: string;
  start(userId: string, id: string, binding: string): Promise<URL>;
  readTicket(id: string, ticket: string): Promise<TicketInfo | undefined>;
  redeemTicket(id: string, ticket: string, binding: string): Promise<URL | undefined>;
  complete(callback: AuthorizationCallback): Promise<FlowOutcome>;
}

export interface TicketInfo {
  readonly userId: string;
  /** For people. */
  readonly userName: string;
  readonly providerName: string;
}

const CALLBACK_PATH = '/oauth/callback';

export class OAuthFlow implements BrowserFlow {
  private readonly ports: OAuthFlowPorts;
  private readonly tickets: ConnectTickets;
  private readonly root: string;

  /** @throws LLMInvalidRequestError for a root URL that browsers can't be sent to */
  constructor(ports: OAuthFlowPorts) {
    this.ports = ports;
    this.tickets = new ConnectTickets(ports);
    this.root = normalizeRootUrl(ports.rootUrl);
  }

  get rootUrl(): string {
    return this.root;
  }

  /**
   * @param binding the value of the browser's binding cookie, if the caller has set one; otherwise a page of this app
   *   sets it
   * @returns the URL to open in the user's browser
   * @throws LLMPermissionError, LLMInvalidRequestError
   */
  async connect(userId: string, providerId: string, binding?: string): Promise<string> {
    if (binding !== undefined) return (await this.start(userId, providerId, binding)).href;
    userOAuthSettings(await this.allowedProvider(userId, providerId));
    const ticket = await this.tickets.issue(userId, providerId);
    return `${this.root}/oauth/${encodeURIComponent(providerId)}/start?ticket=${ticket}`;
  }

  /** Whom a ticket is for. Does not use it up. Undefined for an invalid or expired ticket. */
  async readTicket(providerId: string, ticket: string): Promise<TicketInfo | undefined> {
    const pending = await this.tickets.find(providerId, ticket);
    const provider = pending === undefined ? undefined : await this.ports.providers.find(providerId);
    if (pending === undefined || provider === undefined) return undefined;
    const { userId } = pending;
    const user = await this.ports.findUser(userId);
    return { userId, userName: user?.name ?? userId, providerName: provider.name };
  }

  /** @returns undefined for an invalid, expired or used ticket @throws as `start` */
  async redeemTicket(providerId: string, ticket: string, binding: string): Promise<URL | undefined> {
    const pending = await this.tickets.use(providerId, ticket);
    return pending === undefined ? undefined : this.start(pending.userId, providerId, binding);
  }

  /**
   * @returns the URL of the authorization server for the browser with this binding
   * @throws LLMPermissionError, LLMInvalidRequestError, transport errors
   */
  async start(userId: string, providerId: string, binding: string): Promise<URL> {
    assertBinding(binding);
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
   * Finishes a connection with what the browser brought back. Each state can be used once.
   * @throws only errors that are faults of this app
   */
  async complete(callback: AuthorizationCallback): Promise<FlowOutcome> {
    const attempt = await this.loadAttempt(callback);
    for (const { reason, applies } of REFUSALS)
      if (await applies(attempt, this.ports)) return this.refuse(reason, attempt);
    if (!isComplete(attempt)) throw new Error('The refusals let an incomplete attempt pass.');
    const { pending, provider } = attempt;
    try {
      if (!(await this.exchange(attempt, callback.parameters))) return this.refuse('provider-changed', attempt);
    } catch (error) {
      if (error instanceof OAuthRefusal)
        return this.refuse('refused-by-server', attempt, detailOf(error, callback.parameters));
      if (isLLMError(error) && error.retryable) return this.refuse('server-unreachable', attempt, error.message);
      throw error;
    }
    const { providerId, userId } = pending;
    this.ports.log.info('oauth:connected', { providerId, userId });
    return { connected: true, providerId, providerName: provider.name, userId };
  }

  /**
   * Deletes the user's tokens or key, and revokes tokens at the vendor.
   * @throws LLMInvalidRequestError, LLMPermissionError
   */
  async disconnect(userId: string, providerId: string): Promise<void> {
    const { providers, vault, clients, log } = this.ports;
    const provider = await providers.find(providerId);
    if (provider === undefined) throw notAllowed();
    if (!isPersonal(provider.auth)) {
      const { name } = await this.allowedProvider(userId, providerId);
      throw new LLMInvalidRequestError(`Provider "${name}" does not use credentials of individual users.`, {
        path: 'providerId',
      });
    }
    const row = await vault.store.take(credentialIdFor(provider, userId));
    if (row === undefined) return;
    log.info('oauth:disconnected', { providerId, userId });
    const content = vault.contentOf(row);
    if (content !== undefined && provider.auth.kind === 'oauth_user')
      await clients.revoke(provider, provider.auth.oauth, content);
  }

  private async loadAttempt(callback: AuthorizationCallback): Promise<Attempt> {
    const { authorizations, providers, findUser } = this.ports;
    const state = singleState(callback.parameters);
    const pending = state === undefined ? undefined : await authorizations.find(hashOf(state));
    if (state === undefined || pending?.stage !== 'state') return { callback };
    const [provider, user] = await Promise.all([providers.find(pending.providerId), findUser(pending.userId)]);
    return { callback, state, pending, provider, user, secrets: this.openSecrets(pending) };
  }

  /**
   * Exchanges the code and stores the tokens. If the provider was removed or its server changed meanwhile, revokes the
   * tokens and returns false.
   */
  private async exchange(
    { provider, pending, secrets, state }: CompleteAttempt,
    parameters: URLSearchParams,
  ): Promise<boolean> {
    const { userId, redirectUri = '' } = pending;
    const settings = userOAuthSettings(provider);
    const { clients, vault, clock, providers } = this.ports;
    const client = await clients.clientFor(provider, settings);
    const response = { ...secrets, state, parameters, redirectUri };
    const tokens = await clients.serverFor(settings).exchange(client, response);
    const expiresAt = tokens.expiresInMs === undefined ? {} : { expiresAt: clock.now() + tokens.expiresInMs };
    const scopes = tokens.scopes === undefined ? {} : { scopes: tokens.scopes };
    const content = contentOf(tokens);
    await vault.put(provider, credentialIdFor(provider, userId).kind, userId, content, { ...expiresAt, ...scopes });
    // A removal deletes the provider before its credentials, so either it or this check sees the other.
    const current = await providers.find(provider._id);
    if (current !== undefined && destinationHash(current) === destinationHash(provider)) return true;
    await vault.store.take(credentialIdFor(provider, userId));
    await clients.revoke(provider, settings, content, client);
    return false;
  }

  private async allowedProvider(userId: string, providerId: string): Promise<Provider> {
    const [provider, user] = await Promise.all([this.ports.providers.find(providerId), this.ports.findUser(userId)]);
    if (provider === undefined || !decideAccess(provider, user).allowed) throw notAllowed();
    return provider;
  }

  private openSecrets({ box, providerId, userId }: PendingAuthorization): FlowSecrets | undefined {
    if (box === undefined) return undefined;
    try {
      // `start` sealed it under this binding.
      return JSON.parse(this.ports.sealer.open(box, flowBinding(providerId, userId))) as FlowSecrets;
    } catch (error) {
      if (error instanceof SealError) return undefined;
      throw error;
    }
  }

  private refuse(reason: RefusalReason, { pending, provider }: Attempt, detail?: string): FlowOutcome {
    const { providerId, userId } = pending ?? {};
    this.ports.log.warn('oauth:refused', { providerId, userId, reason, detail });
    // Someone without access must not learn the provider's name.
    const providerName = REASONS_AFTER_ACCESS_CHECK.has(reason) ? provider?.name : undefined;
    return omitUndefined({ connected: false, reason, providerName, detail });
  }
}

interface FlowSecrets {
  readonly codeVerifier: string;
  readonly nonce: string;
}

/** A callback and what is stored for its state. */
interface Attempt {
  readonly callback: AuthorizationCallback;
  readonly state?: string;
  readonly pending?: PendingAuthorization;
  readonly provider?: Provider | undefined;
  readonly user?: User | undefined;
  readonly secrets?: FlowSecrets | undefined;
}

interface CompleteAttempt extends Attempt {
  readonly state: string;
  readonly pending: PendingAuthorization;
  readonly provider: Provider;
  readonly secrets: FlowSecrets;
}

function isComplete(attempt: Attempt): attempt is CompleteAttempt {
  const { state, pending, provider, secrets } = attempt;
  return state !== undefined && pending !== undefined && provider !== undefined && secrets !== undefined;
}

interface Refusal {
  readonly reason: RefusalReason;
  readonly applies: (attempt: Attempt, ports: OAuthFlowPorts) => boolean | Promise<boolean>;
}

/** Checked in this order; the first that applies ends the attempt. */
const REFUSALS: readonly Refusal[] = [
  ...STATE_REFUSALS,
  {
    reason: 'not-allowed',
    applies: ({ provider, user }) => provider === undefined || !decideAccess(provider, user).allowed,
  },
  {
    reason: 'provider-changed',
    applies: ({ provider, pending, secrets }) =>
      provider?.auth.kind !== 'oauth_user' ||
      destinationHash(provider) !== pending?.destination ||
      secrets === undefined,
  },
];

const REASONS_AFTER_ACCESS_CHECK: ReadonlySet<RefusalReason> = new Set([
  'provider-changed',
  'refused-by-server',
  'server-unreachable',
]);

function flowBinding(providerId: string, userId: string): SealBinding {
  return ['authorization', providerId, userId];
}

function contentOf({ kind, accessToken, refreshToken }: TokenSet): Parameters<CredentialVault['put']>[3] {
  if (kind === 'api_key') return { type: 'api_key', key: accessToken };
  return omitUndefined({ type: 'tokens', accessToken, refreshToken });
}

function detailOf({ error, description }: OAuthRefusal, parameters: URLSearchParams): string {
  return withoutSecrets(description === undefined ? error : `${error}: ${description}`, [
    parameters.get('code'),
    parameters.get('state'),
  ]);
}

export function normalizeRootUrl(rootUrl: string): string {
  const url = parseUrl(rootUrl);
  if (url === undefined || !/^https?:$/.test(url.protocol) || url.username !== '' || url.password !== '') {
    throw new LLMInvalidRequestError('The root URL must be an http or https URL without credentials.', {
      path: 'rootUrl',
    });
  }
  return url.origin + url.pathname.replace(/\/+$/, '');
}

function notAllowed(): LLMPermissionError {
  return new LLMPermissionError('You may not use this provider.');
}
