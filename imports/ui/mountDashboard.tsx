/** Mounts the dashboard in a page of its own, on either host. */
import { Dashboard } from './Dashboard';
import type { DashboardData } from './data/DashboardData';
import { mountPage } from './mountPage';
import type { MountOptions } from './mountPage';

/** @returns unmounts it */
export function mountDashboard(container: HTMLElement, data: DashboardData, options: MountOptions = {}): () => void {
  return mountPage(container, <Dashboard data={data} />, options);
}
