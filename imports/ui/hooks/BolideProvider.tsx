/** Provides the hooks and the dashboard's pages with their data: over HTTP, or over DDP in Meteor. */
import { createContext, useContext, useMemo } from 'react';
import type { ReactNode } from 'react';
import type { Connection, DashboardData, Loaded, QueryUse } from '../data/DashboardData';
import type { ArgumentOf, OperationName, ResultOf } from '../data/operations';
import { useObservable } from './useObservable';

/** The data, with its values as hooks. */
export interface DataHooks extends Pick<DashboardData, 'call'> {
  readonly source: DashboardData;
  readonly useApiUrl: () => string;
  readonly useConnection: () => Connection;
  /** `query` of the data, for whoever is signed in. */
  readonly useQuery: <N extends OperationName>(
    name: N,
    argument: ArgumentOf<N> | undefined,
    options?: QueryUse,
  ) => Loaded<ResultOf<N>>;
}

const Context = createContext<DataHooks | undefined>(undefined);

/**
 * @param data of `createHttpData` or `createMeteorData`: the same object in every rendering, created once outside of
 *   components
 */
export function BolideProvider({ data, children }: { readonly data: DashboardData; readonly children: ReactNode }) {
  const hooks = useMemo(() => createHooks(data), [data]);
  return <Context.Provider value={hooks}>{children}</Context.Provider>;
}

/** The source never changes during the page's lifetime, so its hooks are always called in the same order. */
export function useData(): DataHooks {
  const data = useContext(Context);
  if (data === undefined)
    throw new Error(
      'Bolide’s hooks must be used below a <BolideProvider data={createHttpData()}>, or below a <Dashboard>.',
    );
  return data;
}

function createHooks(source: DashboardData): DataHooks {
  return {
    source,
    call: source.call,
    useApiUrl: () => useObservable(source.apiUrl),
    useConnection: () => useObservable(source.connection),
    useQuery: (name, argument, options) => {
      useObservable(source.session);
      return useObservable(source.query(name, argument, options));
    },
  };
}
