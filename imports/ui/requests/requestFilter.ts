/** The filter of the list of requests: the parameters of the address as the argument of `ai.requests.list`. */
import type { RequestSort } from '../../business/ai/domain/interfaces/RequestReader';
import { REQUEST_SOURCES, REQUEST_STATES } from '../../business/ai/domain/types/RequestRecords';
import type { ActiveFilter } from '../components/list/ActiveFilters';
import type { SortOrder } from '../components/list/SortButton';
import type { RequestListArgument } from '../data/operations';
import { formatDateTime, formatDuration, formatMoney } from '../format/format';
import { API_LABELS, SOURCE_LABELS } from './requestLabels';
import { REQUEST_STATE_STYLES } from './requestLabels';

/** Parameters of the address. Costs are US dollars, durations seconds. */
const TEXTS = ['api', 'providerId', 'model', 'userId', 'tokenId', 'executionId'] as const;
const NUMBERS = ['minCost', 'minDuration', 'from', 'to'] as const;
const SORTS: readonly RequestSort[] = ['at', 'cost', 'duration', 'tokens'];

export interface RequestOrder {
  readonly sort: RequestSort;
  readonly order: SortOrder;
}

/** What is invalid in an address is ignored. */
export function readRequestFilter(query: URLSearchParams): RequestListArgument {
  const text = (name: string): string => query.get(name)?.trim() ?? '';
  const search = text('search');
  const state = REQUEST_STATES.find((each) => each === text('state'));
  const source = REQUEST_SOURCES.find((each) => each === text('source'));
  const texts = TEXTS.flatMap((name) => (text(name) === '' ? [] : [[name, text(name)]]));
  const numbers = NUMBERS.flatMap((name) => {
    const value = Number(text(name));
    if (text(name) === '' || !Number.isFinite(value) || value < 0) return [];
    return [[name, name === 'minDuration' ? Math.round(value * 1_000) : value]];
  });
  return {
    ...(search === '' ? {} : { search }),
    ...(state === undefined ? {} : { state }),
    ...(source === undefined ? {} : { source }),
    ...(Object.fromEntries([...texts, ...numbers]) as RequestListArgument),
  };
}

export function readRequestOrder(query: URLSearchParams): RequestOrder {
  return {
    sort: SORTS.find((sort) => sort === query.get('sort')) ?? 'at',
    order: query.get('order') === 'asc' ? 'asc' : 'desc',
  };
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
    ...NUMBERS.flatMap((name) => {
      const value = filter[name];
      return value === undefined ? [] : [{ name, label: `${LABELS[name]} ${FORMATS[name](value)}` }];
    }),
  ];
}

const FORMATS: Readonly<Record<(typeof NUMBERS)[number], (value: number) => string>> = {
  minCost: formatMoney,
  minDuration: formatDuration,
  from: formatDateTime,
  to: formatDateTime,
};

const LABELS: Readonly<Record<(typeof TEXTS)[number] | (typeof NUMBERS)[number], string>> = {
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
