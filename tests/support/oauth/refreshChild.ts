/** A process that asks for tokens, and asks its parent before it goes on at the points where processes die. */
import { DEFAULT_TRANSPORT_LIMITS } from '../../../imports/business/ai/domain/types/VendorTypes';
import { createGuardedFetch } from '../../../imports/business/ai/infrastructure/clients/http/guardedFetch';
import { openMongoDatabase } from '../../../imports/business/ai/infrastructure/persistence/databases/MongoDatabase';
import type { AuthorizationServer } from '../../../imports/business/providers/domain/interfaces/AuthorizationServer';
import { createProvidersModule } from '../../../imports/business/providers/infrastructure/factories/createProvidersModule';
import type { ProvidersSettings } from '../../../imports/business/providers/infrastructure/factories/createProvidersModule';
import { KeyExchangeServer } from '../../../imports/business/providers/infrastructure/oauth/KeyExchangeServer';
import { OAuth2Server } from '../../../imports/business/providers/infrastructure/oauth/OAuth2Server';
import { ServerMetadataCache } from '../../../imports/business/providers/infrastructure/oauth/ServerMetadataCache';
import { systemClock } from '../../../imports/business/providers/infrastructure/system/systemClock';

/**
 * `claimed`: it may refresh; `sent`: it is about to show the token; `answered`: it has new tokens that nobody else
 * knows.
 */
export type Point = 'claimed' | 'sent' | 'answered';

export type ToChild =
  | { readonly type: 'setup'; readonly mongoUrl: string; readonly settings: ProvidersSettings }
  | { readonly type: 'ask'; readonly providerId: string; readonly userId: string; readonly callers: number }
  | { readonly type: 'go-on' };

export type FromChild =
  | { readonly type: 'ready' }
  | { readonly type: 'reached'; readonly point: Point }
  | { readonly type: 'told'; readonly tokens: readonly string[]; readonly errors: readonly string[] };

let goOn = (): void => undefined;
let ask: ((providerId: string, userId: string) => Promise<string>) | undefined;

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
    case 'ask':
      return askMany(message.providerId, message.userId, message.callers);
    case 'go-on':
      goOn();
  }
}

async function setup(mongoUrl: string, settings: ProvidersSettings): Promise<void> {
  const database = await openMongoDatabase(mongoUrl);
  const fetch = createGuardedFetch({ limits: DEFAULT_TRANSPORT_LIMITS, allowPrivateHosts: true });
  const metadata = new ServerMetadataCache({ fetch, clock: systemClock, allowInsecure: true });
  const module = createProvidersModule(settings, {
    collection: (name) => database.collection(name),
    findUser: (userId) => Promise.resolve({ userId }),
    probe: () => Promise.resolve(true),
    log: { info: () => undefined, warn: () => undefined },
    servers: {
      oauth2: withPoints(new OAuth2Server({ fetch, metadata, allowInsecure: true })),
      key_exchange: new KeyExchangeServer(fetch),
    },
  });
  ask = async (providerId, userId) => (await module.credentials.getAccessToken({ providerId, userId }))?.token ?? '';
  tell({ type: 'ready' });
}

async function askMany(providerId: string, userId: string, callers: number): Promise<void> {
  const asked = await Promise.allSettled(Array.from({ length: callers }, async () => ask?.(providerId, userId)));
  const tokens = asked.flatMap((each) => (each.status === 'fulfilled' && each.value !== undefined ? [each.value] : []));
  const errors = asked.flatMap((each) => (each.status === 'rejected' ? [String(each.reason)] : []));
  tell({ type: 'told', tokens, errors });
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

/** The parent lets it go on, stops it, or kills it. */
function reach(point: Point): Promise<void> {
  return new Promise((resolve) => {
    goOn = resolve;
    tell({ type: 'reached', point });
  });
}

function tell(message: FromChild): void {
  process.send?.(message);
}
