/** Mounts the dashboard in the page, on either host. */
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { App } from './App';
import type { DashboardData } from './data/DashboardData';
import { DataProvider } from './data/DataContext';

export function mountDashboard(container: HTMLElement, data: DashboardData): void {
  createRoot(container).render(
    <StrictMode>
      <DataProvider data={data}>
        <App />
      </DataProvider>
    </StrictMode>,
  );
}
