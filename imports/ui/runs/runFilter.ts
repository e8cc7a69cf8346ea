/** The filter of the list of runs: the parameters of the address as the argument of `ai.runs.list`, and in words. */
import type { RunState } from '../../business/ai/domain/entities/Run';
import type { RunSort } from '../../business/ai/domain/interfaces/RunViewReader';
import type { SortOrder } from '../components/list/SortButton';
import type { ActiveFilter } from '../components/list/ActiveFilters';
import { formatBound, readBounds, readOrder, readText, readTexts } from '../components/list/filterParameters';
import type { ArgumentOf } from '../data/operations';

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
  { readonly label: string; readonly filter: ArgumentOf<'ai.runs.summary'> }
>;

export const RATINGS = { up: 'Thumbs up', down: 'Thumbs down' } as const;

/** Parameters of the address, in the order in which they are shown. Costs are US dollars, durations seconds. */
const TEXTS = ['providerId', 'model', 'userId', 'tool', 'tag', 'conversationId', 'parentExecutionId'] as const;
const BOUNDS = ['minCost', 'maxCost', 'minDuration', 'maxDuration', 'from', 'to'] as const;
const SORTS = ['createdAt', 'cost', 'duration', 'tokens'] as const satisfies readonly RunSort[];

export interface RunOrder {
  readonly sort: RunSort;
  readonly order: SortOrder;
}

/** What is invalid in an address is ignored. */
export function readRunFilter(query: URLSearchParams): ArgumentOf<'ai.runs.summary'> {
  const state = readText(query, 'state');
  const rating = readText(query, 'rating');
  return {
    ...(isKey(STATE_FILTERS, state) ? STATE_FILTERS[state].filter : {}),
    ...(isKey(RATINGS, rating) ? { rating } : {}),
    ...readTexts(query, ['search', ...TEXTS]),
    ...readBounds(query, BOUNDS),
  };
}

export function readRunOrder(query: URLSearchParams): RunOrder {
  return readOrder(query, SORTS);
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
    ...BOUNDS.flatMap((name) => {
      const value = filter[name];
      return value === undefined ? [] : [{ name, label: `${LABELS[name]} ${formatBound(name, value)}` }];
    }),
  ];
}

const LABELS: Readonly<Record<(typeof TEXTS)[number] | (typeof BOUNDS)[number], string>> = {
  providerId: 'Provider',
  model: 'Model',
  userId: 'User',
  tool: 'Tool',
  tag: 'Tag',
  conversationId: 'Conversation',
  parentExecutionId: 'Started by',
  minCost: 'Cost from',
  maxCost: 'Cost up to',
  minDuration: 'Duration from',
  maxDuration: 'Duration up to',
  from: 'Created from',
  to: 'Created up to',
};

function isKey<T extends object>(table: T, key: string): key is keyof T & string {
  return Object.hasOwn(table, key);
}
