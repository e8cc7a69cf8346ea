/** The filter of the list of runs: the parameters of the address as the argument of `ai.runs.list`, and in words. */
import type { RunState } from '../../business/ai/domain/entities/Run';
import type { RunSort } from '../../business/ai/domain/interfaces/RunViewReader';
import type { SortOrder } from '../components/list/SortButton';
import type { ActiveFilter } from '../components/list/ActiveFilters';
import type { RunListArgument } from '../data/operations';
import { formatDateTime, formatDuration, formatMoney } from '../format/format';

/** The filter by state. `active` covers every state that is not final, `waits` runs that wait for someone. */
export const STATE_FILTERS = {
  active: { label: 'Active', filter: { state: ['queued', 'running', 'waiting'] } },
  waits: { label: 'Waits for someone', filter: { waiting: true } },
  queued: { label: 'Queued', filter: { state: 'queued' } },
  running: { label: 'Running', filter: { state: 'running' } },
  waiting: { label: 'Waiting', filter: { state: 'waiting' } },
  completed: { label: 'Completed', filter: { state: 'completed' } },
  failed: { label: 'Failed', filter: { state: 'failed' } },
  cancelled: { label: 'Cancelled', filter: { state: 'cancelled' } },
} as const satisfies Record<
  RunState | 'active' | 'waits',
  { readonly label: string; readonly filter: RunListArgument }
>;

export const RATINGS = { up: 'Thumbs up', down: 'Thumbs down' } as const;

/** Parameters of the address, in the order in which they are shown. Costs are US dollars, durations seconds. */
const TEXTS = ['providerId', 'model', 'userId', 'tool', 'tag', 'conversationId'] as const;
const NUMBERS = ['minCost', 'maxCost', 'minDuration', 'maxDuration', 'from', 'to'] as const;
const SORTS: readonly RunSort[] = ['createdAt', 'cost', 'duration', 'tokens'];

export interface RunOrder {
  readonly sort: RunSort;
  readonly order: SortOrder;
}

/** What is invalid in an address is ignored. */
export function readRunFilter(query: URLSearchParams): RunListArgument {
  const text = (name: string): string => query.get(name)?.trim() ?? '';
  const search = text('search');
  const state = text('state');
  const rating = text('rating');
  const numbers = NUMBERS.flatMap((name) => {
    const value = Number(text(name));
    if (text(name) === '' || !Number.isFinite(value) || value < 0) return [];
    return [[name, name.endsWith('Duration') ? Math.round(value * 1_000) : value]];
  });
  return {
    ...(search === '' ? {} : { search }),
    ...(isKey(STATE_FILTERS, state) ? STATE_FILTERS[state].filter : {}),
    ...(isKey(RATINGS, rating) ? { rating } : {}),
    ...(Object.fromEntries(
      TEXTS.flatMap((name) => (text(name) === '' ? [] : [[name, text(name)]])),
    ) as RunListArgument),
    ...(Object.fromEntries(numbers) as RunListArgument),
  };
}

export function readRunOrder(query: URLSearchParams): RunOrder {
  return {
    sort: SORTS.find((sort) => sort === query.get('sort')) ?? 'createdAt',
    order: query.get('order') === 'asc' ? 'asc' : 'desc',
  };
}

/** The filters that are in effect, by the parameter that sets them. */
export function describeRunFilter(query: URLSearchParams): readonly ActiveFilter[] {
  const filter = readRunFilter(query);
  const state = query.get('state') ?? '';
  return [
    ...(filter.search === undefined ? [] : [{ name: 'search', label: `Text: ${filter.search}` }]),
    ...(isKey(STATE_FILTERS, state) ? [{ name: 'state', label: STATE_FILTERS[state].label }] : []),
    ...TEXTS.flatMap((name) =>
      filter[name] === undefined ? [] : [{ name, label: `${LABELS[name]}: ${filter[name]}` }],
    ),
    ...(filter.rating === undefined ? [] : [{ name: 'rating', label: RATINGS[filter.rating] }]),
    ...NUMBERS.flatMap((name) => {
      const value = filter[name];
      return value === undefined ? [] : [{ name, label: `${LABELS[name]} ${formatBound(name, value)}` }];
    }),
  ];
}

const LABELS: Readonly<Record<(typeof TEXTS)[number] | (typeof NUMBERS)[number], string>> = {
  providerId: 'Provider',
  model: 'Model',
  userId: 'User',
  tool: 'Tool',
  tag: 'Tag',
  conversationId: 'Conversation',
  minCost: 'Cost from',
  maxCost: 'Cost up to',
  minDuration: 'Duration from',
  maxDuration: 'Duration up to',
  from: 'Created from',
  to: 'Created up to',
};

function formatBound(name: (typeof NUMBERS)[number], value: number): string {
  if (name.endsWith('Cost')) return formatMoney(value);
  return name.endsWith('Duration') ? formatDuration(value) : formatDateTime(value);
}

function isKey<T extends object>(table: T, key: string): key is keyof T & string {
  return Object.hasOwn(table, key);
}
