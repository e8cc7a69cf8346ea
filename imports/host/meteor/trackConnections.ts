/** Tracks the connections of DDP clients to this process, so that a shutdown can close them. */
import type { MeteorApp } from './MeteorPackages';

export interface ClientConnections {
  /** Closes all connections. Their clients connect again. */
  close(): void;
  /** Stops tracking. */
  stop(): void;
}

interface Closable {
  close(): void;
}

export function trackConnections(Meteor: Pick<MeteorApp, 'onConnection'>): ClientConnections {
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
