/** The data of hooks and dashboard over HTTP: exposes `HttpData` as hooks and commands. */
import type { DashboardData, Loaded } from '../DashboardData';
import type { StreamedRun } from '../reducers/reduceRun';
import { createHttpCommands } from './createHttpCommands';
import { HttpData } from './HttpData';
import type { HttpDataOptions } from './HttpData';
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

/** To be called once, outside of components. In a page that Bolide's server serves, no option is needed. */
export function createHttpData(options: HttpDataOptions = {}): HttpDashboardData {
  const source = new HttpData(options);
  return {
    useAccess: () => useObservable(source.access),
    useSimulationNotice: () => options.simulationNotice,
    useConnection: () => useObservable(source.watchedConnection),
    useRun: (executionId) => useObservable<Loaded<StreamedRun | undefined>>(source.runDetails(executionId)),
    useConversationRuns: (conversationId) => useObservable(source.conversationRuns(conversationId)),
    useQuery: (name, argument, use) => useObservable(source.queries.query(name, argument, source.session, use)),
    call: (name, argument) => source.queries.call(name, argument),
    commands: createHttpCommands(source),
    reconnect: () => source.reconnect(),
    setVisible: (isVisible) => source.setVisible(isVisible),
    checkSession: () => source.checkSession(),
  };
}
