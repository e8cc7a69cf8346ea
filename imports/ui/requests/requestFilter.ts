/** The filter of the list of requests: the parameters of the address as the argument of `ai.requests.list`. */
import { omitUndefined } from '../../business/ai/domain/util/omitUndefined';
import type { RequestSort } from '../../business/requestLog/domain/RequestReader';
import { REQUEST_SOURCES, REQUEST_STATES } from '../../business/ai/domain/types/RequestRecords';
import type { ActiveFilter } from '../components/list/ActiveFilters';
import { formatBound, readBounds, readOrder, readText, readTexts } from '../components/list/filterParameters';
import type { SortOrder } from '../components/list/SortButton';
import type { ArgumentOf } from '../data/operations';
import { API_LABELS, REQUEST_STATE_STYLES, SOURCE_LABELS } from './requestLabels';

/** Parameters of the address. Costs are US dollars, durations seconds. */
const TEXTS = ['api', 'providerId', 'model', 'userId', 'tokenId', 'executionId'] as const;
const BOUNDS = ['minCost', 'minDuration', 'from', 'to'] as const;
const SORTS = ['at', 'cost', 'duration', 'tokens'] as const satisfies readonly RequestSort[];

export interface RequestOrder {
  readonly sort: RequestSort;
  readonly order: SortOrder;
}

/** What is invalid in an address is ignored. */
export function readRequestFilter(query: URLSearchParams): ArgumentOf<'ai.requests.list'> {
  const state = REQUEST_STATES.find((each) => each === readText(query, 'state'));
  const source = REQUEST_SOURCES.find((each) => each === readText(query, 'source'));
  return omitUndefined({ state, source, ...readTexts(query, ['search', ...TEXTS]), ...readBounds(query, BOUNDS) });
}

export function readRequestOrder(query: URLSearchParams): RequestOrder {
  return readOrder(query, SORTS);
}

/** The filters that are in effect, by the parameter that sets them. */
export function describeRequestFilter(query: URLSearchParams): readonly ActiveFilter[] {
  const { search, state, source, ...filter } = readRequestFilter(query);
  return [
    ...(search === undefined ? [] : [{ name: 'search', label: `Text: ${search}` }]),
    ...(typeof state === 'string' ? [{ name: 'state', label: REQUEST_STATE_STYLES[state].label }] : []),
    ...(source === undefined ? [] : [{ name: 'source', label: SOURCE_LABELS[source] }]),
    ...TEXTS.flatMap((name) => {
      const value = filter[name];
      if (value === undefined) return [];
      return [{ name, label: `${LABELS[name]}: ${name === 'api' ? (API_LABELS[value] ?? value) : value}` }];
    }),
    ...BOUNDS.flatMap((name) => {
      const value = filter[name];
      return value === undefined ? [] : [{ name, label: `${LABELS[name]} ${formatBound(name, value)}` }];
    }),
  ];
}

const LABELS: Readonly<Record<(typeof TEXTS)[number] | (typeof BOUNDS)[number], string>> = {
  api: 'API',
  providerId: 'Provider',
  model: 'Model',
  userId: 'User',
  tokenId: 'API token',
  executionId: 'Run',
  minCost: 'Cost from',
  minDuration: 'Duration from',
  from: 'Started from',
  to: 'Started up to',
};
