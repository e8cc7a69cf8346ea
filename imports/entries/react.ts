/** `bolide/react`: the dashboard as a component, and hooks. */
export { Dashboard } from '../ui/Dashboard';
export { mountDashboard } from '../ui/mountDashboard';
export type { DashboardData } from '../ui/data/DashboardData';
export { createHttpData } from '../ui/data/http/createHttpData';
export type { BrowserMeteor, BrowserMongo, BrowserPackages, BrowserTracker } from '../ui/data/meteor/BrowserPackages';
export { createMeteorData } from '../ui/data/meteor/createMeteorData';
export { createMeteorHooks } from '../ui/data/meteor/createMeteorHooks';
export type { MeteorHooks } from '../ui/data/meteor/createMeteorHooks';
export type { TrackedDelta } from '../ui/data/meteor/trackDelta';
export type { TrackedRun } from '../ui/data/meteor/trackRun';
export type { SubscriptionError, SubscriptionStatus } from '../ui/data/meteor/trackSubscription';
export type { ToolCallFilter, TrackedToolCalls } from '../ui/data/meteor/trackToolCalls';
