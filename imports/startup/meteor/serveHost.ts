/** Offers a host to a Meteor app's clients: methods and publications, HTTP routes, and an orderly shutdown. */
import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import type { Actor } from '../../business/ai/domain/types/Actor';
import type { MeteorDatabase } from '../../business/ai/infrastructure/persistence/databases/MeteorDatabase';
import { defineAIMethods } from '../../business/ai/methods';
import { definePublications } from '../../business/ai/publications';
import { COLLECTIONS } from '../../business/providers/infrastructure/factories/createProvidersModule';
import { CREDENTIAL_CHANGES_ID } from '../../business/providers/infrastructure/persistence/createChangeCounter';
import { defineProviderMethods } from '../../business/providers/methods';
import { defineProviderPublication } from '../../business/providers/publications';
import type { Host } from '../createHost';
import { auditSignIns } from './auditSignIns';
import { CallsInProgress } from './CallsInProgress';
import { limitOperations, limitPublications } from './limitUsers';
import { closeOnSignals } from './closeOnSignals';
import { addDdpRateLimits } from './ddpRateLimits';
import type { MeteorUsers } from './MeteorUsers';
import type { ReadPackages } from './readPackages';
import { publishChanges } from './publishChanges';
import { publishStatus } from './publishStatus';
import { trackConnections } from './trackConnections';

export interface ServePorts {
  readonly packages: ReadPackages;
  readonly database: MeteorDatabase;
  readonly findUser: MeteorUsers['findUser'];
  /** Shown to everyone if responses are simulated. */
  readonly notice: string | undefined;
  /** Where the HTTP API is mounted; '' for the root. */
  readonly httpPath: string;
  /** Milliseconds that a shutdown waits for requests and calls in progress. */
  readonly shutdownGraceMs: number;
  readonly closesOnSignals: boolean;
}

/** Milliseconds after the grace within which leases are released and pending writes completed. */
const CLOSE_TIMEOUT_MS = 3_000;

/** @returns completes what is in progress, and closes the host */
export async function serveHost(host: Host, ports: ServePorts): Promise<() => Promise<void>> {
  const { packages, database, httpPath, shutdownGraceMs, closesOnSignals } = ports;
  const observed = await observeOtherProcesses(database, () => host.providers.changes.notify());
  const calls = new CallsInProgress();
  defineMethodsAndPublications(host, calls, ports);
  const { handlers, httpServer } = packages.WebApp;
  (handlers as Handlers).use(httpPath === '' ? '/' : httpPath, host.api.router);
  const onUpgrade = (request: IncomingMessage, socket: Duplex, head: Buffer): void => {
    // Other sockets belong to DDP.
    host.api.handleUpgrade(request, socket, head);
  };
  httpServer.on('upgrade', onUpgrade);
  const clients = trackConnections(packages.Meteor);
  const stopSignIns = auditSignIns(packages.Accounts, host.audit);

  const settle = once(async () => {
    await Promise.all([host.api.close(), calls.ended(shutdownGraceMs)]);
  });
  const close = once(async () => {
    clients.stop();
    stopSignIns();
    for (const { stop } of observed) stop();
    await settle();
    await host.close();
    httpServer.off('upgrade', onUpgrade);
    // Not before: another signal would end the process at once, with its leases.
    stopListening();
  });
  const shutDown = async (): Promise<void> => {
    // Frees the port for the process that follows.
    httpServer.close();
    await settle();
    // Clients connect to another process, and repeat the calls there that have no result yet.
    clients.close();
    await close();
  };
  const stopListening = closesOnSignals
    ? closeOnSignals({ close: shutDown, timeoutMs: shutdownGraceMs + CLOSE_TIMEOUT_MS })
    : () => undefined;
  return close;
}

/** The part of Express that is used. */
interface Handlers {
  use(path: string, router: Host['api']['router']): unknown;
}

function once(run: () => Promise<void>): () => Promise<void> {
  let running: Promise<void> | undefined;
  return () => (running ??= run());
}

function defineMethodsAndPublications(
  { runs, providers, operations, changes, openContent, userLimiter }: Host,
  calls: CallsInProgress,
  { packages, database, findUser, notice }: ServePorts,
): void {
  const actorOf = async (userId: string): Promise<Actor | undefined> => {
    const user = await findUser(userId);
    return user === undefined ? undefined : { ...user, source: 'method' };
  };
  const methods = calls.track(limitOperations(operations, userLimiter));
  const providerMethods = limitOperations(providers.operations, userLimiter);
  const { Meteor, argumentChecks, DDPRateLimiter } = packages;
  const meteor = { Meteor, argumentChecks };
  const limited = { ...meteor, Meteor: limitPublications(Meteor, argumentChecks, userLimiter) };
  const names = {
    methods: [
      ...defineAIMethods({ ...meteor, methods, actorOf }),
      ...defineProviderMethods({ ...meteor, operations: providerMethods, actorOf }),
    ],
    publications: [
      ...definePublications({
        ...limited,
        database,
        actorOf,
        ownerOf: runs.ownerOf,
        ...(openContent === undefined ? {} : { openContent }),
      }),
      ...defineProviderPublication({
        ...limited,
        actorOf,
        list: (actor) => providers.operations.list(actor),
        onChange: (listener) => providers.changes.subscribe(listener),
      }),
      publishChanges({ ...limited, database, actorOf, changes }),
      publishStatus({ ...meteor, simulationNotice: notice }),
    ],
  };
  if (DDPRateLimiter !== undefined) addDdpRateLimits(DDPRateLimiter, names);
}

/**
 * Notifies of providers and credentials that another process of the app has changed. There are few providers; of the
 * credentials, only the count of their changes is observed.
 */
function observeOtherProcesses(
  database: MeteorDatabase,
  notify: () => void,
): Promise<readonly { readonly stop: () => void }[]> {
  const providers = database.published(COLLECTIONS.providers).find({}, { fields: { updatedAt: 1 } });
  const changes = database
    .published(COLLECTIONS.changes)
    .find({ _id: CREDENTIAL_CHANGES_ID }, { fields: { revision: 1 } });
  return Promise.all(
    [providers, changes].map((cursor) =>
      cursor.observeChangesAsync({ added: notify, changed: notify, removed: notify }),
    ),
  );
}
