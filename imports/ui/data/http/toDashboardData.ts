/** Exposes `HttpData` as hooks. */
import type { DashboardData, Loaded } from '../DashboardData';
import type { StreamedRun } from '../reducers/reduceRun';
import { createSessionData } from './createSessionData';
import type { HttpData } from './HttpData';
import { useObservable } from './useObservable';

export interface HttpDashboardData extends DashboardData {
  /** Reopens the streams of events, such as when the network comes back. */
  readonly reconnect: () => void;
  /**
   * Closes the streams of a hidden page, which looks for changes twice a minute instead: browsers open only six
   * connections to a server, for all pages together.
   */
  readonly setVisible: (isVisible: boolean) => void;
  /** Asks the server whether the page has a session; `useAccess` is `checking` until then. */
  readonly checkSession: () => Promise<void>;
}

export function toDashboardData(source: HttpData, simulationNotice: string | undefined): HttpDashboardData {
  return {
    ...createSessionData(source.session, simulationNotice),
    useApiUrl: () => window.location.origin,
    useConnection: () => useObservable(source.watchedConnection),
    useRun: (executionId) => useObservable<Loaded<StreamedRun | undefined>>(source.runDetails(executionId)),
    useConversationRuns: (conversationId) => useObservable(source.conversationRuns(conversationId)),
    useQuery: (name, argument, use) => useObservable(source.queries.query(name, argument, source.session.id, use)),
    call: (name, argument) => source.queries.call(name, argument),
    commands: source.session,
    reconnect: () => source.reconnect(),
    setVisible: (isVisible) => source.setVisible(isVisible),
    checkSession: () => source.session.check(),
  };
}
