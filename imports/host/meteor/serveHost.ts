/** Offers a host to a Meteor app's clients: methods and publications, HTTP routes, and an orderly shutdown. */
import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import type { Actor } from '../../business/ai/domain/types/Actor';
import type { MeteorDatabase } from '../../database/meteor/MeteorDatabase';
import { defineAIMethods } from '../../business/ai/methods';
import { definePublications } from '../../business/ai/publications';
import { COLLECTIONS } from '../../business/providers/infrastructure/factories/createProvidersModule';
import { CREDENTIAL_CHANGES_ID } from '../../business/providers/infrastructure/persistence/createChangeCounter';
import { defineProviderPublication } from '../../business/providers/publications';
import type { HttpHandler } from '../../api/http/HttpMessages';
import type { Host } from '../createHost';
import { auditSignIns } from './auditSignIns';
import { CallsInProgress } from './CallsInProgress';
import { limitOperations, limitPublications } from './limitUsers';
import { closeOnSignals } from '../closeOnSignals';
import { addDdpRateLimits } from './ddpRateLimits';
import { findTakenPaths } from './findTakenPaths';
import type { ExpressHandlers } from './findTakenPaths';
import type { MeteorUsers } from './MeteorUsers';
import type { ReadPackages } from './readPackages';
import { publishChanges } from './publishChanges';
import { readsOplog } from './readsOplog';
import { watchPublications } from './watchPublications';
import { processEnvironment } from '../settings/environment';
import { isStoreOutage } from '../../business/ai/domain/errors/LLMErrors';
import { runDetached } from '../../business/ai/application/services/shared/runDetached';
import { openWriteRelay, PROCESS_WRITES } from '../../database/meteor/WriteRelay';
import type { WriteRelay } from '../../database/meteor/WriteRelay';
import { omitUndefined } from '../../business/ai/domain/util/omitUndefined';
import { argumentCheck } from '../../business/ai/domain/util/argumentCheck';
import type { MeteorCheck, MeteorServer, MeteorSubscription } from '../../business/ai/domain/interfaces/MeteorServer';
import type { MeteorApp } from './MeteorPackages';

export interface ServePorts {
  readonly packages: ReadPackages;
  readonly database: MeteorDatabase;
  readonly findUser: MeteorUsers['findUser'];
  /** Shown to everyone if responses are simulated. */
  readonly notice: string | undefined;
  /** Where the HTTP API is mounted; '' for the root. */
  readonly httpPath: string;
  /** Milliseconds that a shutdown waits for what is in progress. */
  readonly shutdownGraceMs: number;
  readonly closesOnSignals: boolean;
}

/** Milliseconds that calls of methods may still take while runs are about to be handed over. */
const OTHER_CALLS_MS = 1_000;

/** @returns completes what is in progress, and closes the host */
export async function serveHost(host: Host, ports: ServePorts): Promise<() => Promise<void>> {
  const { packages, database, httpPath, shutdownGraceMs, closesOnSignals } = ports;
  const observed = await observeOtherProcesses(database, () => host.providers.changes.notify());
  const calls = new CallsInProgress();
  const relay = await relayWrites(ports);
  const watched =
    relay === undefined ? ports : { ...ports, publisher: watchPublications(packages.Meteor, relay.watch) };
  defineMethodsAndPublications(host, calls, watched);
  const { handlers, httpServer } = packages.WebApp;
  const taken = findTakenPaths(handlers as Handlers, httpPath);
  if (taken.length > 0)
    console.warn(
      `The app itself answers ${taken.join(', ')}, with handlers that were added to WebApp.handlers before Bolide's. Remove them, or mount Bolide's routes below another path: startBolide({ httpPath: '/llm' }).`,
    );
  mount(handlers as Handlers, httpPath, host.api.router);
  const onUpgrade = (request: IncomingMessage, socket: Duplex, head: Buffer): void => {
    // Other sockets belong to DDP.
    host.api.handleUpgrade(request, socket, head);
  };
  httpServer.on('upgrade', onUpgrade);
  const clients = trackConnections(packages.Meteor);
  const stopSignIns = auditSignIns(packages.Accounts, host.audit);

  const settle = once(async (hurry) => {
    const startedAt = performance.now();
    await host.drain(hurry);
    const remainingMs = Math.max(0, shutdownGraceMs - (performance.now() - startedAt));
    // Calls that wait for runs which are left to another process cannot end here.
    const isWorthWaiting = host.module.loop.local.size === 0;
    await calls.ended(isWorthWaiting ? remainingMs : Math.min(remainingMs, OTHER_CALLS_MS), hurry);
  });
  const close = once(async (hurry) => {
    stopSignIns();
    for (const { stop } of observed) stop();
    await settle(hurry);
    await host.close(hurry);
    await relay?.close();
    httpServer.off('upgrade', onUpgrade);
    clients.stop();
    // Not before: another signal would end the process at once, with its leases.
    stopListening();
  });
  const shutDown = async (hurry: AbortSignal): Promise<void> => {
    calls.hold();
    // The changed app does not wait for the end of this process before it listens on the same port.
    if (packages.Meteor.isDevelopment) httpServer.close();
    await settle(hurry);
    // Clients connect to another process, and repeat the calls there that have no result yet.
    clients.close();
    await close(hurry);
    httpServer.close();
    // Some clients may have come back to this process.
    clients.close();
  };
  const stopListening = closesOnSignals
    ? closeOnSignals({ close: shutDown, graceMs: shutdownGraceMs })
    : () => undefined;
  return close;
}

