/** Mounts the dashboard in a page of its own, on either host. */
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { Dashboard } from './Dashboard';
import type { DashboardData } from './data/DashboardData';
import { showPagesBelow } from './shell/route';

export interface MountOptions {
  /**
   * The path below which the app serves this page at every address, such as `/admin`: pages of the dashboard then have
   * addresses of their own, such as `/admin/runs`. Default: they are behind `#`, such as `/admin#/runs`.
   */
  readonly path?: string | undefined;
}

/** @returns unmounts it */
export function mountDashboard(container: HTMLElement, data: DashboardData, { path }: MountOptions = {}): () => void {
  if (path !== undefined) showPagesBelow(path);
  const root = createRoot(container);
  root.render(
    <StrictMode>
      <Dashboard data={data} />
    </StrictMode>,
  );
  return () => root.unmount();
}
