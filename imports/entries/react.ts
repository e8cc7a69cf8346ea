/** `bolide/react`: the dashboard as a component. */
export { Dashboard } from '../ui/Dashboard';
export type { DashboardData } from '../ui/data/DashboardData';
export { createHttpData } from '../ui/data/http/createHttpData';
