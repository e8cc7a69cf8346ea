/** Mounts the dashboard in a page of its own, on either host. */
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { Dashboard } from './Dashboard';
import type { DashboardData } from './data/DashboardData';

/** @returns unmounts it */
export function mountDashboard(container: HTMLElement, data: DashboardData): () => void {
  const root = createRoot(container);
  root.render(
    <StrictMode>
      <Dashboard data={data} />
    </StrictMode>,
  );
  return () => root.unmount();
}
