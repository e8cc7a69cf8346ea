/** The dashboard as a component, for a page of its own or inside an app. */
import { App } from './App';
import { DASHBOARD_PAGES } from './dashboardPages';
import type { DashboardData } from './data/DashboardData';
import { BolideProvider } from './hooks/BolideProvider';

/** @param data the same object in every rendering: `createMeteorData()` is called once, outside of components */
export function Dashboard({ data }: { readonly data: DashboardData }) {
  return (
    <BolideProvider data={data}>
      <App session={data} pages={DASHBOARD_PAGES} />
    </BolideProvider>
  );
}
