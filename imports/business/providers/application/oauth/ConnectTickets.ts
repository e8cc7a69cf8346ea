/** Tickets for the page that starts a connection: each is valid once, for one user and provider, for ten minutes. */
import { AUTHORIZATION_LIFETIME_MS } from '../../domain/entities/PendingAuthorization';
import type { PendingAuthorization } from '../../domain/entities/PendingAuthorization';
import type { AuthorizationStore } from '../../domain/interfaces/AuthorizationStore';
import type { Clock } from '../../domain/interfaces/Clock';
import { hashOf, isToken, randomToken } from './flowTokens';

export class ConnectTickets {
  private readonly store: AuthorizationStore;
  private readonly clock: Clock;

  constructor({ authorizations, clock }: { readonly authorizations: AuthorizationStore; readonly clock: Clock }) {
    this.store = authorizations;
    this.clock = clock;
  }

  async issue(userId: string, providerId: string): Promise<string> {
    const ticket = randomToken();
    const createdAt = this.clock.now();
    await this.store.insert({
      _id: hashOf(ticket),
      stage: 'ticket',
      providerId,
      userId,
      createdAt,
      expiresAt: createdAt + AUTHORIZATION_LIFETIME_MS,
    });
    return ticket;
  }

  /** Reads a ticket without using it up. Undefined for an invalid, used or expired one. */
  async find(providerId: string, ticket: string): Promise<PendingAuthorization | undefined> {
    const pending = isToken(ticket) ? await this.store.find(hashOf(ticket)) : undefined;
    const isValid =
      pending?.stage === 'ticket' &&
      pending.providerId === providerId &&
      pending.usedAt === undefined &&
      this.clock.now() < pending.expiresAt;
    return isValid ? pending : undefined;
  }

  /** Uses up a ticket. Of several concurrent calls, only one gets it. */
  async use(providerId: string, ticket: string): Promise<PendingAuthorization | undefined> {
    const pending = await this.find(providerId, ticket);
    if (pending === undefined) return undefined;
    return (await this.store.use(pending._id, this.clock.now())) ? pending : undefined;
  }
}
