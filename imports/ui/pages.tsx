/**
 * The table of pages: the navigation, the command palette and the router read it. The code of a page is loaded when the
 * page is opened. In the npm package it is included: see `scripts/package/inlinePages.ts`, which knows the form of
 * these imports.
 */
import type { ComponentType } from 'react';
import type { IconName } from './components/Icon';
import { preloadable } from './components/preloadable';
import type { Preloadable } from './components/preloadable';
import type { PageProps } from './shell/PageProps';
import type { Route } from './shell/route';
import { omitUndefined } from '../business/ai/domain/util/omitUndefined';

type PageComponent = ComponentType<PageProps>;

export interface Page extends Preloadable<PageProps> {
  /** The first segment of the route; '' for the first page. */
  readonly path: string;
  readonly label: string;
  readonly icon: IconName;
  readonly group: PageGroup;
  /** Shown in the bar of phones; the others are in its menu. */
  readonly isPrimary?: true;
  /** Shows how many calls and runs wait for someone. */
  readonly countsInbox?: true;
  /** The page of one of its entries: the route has further segments. */
  readonly detail?: Preloadable<PageProps>;
}

export const PAGE_GROUPS = ['Monitor', 'Build', 'Manage'] as const;
export type PageGroup = (typeof PAGE_GROUPS)[number];

export const PAGES: readonly Page[] = [
  page({
    path: '',
    label: 'Overview',
    icon: 'overview',
    group: 'Monitor',
    isPrimary: true,
    load: async () => (await import('./overview/OverviewPage')).OverviewPage,
  }),
  page({
    path: 'inbox',
    label: 'Inbox',
    icon: 'inbox',
    group: 'Monitor',
    isPrimary: true,
    countsInbox: true,
    load: async () => (await import('./inbox/InboxPage')).InboxPage,
  }),
  page({
    path: 'runs',
    label: 'Runs',
    icon: 'runs',
    group: 'Monitor',
    isPrimary: true,
    load: async () => (await import('./runs/RunsPage')).RunsPage,
    loadDetail: async () => (await import('./runs/RunRoute')).RunRoute,
  }),
  page({
    path: 'requests',
    label: 'Requests',
    icon: 'requests',
    group: 'Monitor',
    isPrimary: true,
    load: async () => (await import('./requests/RequestsPage')).RequestsPage,
    loadDetail: async () => (await import('./requests/RequestPage')).RequestPage,
  }),
  page({
    path: 'usage',
    label: 'Usage',
    icon: 'chart',
    group: 'Monitor',
    load: async () => (await import('./usage/UsagePage')).UsagePage,
  }),
  page({
    path: 'playground',
    label: 'Playground',
    icon: 'playground',
    group: 'Build',
    load: async () => (await import('./playground/PlaygroundPage')).PlaygroundPage,
  }),
  page({
    path: 'tools',
    label: 'Tools',
    icon: 'tools',
    group: 'Build',
    load: async () => (await import('./tools/ToolsPage')).ToolsPage,
  }),
  page({
    path: 'memory',
    label: 'Memory',
    icon: 'bookmark',
    group: 'Build',
    load: async () => (await import('./memory/MemoryPage')).MemoryPage,
  }),
  page({
    path: 'providers',
    label: 'Providers',
    icon: 'providers',
    group: 'Manage',
    load: async () => (await import('./providers/ProvidersPage')).ProvidersPage,
  }),
  page({
    path: 'mcp-servers',
    label: 'MCP servers',
    icon: 'plug',
    group: 'Manage',
    load: async () => (await import('./mcp/McpServersPage')).McpServersPage,
    loadDetail: async () => (await import('./mcp/McpServerPage')).McpServerPage,
  }),
  page({
    path: 'routing',
    label: 'Routing',
    icon: 'route',
    group: 'Manage',
    load: async () => (await import('./routing/RoutingPage')).RoutingPage,
  }),
  page({
    path: 'tokens',
    label: 'Tokens',
    icon: 'key',
    group: 'Manage',
    load: async () => (await import('./tokens/TokensPage')).TokensPage,
  }),
  page({
    path: 'budgets',
    label: 'Budgets',
    icon: 'gauge',
    group: 'Manage',
    load: async () => (await import('./budgets/BudgetsPage')).BudgetsPage,
  }),
  page({
    path: 'queue',
    label: 'Queue',
    icon: 'queue',
    group: 'Manage',
    load: async () => (await import('./queue/QueuePage')).QueuePage,
  }),
  page({
    path: 'audit',
    label: 'Audit',
    icon: 'audit',
    group: 'Manage',
    load: async () => (await import('./audit/AuditPage')).AuditPage,
  }),
];

/** The page of a route; undefined for an unknown one. */
export function findPage({ path: [first = ''] }: Route): Page | undefined {
  const path = first === 'overview' ? '' : first;
  return PAGES.find((candidate) => candidate.path === path);
}

/** What is rendered on a route: a page, or the page of one of its entries; undefined for an unknown one. */
export function pageOf(route: Route): Preloadable<PageProps> | undefined {
  const page = findPage(route);
  return route.path.length <= 1 ? page : page?.detail;
}

type PageInit = Omit<Page, 'Component' | 'preload' | 'detail'> & {
  readonly load: () => Promise<PageComponent>;
  readonly loadDetail?: () => Promise<PageComponent>;
};

function page({ load, loadDetail, ...init }: PageInit): Page {
  return omitUndefined({ ...init, ...preloadable(load), detail: loadDetail && preloadable(loadDetail) });
}
