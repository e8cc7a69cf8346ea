/**
 * Starts Bolide in a Meteor app: methods, publications and the HTTP API for logged-in users, on the app's own database.
 */
import { MeteorDatabase } from '../../database/meteor/MeteorDatabase';
import { toToolRegistry } from '../../business/ai/infrastructure/tools/toToolRegistry';
import type { ToolList } from '../../business/ai/infrastructure/tools/toToolRegistry';
import type { RouterFactory } from '../../api/http/createRouter';
import { createHost } from '../createHost';
import type { Host } from '../createHost';
import { processEnvironment } from '../settings/environment';
import { describePrivateHosts } from '../settings/host';
import { readMeteorSettings } from '../settings/meteor';
import { configureSignUp, createFirstUser, requirePasswords } from './configureAccounts';
import { consentPage } from './consentPage';
import { ExposedApp } from './expose/ExposedApp';
import { exposures } from './expose/exposeMethods';
import { MeteorUsers } from './MeteorUsers';
import type { FindRoles } from './MeteorUsers';
import type { MeteorPackages } from './MeteorPackages';
import { readPackages } from './readPackages';
import { serveHost } from './serveHost';
import { simulateWithoutVendors } from './simulateWithoutVendors';
import { consoleLogger } from '../../log/consoleLogger';
import { setLogWriter } from '../../log/logWriter';
import { toLogRecord } from '../../business/ai/infrastructure/telemetry/logRecord';
import { installedPackage } from './installedPackage';

export interface MeteorHost extends Host {
  readonly database: MeteorDatabase;
  readonly users: MeteorUsers;
}

export interface BolideOptions extends MeteorPackages {
  /** All tools, including exposed methods. Runs from before a restart continue at once and need them. */
  readonly tools?: ToolList;
  /**
   * Has the same keys as the environment and takes precedence over it. Default: `Meteor.settings.ai`.
   */
  readonly settings?: unknown;
  /**
   * Returns a user's roles, on which access to providers and `adminRoles` depend. Default: the global roles of the
   * package `roles` or `alanning:roles` if the app has it, else `roles` of the user document.
   */
  readonly findRoles?: FindRoles;
  /** Where the HTTP API is mounted; '' for the root, beside the app's own pages. Default: `/ai`. */
  readonly httpPath?: string | undefined;
  /** Closes sign-up unless the settings allow it. Default: false, the app itself decides who may sign up. */
  readonly ownsAccounts?: boolean;
  /**
   * Simulates all vendors while neither the settings nor the database have an account with one. Default: in
   * development.
   */
  readonly simulates?: boolean;
  /**
   * Closes the host on SIGTERM and SIGINT, and then exits the process unless the app listens to these signals too.
   * Default: true.
   */
  readonly closesOnSignals?: boolean;
  /**
   * Milliseconds that a shutdown waits for requests, method calls, model calls and tools in progress. Default: the
   * setting SHUTDOWN_GRACE_SECONDS, or 6,000, and 1,000 in development, where the changed app is waiting.
   */
  readonly shutdownGraceMs?: number;
}

let isRunning = false;

/**
 * To be called once, before Meteor accepts connections: in `Meteor.startup`, or with a top-level `await`. Validates all
 * settings before anything is opened or created.
 * @throws LLMInvalidRequestError that lists every missing object of Meteor, or every missing or invalid setting; Error
 *   for a second call
 */
export async function startBolide(options: BolideOptions): Promise<MeteorHost> {
  if (isRunning)
    throw new Error('Bolide is already running in this process. Call startBolide once and share the host it returns.');
  isRunning = true;
  try {
    const host = await open(options);
    let closed: Promise<void> | undefined;
    return {
      ...host,
      close: () =>
        (closed ??= host.close().finally(() => {
          isRunning = false;
        })),
    };
  } catch (error) {
    isRunning = false;
    throw error;
  }
}

async function open(options: BolideOptions): Promise<MeteorHost> {
  const packages = readPackages(options);
  const { Meteor, Mongo, WebApp, Accounts } = packages;
  useMeteorLog();
  const { tools, findRoles, ownsAccounts = false, httpPath = '/ai', simulates = Meteor.isDevelopment } = options;
  const { closesOnSignals = true } = options;
  const { admins, adminRoles, firstUser, allowSignUp, ...settings } = readMeteorSettings(
    options.settings === undefined ? Meteor.settings['ai'] : options.settings,
    processEnvironment(),
  );
  const defaultGraceMs = Meteor.isDevelopment ? 1_000 : 6_000;
  const shutdownGraceMs = options.shutdownGraceMs ?? settings.shutdownGraceMs ?? defaultGraceMs;
  const privateHosts = describePrivateHosts(settings.allowPrivateHosts);
  if (privateHosts !== undefined) console.warn(privateHosts);
  const registry = tools === undefined && exposures.length === 0 ? undefined : toToolRegistry(tools ?? []);
  const exposed = exposures.length === 0 ? undefined : await ExposedApp.open(packages, exposures);
  if (registry !== undefined) exposed?.registerTools(registry);
  if (firstUser !== undefined) requirePasswords(Accounts);
  if (allowSignUp !== undefined || ownsAccounts) configureSignUp(Accounts, allowSignUp ?? false);
  const database = new MeteorDatabase({ Mongo });
  const users = new MeteorUsers({
    Meteor,
    Accounts,
    admins,
    adminRoles,
    whileReachable: database.whileReachable,
    findRoles,
  });
  const { authenticate, findUser, findNames, searchUsers } = users;
  const simulated = await simulateWithoutVendors(settings.ai, database, simulates);
  const ai = simulated === undefined ? {} : { ai: simulated.settings, access: 'everyone' as const };
  try {
    const host = await createHost(
      { ...settings, ...ai, rootUrl: Meteor.absoluteUrl(), httpPath, shutdownGraceMs },
      {
        // Meteor's own, since Meteor's Rspack builds the router's own package wrongly.
        express: WebApp.express as RouterFactory,
        database,
        authenticate,
        findUser,
        findNames,
        searchUsers,
        hasAccounts: true,
        servesPages: true,
        exposed,
        consent: consentPage(packages),
        ai: registry === undefined ? undefined : { tools: registry },
      },
    );
    try {
      if (firstUser !== undefined) await createFirstUser(packages, firstUser);
      if (exposed !== undefined) consoleLogger.info(exposed.describe());
      const notice = simulated?.notice;
      const closeHost = await serveHost(host, {
        packages,
        database,
        findUser,
        notice,
        httpPath,
        shutdownGraceMs,
        closesOnSignals,
      });
      const close = async (): Promise<void> => {
        await closeHost();
        await simulated?.simulator.close();
      };
      return { ...host, database, users, close };
    } catch (error) {
      await host.close();
      throw error;
    }
  } catch (error) {
    await simulated?.simulator.close();
    throw error;
  }
}

/** `import { Log } from 'meteor/logging'` https://docs.meteor.com/packages/logging.html */
type MeteorLog = Readonly<
  Record<'debug' | 'info' | 'warn' | 'error', (line: Readonly<Record<string, unknown>>) => void>
>;

/** Without the package, lines go to the console. */
function useMeteorLog(): void {
  const { Log } = (installedPackage('logging') ?? {}) as { readonly Log?: MeteorLog };
  if (Log === undefined) return;
  setLogWriter((line) => {
    const { msg, ...fields } = toLogRecord(line);
    Log[line.level]({ ...fields, message: msg });
  });
}
