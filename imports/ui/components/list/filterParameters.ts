/** Reads filters and order of a list from the parameters of the address. What is invalid is ignored. */
import { formatDateTime, formatDuration, formatMoney } from '../../format/format';
import type { SortOrder } from './SortButton';

/** Bounds. Costs are US dollars, durations seconds, times milliseconds since the epoch. */
export type BoundName = 'minCost' | 'maxCost' | 'minDuration' | 'maxDuration' | 'from' | 'to';

export function readText(query: URLSearchParams, name: string): string {
  return query.get(name)?.trim() ?? '';
}

/** The texts that are not blank. */
export function readTexts<N extends string>(
  query: URLSearchParams,
  names: readonly N[],
): { readonly [K in N]?: string } {
  const texts = names.map((name) => [name, readText(query, name)] as const).filter(([, text]) => text !== '');
  return Object.fromEntries(texts) as { readonly [K in N]?: string };
}

/** The bounds that are set, with durations in milliseconds. */
export function readBounds<N extends BoundName>(
  query: URLSearchParams,
  names: readonly N[],
): { readonly [K in N]?: number } {
  const bounds = names.flatMap((name) => {
    const text = readText(query, name);
    const value = Number(text);
    if (text === '' || !Number.isFinite(value) || value < 0) return [];
    return [[name, name.endsWith('Duration') ? Math.round(value * 1_000) : value] as const];
  });
  return Object.fromEntries(bounds) as { readonly [K in N]?: number };
}

/** @param sorts the first is the default */
export function readOrder<S extends string>(
  query: URLSearchParams,
  sorts: readonly [S, ...S[]],
): { readonly sort: S; readonly order: SortOrder } {
  return {
    sort: sorts.find((sort) => sort === query.get('sort')) ?? sorts[0],
    order: query.get('order') === 'asc' ? 'asc' : 'desc',
  };
}

/** @param value as `readBounds` returns it */
export function formatBound(name: BoundName, value: number): string {
  if (name.endsWith('Cost')) return formatMoney(value);
  return name.endsWith('Duration') ? formatDuration(value) : formatDateTime(value);
}
