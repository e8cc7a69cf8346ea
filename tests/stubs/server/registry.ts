/**
 * The state of one Meteor server: its methods, publications, collections and connections. One per test
 * process, reset between tests.
 */
import type { Connection, MethodContext, PublicationContext } from './contexts';
import type { MemoryCollection } from './MemoryCollection';
import type { WriteFence } from './WriteFence';

export type MethodHandler = (this: MethodContext, ...args: never[]) => unknown;
export type PublishHandler = (this: PublicationContext, ...args: never[]) => unknown;

export type LoginHook = (attempt: object) => unknown;

export const registry = {
  methods: new Map<string, MethodHandler>(),
  publications: new Map<string, PublishHandler>(),
  collections: new Map<string, MemoryCollection>(),
  /** The collections of the last process, as the database has them. */
  stored: new Map<string, MemoryCollection>(),
  sessions: new Set<{ close(): void }>(),
  onConnection: new Set<(connection: Connection) => void>(),
  rateRules: new Map<string, object>(),
  /** Listeners of `Accounts.onLogin` and the like. */
  loginHooks: { onLogin: new Set<LoginHook>(), onLoginFailure: new Set<LoginHook>(), onLogout: new Set<LoginHook>() },
  /** `Accounts._options` */
  accountsOptions: {} as { forbidClientAccountCreation?: boolean },
  /** The write fence of every method that a client has called, in order. */
  fences: [] as WriteFence[],
  /** What every operation of the database fails with, while it is set. */
  outage: undefined as Error | undefined,
  /** The exceptions that Meteor would write to the server's log, because clients don't see them. */
  log: [] as { readonly context: string; readonly error: unknown }[],
};

/** Resets to a new server with an empty database, and closes the connections of the old one. */
export function resetMeteor(): void {
  restartMeteor();
  registry.stored.clear();
}

/** Starts a new process on the same database. Connections to the old one are closed. */
export function restartMeteor(): void {
  for (const session of registry.sessions) session.close();
  for (const [name, collection] of registry.collections) registry.stored.set(name, collection);
  registry.methods.clear();
  registry.publications.clear();
  registry.collections.clear();
  registry.sessions.clear();
  registry.onConnection.clear();
  registry.rateRules.clear();
  for (const hooks of Object.values(registry.loginHooks)) hooks.clear();
  registry.accountsOptions = {};
  registry.outage = undefined;
  registry.fences.length = 0;
  registry.log.length = 0;
}
