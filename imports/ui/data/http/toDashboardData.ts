/** Exposes `HttpData` as the port of the dashboard and the clients. */
import type { DashboardData } from '../DashboardData';
import type { ReadonlyObservable } from '../Observable';
import { createSessionData } from './createSessionData';
import type { HttpData } from './HttpData';

export interface HttpDashboardData extends DashboardData {
  /** Reopens the streams of events, such as when the network comes back. */
  readonly reconnect: () => void;
  /**
   * Closes the streams of a hidden page, which looks for changes twice a minute instead: browsers open only six
   * connections to a server, for all pages together.
   */
  readonly setVisible: (isVisible: boolean) => void;
  /** Asks the server whether the page has a session; `access` is `checking` until then. */
  readonly checkSession: () => Promise<void>;
}

export function toDashboardData(source: HttpData, simulationNotice: string | undefined): HttpDashboardData {
  const { session } = source;
  return {
    ...createSessionData(session, simulationNotice),
    apiUrl: constant(() => window.location.origin),
    connection: source.watchedConnection,
    session: { get: () => session.id, subscribe: session.access.subscribe },
    run: (executionId) => source.runDetails(executionId),
    conversationRuns: (conversationId) => source.conversationRuns(conversationId),
    query: (name, argument, use) => source.queries.query(name, argument, session.id, use),
    call: (name, argument) => source.queries.call(name, argument),
    commands: session,
    reconnect: () => source.reconnect(),
    setVisible: (isVisible) => source.setVisible(isVisible),
    checkSession: () => session.check(),
  };
}

/** The value of a page that lasts as long as it. */
function constant<T>(get: () => T): ReadonlyObservable<T> {
  return { get, subscribe: () => () => undefined };
}
