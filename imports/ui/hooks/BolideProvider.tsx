/** Provides the hooks and the dashboard's pages with their data: over HTTP, or over DDP in Meteor. */
import { createContext, useContext } from 'react';
import type { ReactNode } from 'react';
import type { DashboardData } from '../data/DashboardData';

const Context = createContext<DashboardData | undefined>(undefined);

/**
 * @param data of `createHttpData` or `createMeteorData`: the same object in every rendering, created once outside of
 *   components
 */
export function BolideProvider({ data, children }: { readonly data: DashboardData; readonly children: ReactNode }) {
  return <Context.Provider value={data}>{children}</Context.Provider>;
}

/** The source never changes during the page's lifetime, so its hooks are always called in the same order. */
export function useData(): DashboardData {
  const data = useContext(Context);
  if (data === undefined)
    throw new Error(
      'Bolide’s hooks must be used below a <BolideProvider data={createHttpData()}>, or below a <Dashboard>.',
    );
  return data;
}
