/** Mounts the dashboard in an element of an app's page. */
import type { DashboardData } from '../data/DashboardData';
import { mountPage } from '../mountPage';
import type { MountOptions } from '../mountPage';
import { EmbeddedDashboard } from './EmbeddedDashboard';

/** @returns unmounts it */
export function mountEmbeddedDashboard(
  container: HTMLElement,
  data: DashboardData,
  options: MountOptions = {},
): () => void {
  return mountPage(container, <EmbeddedDashboard data={data} />, options);
}
