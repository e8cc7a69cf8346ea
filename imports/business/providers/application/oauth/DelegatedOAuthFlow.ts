/**
 * Connects accounts at servers whose protocol another part of the app speaks, through the browser: tickets, states and
 * cookies are those of accounts at vendors.
 */
import { isLLMError, LLMPermissionError } from '../../../ai/domain/errors/LLMErrors';
import { omitUndefined } from '../../../ai/domain/util/omitUndefined';
import type { UserLookup } from '../../../ai/domain/types/Actor';
import { AUTHORIZATION_LIFETIME_MS } from '../../domain/entities/PendingAuthorization';
import type { PendingAuthorization } from '../../domain/entities/PendingAuthorization';
import type { AuthorizationStore } from '../../domain/interfaces/AuthorizationStore';
import type { Clock } from '../../domain/interfaces/Clock';
import type { EventLog } from '../../domain/interfaces/EventLog';
import { SealError } from '../../domain/interfaces/Sealer';
import type { SealBinding, Sealer } from '../../domain/interfaces/Sealer';
import { withoutSecrets } from '../../domain/withoutSecrets';
import { ConnectTickets } from './ConnectTickets';
import { assertBinding, hashOf } from './flowTokens';
import { normalizeRootUrl } from './OAuthFlow';
import type { BrowserFlow, FlowOutcome, RefusalReason, TicketInfo } from './OAuthFlow';
import { singleState, STATE_REFUSALS } from './stateRefusals';
import type { AuthorizationCallback } from './stateRefusals';

export interface DelegatedServers {
  /** What the ids are of, which keeps them apart from those of others: `mcp`. */
  readonly kind: string;
  /** @returns undefined if the user may not sign in there */
  find(id: string, userId: string): Promise<{ readonly name: string } | undefined>;
  /**
   * @returns the URL of the authorization server, whose `state` has 43 characters of base64url, and what is needed to
   *   finish
   */
  begin(id: string, userId: string): Promise<{ readonly url: URL; readonly attempt: string }>;
  /** @returns false if the server was changed meanwhile @throws whatever its client throws if it refuses */
  finish(id: string, userId: string, attempt: string, parameters: URLSearchParams): Promise<boolean>;
}

export interface DelegatedOAuthFlowPorts {
  readonly servers: DelegatedServers;
  readonly authorizations: AuthorizationStore;
  readonly sealer: Sealer;
  readonly findUser: UserLookup;
  readonly clock: Clock;
  readonly log: EventLog;
  /** Where browsers reach this app. */
  readonly rootUrl: string;
  /** The path of the page that begins a sign-in, with `:id`. */
  readonly startPath: string;
}

const MAX_DETAIL = 300;

export class DelegatedOAuthFlow implements BrowserFlow {
  readonly rootUrl: string;
  private readonly ports: DelegatedOAuthFlowPorts;
  private readonly tickets: ConnectTickets;

  constructor(ports: DelegatedOAuthFlowPorts) {
    this.ports = ports;
    this.tickets = new ConnectTickets(ports);
    this.rootUrl = normalizeRootUrl(ports.rootUrl);
  }

  /** @returns the URL of a page of this app, to open in the user's browser @throws LLMPermissionError */
  async connect(userId: string, id: string): Promise<string> {
    await this.allowedServer(userId, id);
    const ticket = await this.tickets.issue(userId, this.keyOf(id));
    return `${this.rootUrl}${this.ports.startPath.replace(':id', encodeURIComponent(id))}?ticket=${ticket}`;
  }

  async readTicket(id: string, ticket: string): Promise<TicketInfo | undefined> {
    const pending = await this.tickets.find(this.keyOf(id), ticket);
    if (pending === undefined) return undefined;
    const { userId } = pending;
    const [server, user] = await Promise.all([this.ports.servers.find(id, userId), this.ports.findUser(userId)]);
    if (server === undefined) return undefined;
    return { userId, userName: user?.name ?? userId, providerName: server.name };
  }

