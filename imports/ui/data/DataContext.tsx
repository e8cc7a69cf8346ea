/** Provides the data source to every page. */
import { createContext, useContext } from 'react';
import type { ReactNode } from 'react';
import type { DashboardData } from './DashboardData';

const Context = createContext<DashboardData | undefined>(undefined);

export function DataProvider({ data, children }: { readonly data: DashboardData; readonly children: ReactNode }) {
  return <Context.Provider value={data}>{children}</Context.Provider>;
}

/** The source never changes during the page's lifetime, so its hooks are always called in the same order. */
export function useData(): DashboardData {
  const data = useContext(Context);
  if (data === undefined) throw new Error('useData must be used within a DataProvider.');
  return data;
}