interface PublishPorts extends ServePorts {
  /** Defines the publications of stored documents. Default: Meteor. */
  readonly publisher?: MeteorServer;
}

const WITHOUT_OPLOG =
  "Without MongoDB's oplog, Meteor polls: the publications of this app see what another process has written after up to " +
  '10 seconds. Those of Bolide see it at once, since its processes tell each other. Set MONGO_OPLOG_URL to the database ' +
  '"local" of a replica set, or leave it out on Meteor 3.5, whose change streams follow single documents.';

/** @returns undefined if the oplog tells of other processes */
async function relayWrites({ packages, database }: ServePorts): Promise<WriteRelay | undefined> {
  const { Meteor } = packages;
  if (readsOplog(processEnvironment(), Meteor.settings)) return undefined;
  if (!Meteor.isDevelopment) console.warn(WITHOUT_OPLOG);
  const relay = await openWriteRelay({
    collection: database.collection(PROCESS_WRITES),
    published: () => database.publishedNames,
    refresh: (collection) => void Meteor.refresh?.({ collection }),
    onChange: (callback) => database.onChange([PROCESS_WRITES], callback),
    detached: runDetached,
    onError(error) {
      // The circuit of the database reports outages.
      if (!isStoreOutage(error)) console.warn('Writes of other processes could not be followed.', error);
    },
  });
  database.onWrite(relay.noteWrite);
  return relay;
}

/**
 * Clients look for the metadata of what is below a path at the root of the host.
 * https://www.rfc-editor.org/rfc/rfc8414#section-3.1, https://www.rfc-editor.org/rfc/rfc9728#section-3.1
 */
const METADATA = ['/.well-known/oauth-authorization-server', '/.well-known/oauth-protected-resource'] as const;

function mount(handlers: Handlers, httpPath: string, router: Host['api']['router']): void {
  if (httpPath === '') {
    handlers.use('/', router);
    return;
  }
  handlers.use(httpPath, router);
  for (const path of METADATA)
    handlers.use(path + httpPath, (request, response, next) => {
      request.url = path;
      router(request, response, next);
    });
}

/** The part of Express that is used. */
interface Handlers extends ExpressHandlers {
  use(path: string, handler: HttpHandler): unknown;
}

function once(run: (hurry?: AbortSignal) => Promise<void>): (hurry?: AbortSignal) => Promise<void> {
  let running: Promise<void> | undefined;
  return (hurry) => (running ??= run(hurry));
}

function defineMethodsAndPublications(
  { runs, providers, operations, changes, memoryMaxAgeMs, openContent, userLimiter }: Host,
  calls: CallsInProgress,
  { packages, publisher = packages.Meteor, database, findUser, notice, httpPath }: PublishPorts,
): void {
  const actorOf = async (userId: string): Promise<Actor | undefined> => {
    const user = await findUser(userId);
    return user === undefined ? undefined : { ...user, source: 'method' };
  };
  const methods = calls.track(limitOperations(operations, userLimiter));
  const { Meteor, argumentChecks, DDPRateLimiter } = packages;
  const meteor = { Meteor, argumentChecks };
  const limited = { ...meteor, Meteor: limitPublications(publisher, argumentChecks, userLimiter) };
  const names = {
    methods: defineAIMethods({ ...meteor, methods, actorOf }),
    publications: [
      ...definePublications({
        ...limited,
        database,
        actorOf,
        ownerOf: runs.ownerOf,
        memoryMaxAgeMs,
        openContent,
      }),
      ...defineProviderPublication({
        ...limited,
        actorOf,
        list: operations['ai.providers.list'],
        onChange: (listener) => providers.changes.subscribe(listener),
      }),
      publishChanges({ ...limited, database, actorOf, changes }),
      publishStatus({
        ...meteor,
        simulationNotice: notice,
        apiUrl: Meteor.absoluteUrl().replace(/\/+$/, '') + httpPath,
      }),
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

/** Publishes `ai.status` to everyone, signed in or not: where the HTTP API is, and whether responses are simulated. */
const STATUS_COLLECTION = 'ai_status';

interface StatusPublicationPorts {
  readonly Meteor: MeteorServer;
  readonly argumentChecks?: MeteorCheck | undefined;
  /** Undefined if models write the responses. */
  readonly simulationNotice: string | undefined;
  readonly apiUrl: string;
}

/** @returns the publication's name */
function publishStatus({ Meteor, argumentChecks, simulationNotice, apiUrl }: StatusPublicationPorts): string {
  // The publication has no options, but accepts an empty object.
  const checkArgument = argumentCheck(argumentChecks, (Match) => Match.Maybe({}));
  Meteor.publish('ai.status', function (this: MeteorSubscription, argument?: unknown) {
    checkArgument(argument);
    this.added(STATUS_COLLECTION, 'status', omitUndefined({ apiUrl, simulationNotice }));
    this.ready();
    return undefined;
  } as never);
  return 'ai.status';
}

/** Tracks the connections of DDP clients to this process, so that a shutdown can close them. */
interface ClientConnections {
  /** Closes all connections. Their clients connect again. */
  close(): void;
  /** Stops tracking. */
  stop(): void;
}

interface Closable {
  close(): void;
}

function trackConnections(Meteor: Pick<MeteorApp, 'onConnection'>): ClientConnections {
  const open = new Set<Closable>();
  const handle = Meteor.onConnection((connection) => {
    open.add(connection);
    connection.onClose(() => open.delete(connection));
  }) as { stop(): void };
  return {
    close() {
      for (const connection of open) connection.close();
    },
    stop: () => handle.stop(),
  };
}
