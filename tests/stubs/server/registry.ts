/**
 * What one Meteor server knows: its methods, publications, collections and connections. One for the whole test
 * process, and reset between tests.
 */
import type { Connection, MethodContext, PublicationContext } from './contexts';
import type { MemoryCollection } from './MemoryCollection';

export type MethodHandler = (this: MethodContext, ...args: never[]) => unknown;
export type PublishHandler = (this: PublicationContext, ...args: never[]) => unknown;

export const registry = {
  methods: new Map<string, MethodHandler>(),
  publications: new Map<string, PublishHandler>(),
  collections: new Map<string, MemoryCollection>(),
  sessions: new Set<{ close(): void }>(),
  onConnection: new Set<(connection: Connection) => void>(),
  rateRules: new Map<string, object>(),
  /** What Meteor would have written to the server's log: exceptions that a client did not get to see. */
  log: [] as { readonly context: string; readonly error: unknown }[],
};

/** A new server; connections of the old one are closed. */
export function resetMeteor(): void {
  for (const session of registry.sessions) session.close();
  registry.methods.clear();
  registry.publications.clear();
  registry.collections.clear();
  registry.sessions.clear();
  registry.onConnection.clear();
  registry.rateRules.clear();
  registry.log.length = 0;
}
