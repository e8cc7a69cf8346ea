/** A process that requests tokens, and waits for its parent at each point where a process may die. */
import { DEFAULT_TRANSPORT_LIMITS } from '../../../imports/business/ai/domain/types/VendorTypes';
import { createGuardedFetch } from '../../../imports/business/ai/infrastructure/clients/http/guardedFetch';
import { openMongoDatabase } from '../../../imports/database/mongo/MongoDatabase';
import type { AuthorizationServer } from '../../../imports/business/providers/domain/interfaces/AuthorizationServer';
import { createProvidersModule } from '../../../imports/business/providers/infrastructure/factories/createProvidersModule';
import type { ProvidersSettings } from '../../../imports/business/providers/infrastructure/factories/createProvidersModule';
import { KeyExchangeServer } from '../../../imports/business/providers/infrastructure/oauth/KeyExchangeServer';
import { OAuth2Server } from '../../../imports/business/providers/infrastructure/oauth/OAuth2Server';
import { ServerMetadataCache } from '../../../imports/business/providers/infrastructure/oauth/ServerMetadataCache';
import { systemClock } from '../../../imports/business/providers/infrastructure/system/systemClock';

/**
 * `claimed`: it holds the lease; `sent`: it is about to send the refresh token; `answered`: it has received new tokens,
 * but not stored them.
 */
export type Point = 'claimed' | 'sent' | 'answered';

export type ToChild =
  | { readonly type: 'setup'; readonly mongoUrl: string; readonly settings: ProvidersSettings }
  | { readonly type: 'request'; readonly providerId: string; readonly userId: string; readonly callers: number }
  | { readonly type: 'resume' };

export type FromChild =
  | { readonly type: 'ready' }
  | { readonly type: 'reached'; readonly point: Point }
  | { readonly type: 'outcome'; readonly tokens: readonly string[]; readonly errors: readonly string[] };

let resume = (): void => undefined;
let getToken: ((providerId: string, userId: string) => Promise<string>) | undefined;

process.on('message', (message: ToChild) => {
  handle(message).catch((error: unknown) => {
    console.error(error);
    process.exit(1);
  });
});
process.on('disconnect', () => process.exit(0));

async function handle(message: ToChild): Promise<void> {
  switch (message.type) {
    case 'setup':
      return setup(message.mongoUrl, message.settings);
    case 'request':
      return requestTokens(message.providerId, message.userId, message.callers);
    case 'resume':
      resume();
  }
}

async function setup(mongoUrl: string, settings: ProvidersSettings): Promise<void> {
  const database = await openMongoDatabase(mongoUrl);
  const fetch = createGuardedFetch({ limits: DEFAULT_TRANSPORT_LIMITS, allowPrivateHosts: true });
  const metadata = new ServerMetadataCache({ fetch, clock: systemClock, allowInsecure: () => true });
  const module = createProvidersModule(settings, {
    collection: (name) => database.collection(name),
    findUser: (userId) => Promise.resolve({ userId }),
    probe: () => Promise.resolve({ valid: true }),
    log: { info: () => undefined, warn: () => undefined },
    servers: {
      oauth2: withPoints(new OAuth2Server({ fetch, metadata })),
      key_exchange: new KeyExchangeServer(fetch),
    },
  });
  getToken = async (providerId, userId) =>
    (await module.credentials.getAccessToken({ providerId, userId }))?.token ?? '';
  sendToParent({ type: 'ready' });
}

async function requestTokens(providerId: string, userId: string, callers: number): Promise<void> {
  const settled = await Promise.allSettled(Array.from({ length: callers }, async () => getToken?.(providerId, userId)));
  const tokens = settled.flatMap((each) =>
    each.status === 'fulfilled' && each.value !== undefined ? [each.value] : [],
  );
  const errors = settled.flatMap((each) => (each.status === 'rejected' ? [String(each.reason)] : []));
  sendToParent({ type: 'outcome', tokens, errors });
}

function withPoints(server: AuthorizationServer): AuthorizationServer {
  return {
    prepare: async (settings) => {
      await server.prepare(settings);
      await reach('claimed');
    },
    authorizationUrl: (...call) => server.authorizationUrl(...call),
    exchange: (...call) => server.exchange(...call),
    refresh: async (...call) => {
      await reach('sent');
      const tokens = await server.refresh(...call);
      await reach('answered');
      return tokens;
    },
    clientCredentials: (...call) => server.clientCredentials(...call),
    revoke: (...call) => server.revoke(...call),
  };
}

/** Waits until the parent resumes, stops or kills this process. */
function reach(point: Point): Promise<void> {
  return new Promise((resolve) => {
    resume = resolve;
    sendToParent({ type: 'reached', point });
  });
}

function sendToParent(message: FromChild): void {
  process.send?.(message);
}
