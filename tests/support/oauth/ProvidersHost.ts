/**
 * The application in tests of the Provider system: the module over a real store, and its OAuth routes on an Express
 * server.
 */
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import express from 'express';
import { bindOperations } from '../../../imports/host/bindOperations';
import type { OperationsOf } from '../../../imports/host/bindOperations';
import { PROVIDER_OPERATIONS } from '../../../imports/business/providers/application/operations/providerOperations';
import { createOAuthRoutes } from '../../../imports/api/oauth/oauthRoutes';
import type { OAuthRoutesPorts } from '../../../imports/api/oauth/oauthRoutes';
import { omitUndefined } from '../../../imports/business/ai/domain/util/omitUndefined';
import type { Clock } from '../../../imports/business/providers/domain/interfaces/Clock';
import type { EventLog } from '../../../imports/business/providers/domain/interfaces/EventLog';
import type { Actor, User } from '../../../imports/business/ai/domain/types/Actor';
import {
  COLLECTIONS,
  createProvidersModule,
} from '../../../imports/business/providers/infrastructure/factories/createProvidersModule';
import type {
  ProvidersModule,
  ProvidersPorts,
  ProvidersSettings,
} from '../../../imports/business/providers/infrastructure/factories/createProvidersModule';
import { redactingLog } from '../../../imports/business/providers/infrastructure/system/redactingLog';
import type { LogEntry } from '../../../imports/business/providers/infrastructure/system/redactingLog';
import type { AuthorizationDocument } from '../../../imports/business/providers/infrastructure/persistence/createAuthorizationStore';
import type {
  CredentialCollection,
  CredentialDocument,
} from '../../../imports/business/providers/infrastructure/persistence/createCredentialStore';
import type { ProviderDocument } from '../../../imports/business/providers/infrastructure/persistence/createProviderStore';
import { systemClock } from '../../../imports/business/providers/infrastructure/system/systemClock';
import type { DocumentCollection } from '../../../imports/database/DocumentCollection';
import { canaryBase64 } from '../canaries';
import { openDatabaseOf } from '../documentDatabases';
import type { TestDatabase } from '../documentDatabases';
import { watchDatabase } from '../watchDatabase';

export const ADMIN: Actor = { userId: 'root', isAdmin: true, source: 'method' };
export const ALICE: Actor = { userId: 'alice', roles: ['writers'], source: 'method' };
export const BOB: Actor = { userId: 'bob', source: 'method' };

export interface ProvidersHostOptions {
  /** The name of a database, or one that is open. */
  readonly database?: string | TestDatabase;
  readonly secretKeys?: string;
  readonly clock?: Clock;
  readonly servers?: ProvidersPorts['servers'];
  readonly probe?: ProvidersPorts['probe'];
  readonly refreshLeases?: ProvidersSettings['refreshLeases'];
  readonly allowPrivateHosts?: boolean;
  readonly onConnected?: OAuthRoutesPorts['onConnected'];
}

export class ProvidersHost {
  readonly url: string;
  readonly module: ProvidersModule;
  readonly operations: OperationsOf<typeof PROVIDER_OPERATIONS>;
  readonly database: TestDatabase;
  readonly log: LogEntry[] = [];
  readonly eventLog: EventLog = redactingLog((entry) => this.log.push(entry));
  /** All users; tests may change them. */
  readonly users = new Map<string, Actor & Pick<User, 'name'>>(
    [ADMIN, ALICE, BOB].map((actor) => [actor.userId, actor]),
  );
  /** Errors passed to `onUnexpected`. */
  readonly unexpected: unknown[] = [];
  readonly settings: ProvidersSettings;
  /** Resolves once no operation on the database is pending. */
  readonly idle: () => Promise<void>;
  private readonly options: ProvidersHostOptions;
  private readonly server: ReturnType<typeof createServer>;

  private constructor(server: ReturnType<typeof createServer>, database: TestDatabase, options: ProvidersHostOptions) {
    this.server = server;
    this.options = options;
    const { database: watched, idle } = watchDatabase(database.database);
    this.database = { ...database, database: watched };
    this.idle = idle;
    this.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    this.settings = {
      secretKeys: options.secretKeys ?? newKey('k1'),
      rootUrl: this.url,
      allowPrivateHosts: options.allowPrivateHosts ?? true,
      ...(options.refreshLeases === undefined ? {} : { refreshLeases: options.refreshLeases }),
    };
    this.module = this.createModule();
    this.operations = operationsOf(this.module);
  }

  static async start(options: ProvidersHostOptions = {}): Promise<ProvidersHost> {
    const { database: wanted = 'embedded (SQLite)' } = options;
    const database = typeof wanted === 'string' ? await openDatabaseOf(wanted) : wanted;
    const app = express();
    const server = createServer(app);
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const host = new ProvidersHost(server, database, options);
    await host.module.ready();
    const authenticate = (request: { headers: Record<string, unknown> }): { userId: string } | undefined => {
      const userId = request.headers['x-test-user'];
      return typeof userId === 'string' ? { userId } : undefined;
    };
    app.use(
      createOAuthRoutes({
        flow: host.module.flow,
        authenticate,
        onUnexpected: (error) => host.unexpected.push(error),
        ...omitUndefined({ onConnected: options.onConnected }),
      }),
    );
    return host;
  }

  /** Creates a module as another process has it: with the same store, but its own memory. */
  createModule(settings: Partial<ProvidersSettings> = {}): ProvidersModule {
    const { clock = systemClock, servers, probe = () => Promise.resolve({ valid: true }) } = this.options;
    return createProvidersModule(
      { ...this.settings, ...settings },
      {
        collection: (name) => this.database.database.collection(name),
        findUser: (userId) => Promise.resolve(this.users.get(userId)),
        probe,
        log: this.eventLog,
        clock,
        ...(servers === undefined ? {} : { servers }),
      },
    );
  }

  get credentials(): CredentialCollection {
    return this.database.database.collection<CredentialDocument>(COLLECTIONS.credentials);
  }

  get providers(): DocumentCollection<ProviderDocument> {
    return this.database.database.collection<ProviderDocument>(COLLECTIONS.providers);
  }

  get authorizations(): DocumentCollection<AuthorizationDocument> {
    return this.database.database.collection<AuthorizationDocument>(COLLECTIONS.authorizations);
  }

  /** Makes the stored token expire. */
  async expire(providerId: string, userId: string | null): Promise<void> {
    await this.credentials.update({ providerId, userId, kind: 'oauth' }, { $set: { expiresAt: Date.now() - 1 } });
  }

  async stop(): Promise<void> {
    const closed = once(this.server, 'close');
    this.server.close();
    this.server.closeAllConnections();
    await closed;
    this.module.close();
    await this.database.close();
  }
}

export function operationsOf({ administration }: ProvidersModule): OperationsOf<typeof PROVIDER_OPERATIONS> {
  return bindOperations(PROVIDER_OPERATIONS, { providers: administration });
}

export function newKey(id: string): string {
  return `${id}:${canaryBase64()}`;
}
