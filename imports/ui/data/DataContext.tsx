/** Hands the data source to every page. */
import { createContext, useContext } from 'react';
import type { ReactNode } from 'react';
import type { DashboardData } from './DashboardData';

const Context = createContext<DashboardData | undefined>(undefined);

export function DataProvider({ data, children }: { readonly data: DashboardData; readonly children: ReactNode }) {
  return <Context.Provider value={data}>{children}</Context.Provider>;
}

/** The same source for the whole life of the page, so its hooks are always the same. */
export function useData(): DashboardData {
  const data = useContext(Context);
  if (data === undefined) throw new Error('useData needs a DataProvider above it');
  return data;
}
