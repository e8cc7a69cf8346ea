/** Reports over time of what models and tools were used for, by whom, and at what cost. */

export const USAGE_INTERVALS = ['hour', 'day'] as const;
export type UsageInterval = (typeof USAGE_INTERVALS)[number];

export const USAGE_GROUPS = ['model', 'provider', 'user', 'token', 'team', 'tool'] as const;
export type UsageGroup = (typeof USAGE_GROUPS)[number];

export interface UsageFilter {
  readonly userId?: string | undefined;
  readonly providerId?: string | undefined;
  readonly model?: string | undefined;
  /** The id of an API token. */
  readonly tokenId?: string | undefined;
  /** The team at the time of the call. */
  readonly team?: string | undefined;
  /** Only for reports on tools. */
  readonly tool?: string | undefined;
}

export interface UsageQuery extends UsageFilter {
  /** Milliseconds since the epoch. */
  readonly from: number;
  /** Milliseconds since the epoch; not part of the report itself. */
  readonly to: number;
  readonly interval: UsageInterval;
  /** Minutes by which the local time is ahead of UTC: days start at its midnight. */
  readonly utcOffset: number;
  /** `tool` reports on tool calls instead of model calls. */
  readonly groupBy?: UsageGroup | undefined;
}

/** Milliseconds, to within 2.5 %. */
export interface Percentiles {
  readonly p50: number;
  readonly p95: number;
}

/** Model calls, or tool calls. */
export interface UsageFigures {
  readonly requests: number;
  /** Requests that failed. */
  readonly errors: number;
  /** Absent for tools, as is everything that only models have. */
  readonly tokens?: {
    /** Includes cached tokens and those written to the cache. */
    readonly input: number;
    readonly cached: number;
    readonly cacheWrite: number;
    /** Includes reasoning. */
    readonly output: number;
    readonly reasoning: number;
  };
  /** US dollars: the sum of the costs that are known. */
  readonly cost?: number;
  /** Requests whose cost, or a part of it, is unknown. */
  readonly unpriced?: number;
  /** Absent if no duration is known. */
  readonly duration?: Percentiles;
  readonly timeToFirstToken?: Percentiles;
}

export interface UsageSeries {
  readonly total: UsageFigures;
  /** By interval, in the order of the report's `intervals`. */
  readonly values: readonly UsageFigures[];
}

export interface UsageGroupSeries extends UsageSeries {
  /** Null for requests that have no such name: a call that failed before it had a provider, or without a token. */
  readonly name: string | null;
  /** The name of a token, whose id is `name`. */
  readonly label?: string;
}

export interface UsageReport {
  /** The start of each interval, in milliseconds since the epoch. Intervals without requests are there, too. */
  readonly intervals: readonly number[];
  readonly all: UsageSeries;
  /** The groups with the most requests, in descending order. */
  readonly groups: readonly UsageGroupSeries[];
  /** All further groups together. */
  readonly others?: UsageSeries & { readonly groups: number };
  /** Why costs are unknown, the most frequent reason first. */
  readonly unpriced: readonly { readonly reason: string; readonly requests: number }[];
}
