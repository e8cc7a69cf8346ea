/** Adds up rows of aggregations into a usage report. */
import { valueOf } from '../../ai/domain/entities/latencyBuckets';
import type { AggregateRow } from '../../../database/DocumentCollection';
import type { Percentiles, UsageFigures, UsageReport, UsageSeries } from '../domain/UsageReports';

export interface UsageTallyOptions {
  /** The start of each interval, in milliseconds since the epoch. */
  readonly intervals: readonly number[];
  /** False for tools, which have neither tokens nor a cost. */
  readonly hasTokens: boolean;
}

const FAILED: readonly unknown[] = ['failed', 'timeout'];
const TOKENS = ['input', 'cached', 'cacheWrite', 'output', 'reasoning'] as const;

interface Sums {
  requests: number;
  errors: number;
  readonly tokens: Record<(typeof TOKENS)[number], number>;
  cost: number;
  unpriced: number;
  /** Bucket → requests. */
  readonly duration: Map<number, number>;
  readonly timeToFirstToken: Map<number, number>;
}

interface Series {
  readonly total: Sums;
  readonly values: readonly Sums[];
}

export class UsageTally {
  private readonly intervals: readonly number[];
  private readonly hasTokens: boolean;
  private readonly positions: ReadonlyMap<unknown, number>;
  private readonly all: Series;
  private readonly others: Series;
  private readonly groups = new Map<string | null, Series>();
  private readonly reasons = new Map<string, number>();

  constructor({ intervals, hasTokens }: UsageTallyOptions) {
    this.intervals = intervals;
    this.hasTokens = hasTokens;
    this.positions = new Map(intervals.map((start, at) => [start, at]));
    this.all = this.createSeries();
    this.others = this.createSeries();
  }

  /** @param group to which the row also belongs */
  add(
    row: AggregateRow,
    kind: 'figures' | 'duration' | 'timeToFirstToken',
    group?: { readonly name: string | null } | 'others',
  ): void {
    if (kind === 'figures' && typeof row.key['unpriced'] === 'string') {
      const reason = row.key['unpriced'];
      this.reasons.set(reason, (this.reasons.get(reason) ?? 0) + row.count);
    }
    const series = [this.all, ...(group === undefined ? [] : [group === 'others' ? this.others : this.groupOf(group)])];
    const at = this.positions.get(row.key['at']) ?? -1;
    for (const { total, values } of series)
      for (const sums of [total, values[at]]) {
        if (sums === undefined) continue;
        if (kind === 'figures') addFigures(sums, row);
        else addBucket(sums[kind], row);
      }
  }

  /** @param names of the groups, in their order */
  report(names: readonly (string | null)[], otherGroups: number): UsageReport {
    return {
      intervals: this.intervals,
      all: this.toSeries(this.all),
      groups: names.map((name) => ({ name, ...this.toSeries(this.groupOf({ name })) })),
      ...(otherGroups > 0 ? { others: { groups: otherGroups, ...this.toSeries(this.others) } } : {}),
      unpriced: [...this.reasons]
        .map(([reason, requests]) => ({ reason, requests }))
        .sort((left, right) => right.requests - left.requests),
    };
  }

  private groupOf({ name }: { readonly name: string | null }): Series {
    const series = this.groups.get(name) ?? this.createSeries();
    this.groups.set(name, series);
    return series;
  }

  private createSeries(): Series {
    return { total: createSums(), values: this.intervals.map(createSums) };
  }

  private toSeries({ total, values }: Series): UsageSeries {
    return { total: this.toFigures(total), values: values.map((sums) => this.toFigures(sums)) };
  }

  private toFigures({ requests, errors, tokens, cost, unpriced, duration, timeToFirstToken }: Sums): UsageFigures {
    return {
      requests,
      errors,
      ...(this.hasTokens ? { tokens, cost, unpriced } : {}),
      ...(duration.size === 0 ? {} : { duration: percentilesOf(duration) }),
      ...(timeToFirstToken.size === 0 ? {} : { timeToFirstToken: percentilesOf(timeToFirstToken) }),
    };
  }
}

function createSums(): Sums {
  return {
    requests: 0,
    errors: 0,
    tokens: { input: 0, cached: 0, cacheWrite: 0, output: 0, reasoning: 0 },
    cost: 0,
    unpriced: 0,
    duration: new Map(),
    timeToFirstToken: new Map(),
  };
}

function addFigures(sums: Sums, { key, count, sum }: AggregateRow): void {
  sums.requests += count;
  if (FAILED.includes(key['state'])) sums.errors += count;
  if (typeof key['unpriced'] === 'string') sums.unpriced += count;
  for (const name of TOKENS) sums.tokens[name] += sum[name]?.total ?? 0;
  sums.cost += sum['cost']?.total ?? 0;
}

function addBucket(counts: Map<number, number>, { key, count }: AggregateRow): void {
  const bucket = Number(key['bucket']);
  counts.set(bucket, (counts.get(bucket) ?? 0) + count);
}

function percentilesOf(counts: ReadonlyMap<number, number>): Percentiles {
  const sorted = [...counts].sort(([left], [right]) => left - right);
  const total = sorted.reduce((sum, [, count]) => sum + count, 0);
  return { p50: percentile(sorted, total * 0.5), p95: percentile(sorted, total * 0.95) };
}

/** The value that so many of the counted ones do not exceed. */
function percentile(sorted: readonly (readonly [bucket: number, count: number])[], rank: number): number {
  let seen = 0;
  for (const [bucket, count] of sorted) {
    seen += count;
    if (seen >= rank) return Math.round(valueOf(bucket));
  }
  return 0;
}
