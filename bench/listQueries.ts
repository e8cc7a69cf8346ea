/** The queries of the dashboard's lists, totals and reports, as an admin sends them. */
import { Inbox } from '../imports/business/ai/application/operations/Inbox';
import { INBOX_OPERATIONS } from '../imports/business/ai/application/operations/inboxOperations';
import { REQUEST_OPERATIONS } from '../imports/business/requestLog/application/requestOperations';
import { RunList } from '../imports/business/ai/application/operations/RunList';
import { RUN_LIST_OPERATIONS } from '../imports/business/ai/application/operations/runListOperations';
import { RunQueries } from '../imports/business/ai/application/operations/RunQueries';
import { USAGE_OPERATIONS } from '../imports/business/usage/application/usageOperations';
import type { Actor } from '../imports/business/ai/domain/types/Actor';
import type { DocumentDatabase } from '../imports/database/DocumentDatabase';
import { DocumentInbox } from '../imports/business/ai/infrastructure/persistence/inbox/DocumentInbox';
import { DocumentRequestList } from '../imports/business/requestLog/infrastructure/DocumentRequestList';
import { DocumentRunList } from '../imports/business/ai/infrastructure/persistence/runs/DocumentRunList';
import { DocumentRunViews } from '../imports/business/ai/infrastructure/persistence/runs/DocumentRunViews';
import { DocumentUsageReports } from '../imports/business/usage/infrastructure/DocumentUsageReports';
import { TOOL_CALLS } from '../imports/business/ai/infrastructure/persistence/runs/runDocuments';
import { REQUESTS } from '../imports/business/requestLog/infrastructure/DocumentRequestStore';
import { bindOperations } from '../imports/host/bindOperations';

export interface ListQuery {
  readonly name: string;
  /** @returns how many rows it found */
  readonly run: () => Promise<number>;
}

const ADMIN: Actor = { userId: 'root', isAdmin: true, source: 'http' };
const DAY = 86_400_000;

/** @param now in milliseconds since the epoch */
export function listQueries(database: DocumentDatabase, now: number): readonly ListQuery[] {
  const views = new DocumentRunViews(database);
  const ownerOf = (executionId: string): Promise<string | undefined> => views.ownerOf(executionId);
  const runs = bindOperations(RUN_LIST_OPERATIONS, {
    runList: new RunList({
      list: new DocumentRunList(database),
      queries: new RunQueries({
        views,
        texts: { deltas: () => Promise.resolve([]) },
        stats: { counts: () => Promise.resolve([]) },
        tools: { tools: [] },
      }),
      removeEnded: () => Promise.resolve(false),
      ownerOf,
    }),
  });
  const inbox = bindOperations(INBOX_OPERATIONS, {
    inbox: new Inbox({ inbox: new DocumentInbox(database), ownerOf }),
  });
  const usage = bindOperations(USAGE_OPERATIONS, {
    usage: new DocumentUsageReports(database.collection(REQUESTS), database.collection(TOOL_CALLS)),
  });
  const requests = bindOperations(REQUEST_OPERATIONS, {
    requestLog: { requests: new DocumentRequestList(database), logsBodies: false },
  });
  const named =
    <Argument>(title: string, run: (argument: Argument) => Promise<number>) =>
    (argument: Argument): ListQuery => ({ name: `${title} ${JSON.stringify(argument)}`, run: () => run(argument) });

  const list = named('list', async (argument: object) => (await runs['ai.runs.list'](ADMIN, argument)).total);
  const summary = named('summary', async (argument: object) => (await runs['ai.runs.summary'](ADMIN, argument)).total);
  const waiting = named('inbox', async (argument: object) => {
    const { entries, counts } = await inbox['ai.inbox.list'](ADMIN, argument);
    return 'search' in argument || 'kind' in argument ? entries.length : counts.total;
  });
  const report = named(
    'usage',
    async (argument: object) => (await usage['ai.usage.report'](ADMIN, argument)).all.total.requests,
  );
  const log = named(
    'requests',
    async (argument: object) => (await requests['ai.requests.list'](ADMIN, argument)).total,
  );
  const month = { from: now - 30 * DAY, to: now, interval: 'day' };
  return [
    ...FILTERS.map(list),
    ...SORTS.map(list),
    ...SEARCHES.map((search) => list({ search })),
    ...[{}, { state: 'failed' }, { model: 'gpt-5.4-mini' }, { from: now - 7 * DAY }, ...FOUND].map(summary),
    ...[{}, { kind: 'external' }, { kind: 'failed' }, { order: 'desc' }].map(waiting),
    ...['subject', 'refund order', 'zanzibar'].map((search) => waiting({ search })),
    ...[{}, ...['model', 'provider', 'user', 'tool'].map((groupBy) => ({ groupBy }))].map((group) =>
      report({ ...month, ...group }),
    ),
    report({ from: now - DAY, to: now, interval: 'hour' }),
    report({ ...month, userId: 'ada', groupBy: 'model' }),
    ...[{}, { state: 'failed' }, { source: 'run' }, { model: 'grok-4' }, { userId: 'ada' }, { minCost: 0.01 }].map(log),
    ...[{ sort: 'cost' }, { sort: 'tokens' }, ...SEARCHES.map((search) => ({ search }))].map(log),
  ];
}

const FILTERS: readonly object[] = [
  {},
  { state: 'failed' },
  { state: ['waiting', 'cancelled'] },
  { waiting: true },
  { providerId: 'openai' },
  { model: 'gpt-5.4-mini' },
  { model: 'no-such-model' },
  { userId: 'ada' },
  { userId: 'ada', state: 'failed' },
  { tool: 'get_weather' },
  { tag: 'urgent' },
  { tag: 'unheard-of' },
  { rating: 'up' },
  { conversationId: 'conversation-17' },
  { minCost: 0.01 },
  { maxCost: 0.001 },
  { minDuration: 10_000 },
  { from: Date.UTC(2020, 0), maxDuration: 5 },
];
const SORTS: readonly object[] = [
  { order: 'asc' },
  { sort: 'cost' },
  { sort: 'duration', order: 'asc' },
  { sort: 'tokens' },
  { sort: 'cost', state: 'failed' },
  { sort: 'tokens', model: 'grok-4' },
];
const SEARCHES = ['refund', 'refund order 17', 'seed-77', 'mini', '李雷', 'zanzibar', 'zanzibar invoice', 'q'] as const;
const FOUND: readonly object[] = [
  { search: 'refund' },
  { search: 'zanzibar' },
  { search: 'refund', state: 'failed', userId: 'ada' },
];