  async redeemTicket(id: string, ticket: string, binding: string): Promise<URL | undefined> {
    const pending = await this.tickets.use(this.keyOf(id), ticket);
    return pending === undefined ? undefined : this.start(pending.userId, id, binding);
  }

  /** @throws LLMPermissionError, LLMInvalidRequestError, LLMConnectionError */
  async start(userId: string, id: string, binding: string): Promise<URL> {
    assertBinding(binding);
    await this.allowedServer(userId, id);
    const { servers, authorizations, sealer, clock, log } = this.ports;
    const { url, attempt } = await servers.begin(id, userId);
    const createdAt = clock.now();
    const providerId = this.keyOf(id);
    await authorizations.insert({
      _id: hashOf(url.searchParams.get('state') ?? ''),
      stage: 'state',
      providerId,
      userId,
      createdAt,
      expiresAt: createdAt + AUTHORIZATION_LIFETIME_MS,
      bindingHash: hashOf(binding),
      box: sealer.seal(attempt, bindingOf(providerId, userId)),
    });
    log.info('oauth:started', { providerId, userId });
    return url;
  }

  /** @throws only errors that are faults of this app */
  async complete(callback: AuthorizationCallback): Promise<FlowOutcome> {
    const { authorizations, servers, log } = this.ports;
    const state = singleState(callback.parameters);
    const found = state === undefined ? undefined : await authorizations.find(hashOf(state));
    const prefix = this.keyOf('');
    const pending = found?.stage === 'state' && found.providerId.startsWith(prefix) ? found : undefined;
    const attempt = omitUndefined({ callback, pending });
    for (const { reason, applies } of STATE_REFUSALS)
      if (await applies(attempt, this.ports)) return this.refuse(reason, pending);
    if (pending === undefined) throw new Error('The refusals let an unknown state pass.');
    const { providerId, userId } = pending;
    const id = providerId.slice(prefix.length);
    const server = await servers.find(id, userId);
    if (server === undefined) return this.refuse('not-allowed', pending);
    const secrets = this.open(pending);
    if (secrets === undefined) return this.refuse('provider-changed', pending, server.name);
    try {
      if (!(await servers.finish(id, userId, secrets, callback.parameters)))
        return this.refuse('provider-changed', pending, server.name);
    } catch (error) {
      const reason = isLLMError(error) && error.retryable ? 'server-unreachable' : 'refused-by-server';
      return this.refuse(reason, pending, server.name, detailOf(error, callback.parameters));
    }
    log.info('oauth:connected', { providerId, userId });
    return { connected: true, providerId: id, providerName: server.name, userId };
  }

  private keyOf(id: string): string {
    return `${this.ports.servers.kind}:${id}`;
  }

  private async allowedServer(userId: string, id: string): Promise<void> {
    if ((await this.ports.servers.find(id, userId)) === undefined)
      throw new LLMPermissionError('There is no sign-in for you at this server.');
  }

  private open({ box, providerId, userId }: PendingAuthorization): string | undefined {
    if (box === undefined) return undefined;
    try {
      return this.ports.sealer.open(box, bindingOf(providerId, userId));
    } catch (error) {
      if (error instanceof SealError) return undefined;
      throw error;
    }
  }

  private refuse(
    reason: RefusalReason,
    pending: PendingAuthorization | undefined,
    providerName?: string,
    detail?: string,
  ): FlowOutcome {
    const { providerId, userId } = pending ?? {};
    this.ports.log.warn('oauth:refused', { providerId, userId, reason, detail });
    return omitUndefined({ connected: false, reason, providerName, detail });
  }
}

function bindingOf(providerId: string, userId: string): SealBinding {
  return ['delegated-authorization', providerId, userId];
}

function detailOf(error: unknown, parameters: URLSearchParams): string {
  const message = error instanceof Error ? error.message : String(error);
  const safe = withoutSecrets(message, [parameters.get('code'), parameters.get('state')]);
  return safe.slice(0, MAX_DETAIL).toWellFormed();
}
