/**
 * Starts Bolide in a Meteor app: methods, publications and the HTTP API for logged-in users, on the app's own database.
 */
import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import express from 'express';
import { Meteor } from 'meteor/meteor';
import { WebApp } from 'meteor/webapp';
import { MeteorDatabase } from '../../business/ai/infrastructure/persistence/databases/MeteorDatabase';
import { defineAIMethods } from '../../business/ai/methods';
import { definePublications } from '../../business/ai/publications';
import type { ToolRegistry } from '../../business/ai/infrastructure/tools/ToolRegistry';
import type { Actor } from '../../business/ai/domain/types/Actor';
import { COLLECTIONS } from '../../business/providers/infrastructure/factories/createProvidersModule';
import { CREDENTIAL_CHANGES_ID } from '../../business/providers/infrastructure/persistence/createChangeCounter';
import { defineProviderMethods } from '../../business/providers/methods';
import { defineProviderPublication } from '../../business/providers/publications';
import { createHost } from '../createHost';
import type { Host } from '../createHost';
import { readMeteorSettings } from '../settings/meteor';
import { CallsInProgress } from './CallsInProgress';
import { closeOnSignals } from './closeOnSignals';
import { configureSignUp, createFirstUser, requirePasswords } from './configureAccounts';
import { addDdpRateLimits } from './ddpRateLimits';
import { MeteorUsers } from './MeteorUsers';
import type { FindRoles } from './MeteorUsers';
import { trackConnections } from './trackConnections';

export interface MeteorHost extends Host {
  readonly database: MeteorDatabase;
  readonly users: MeteorUsers;
}

export interface BolideOptions {
  /** All tools, including exposed methods. Runs from before a restart continue at once and need them. */
  readonly tools?: ToolRegistry;
  /**
   * Has the same keys as the environment and takes precedence over it. Default: `Meteor.settings.ai`.
   */
  readonly settings?: unknown;
  /**
   * Returns a user's roles, on which access to providers and `adminRoles` depend. Default: the global roles of the
   * package `roles` or `alanning:roles` if the app has it, else `roles` of the user document.
   */
  readonly findRoles?: FindRoles;
  /** Where the HTTP API is mounted, such as `/ai`. Default: at the root, beside the app's own pages. */
  readonly httpPath?: string;
  /** Closes sign-up unless the settings allow it. Default: false, the app itself decides who may sign up. */
  readonly ownsAccounts?: boolean;
  /**
   * Closes the host on SIGTERM and SIGINT, and then exits the process unless the app listens to these signals too.
   * Default: true.
   */
  readonly closesOnSignals?: boolean;
  /**
   * Milliseconds that a shutdown waits for requests and method calls in progress. Default: 6,000, and 1,000 in
   * development, where the changed app is waiting.
   */
  readonly shutdownGraceMs?: number;
}

/** Milliseconds after the grace within which leases are released and pending writes completed. */
const CLOSE_TIMEOUT_MS = 3_000;

let isRunning = false;

/**
 * To be called once, before Meteor accepts connections: in `Meteor.startup`, or with a top-level `await`. Validates all
 * settings before anything is opened or created.
 * @throws LLMInvalidRequestError that lists every missing or invalid setting; Error for a second call
 */
export async function startBolide(options: BolideOptions = {}): Promise<MeteorHost> {
  if (isRunning)
    throw new Error('Bolide is already running in this process. Call startBolide once and share the host it returns.');
  isRunning = true;
  try {
    const host = await open(options);
    return {
      ...host,
      async close() {
        await host.close();
        isRunning = false;
      },
    };
  } catch (error) {
    isRunning = false;
    throw error;
  }
}

async function open(options: BolideOptions): Promise<MeteorHost> {
  const { tools, findRoles, ownsAccounts = false, closesOnSignals = true, httpPath = '' } = options;
  const { shutdownGraceMs = Meteor.isDevelopment ? 1_000 : 6_000 } = options;
  const { admins, adminRoles, firstUser, allowSignUp, ...settings } = readMeteorSettings(
    options.settings === undefined ? Meteor.settings['ai'] : options.settings,
    process.env,
  );
  if (firstUser !== undefined) requirePasswords();
  if (allowSignUp !== undefined || ownsAccounts) configureSignUp(allowSignUp ?? false);
  const users = new MeteorUsers({ admins, adminRoles, ...(findRoles === undefined ? {} : { findRoles }) });
  const database = new MeteorDatabase();
  const { authenticate, findUser } = users;
  const host = await createHost(
    { ...settings, rootUrl: Meteor.absoluteUrl(), httpPath, shutdownGraceMs },
    {
      express,
      database,
      authenticate,
      findUser,
      hasAccounts: true,
      servesPages: true,
      ...(tools === undefined ? {} : { ai: { tools } }),
    },
  );
  try {
    if (firstUser !== undefined) await createFirstUser(firstUser);
    const observed = await observeOtherProcesses(database, () => host.providers.changes.notify());
    const calls = new CallsInProgress();
    defineMethodsAndPublications(host, { database, findUser, calls });
    const { handlers, httpServer } = WebApp;
    handlers.use(httpPath === '' ? '/' : httpPath, host.api.router);
    const onUpgrade = (request: IncomingMessage, socket: Duplex, head: Buffer): void => {
      // Other sockets belong to DDP.
      host.api.handleUpgrade(request, socket, head);
    };
    httpServer.on('upgrade', onUpgrade);
    const clients = trackConnections();
    const settle = once(async () => {
      await Promise.all([host.api.close(), calls.ended(shutdownGraceMs)]);
    });
    const close = once(async () => {
      clients.stop();
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
    return { ...host, database, users, close };
  } catch (error) {
    await host.close();
    throw error;
  }
}

function once(run: () => Promise<void>): () => Promise<void> {
  let running: Promise<void> | undefined;
  return () => (running ??= run());
}

interface DdpPorts {
  readonly database: MeteorDatabase;
  readonly findUser: MeteorUsers['findUser'];
  readonly calls: CallsInProgress;
}

function defineMethodsAndPublications(
  { runs, providers, userData }: Host,
  { database, findUser, calls }: DdpPorts,
): void {
  const actorOf = async (userId: string): Promise<Actor | undefined> => {
    const user = await findUser(userId);
    return user === undefined ? undefined : { ...user, source: 'method' };
  };
  const methods = calls.track({
    ...runs.methods,
    'ai.tools.list': (actor: Actor) => runs.queries.tools(actor),
    ...userData,
  });
  addDdpRateLimits({
    methods: [
      ...defineAIMethods({ methods, actorOf }),
      ...defineProviderMethods({ operations: providers.operations, actorOf }),
    ],
    publications: [
      ...definePublications({ database, actorOf, ownerOf: runs.ownerOf }),
      ...defineProviderPublication({
        actorOf,
        list: (actor) => providers.operations.list(actor),
        onChange: (listener) => providers.changes.subscribe(listener),
      }),
    ],
  });
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
