/** Aggregations over rows in memory, a field at a time: short loops over many rows take a fraction of one long loop. */
import type { AggregateRow, Scalar, TimeInterval } from '../DocumentCollection';
import { valueAtPath } from './fieldPaths';
import type { CheckedAggregation } from './parseAggregation';
import { compareScalars } from './scalars';

/** Writes a field of each row into a list; undefined for a row without it. */
export type FieldReader = (rows: readonly number[], into: unknown[]) => void;

/** The rows of a batch. With `unwind`, a row is repeated for each element of its array. */
interface Batch {
  readonly rows: readonly number[];
  /** The element, or `WHOLE` for a row without an array. Undefined without `unwind`. */
  readonly elements?: readonly unknown[];
}

type BatchReader = (batch: Batch, into: unknown[]) => void;

interface Key {
  readonly read: BatchReader;
  /** Converts the values that were read. Equal for rows with equal keys. */
  readonly codeOf: (value: unknown) => Scalar;
  readonly keyOf: (code: Scalar) => Scalar;
  /** By the number of the group that the keys before it form. */
  readonly groups: KeyGroups[];
}

interface Sum {
  readonly read: BatchReader;
  /** By group. */
  readonly totals: number[];
  readonly counts: number[];
}

interface Extreme {
  readonly read: BatchReader;
  readonly sign: 1 | -1;
  /** By group. */
  readonly values: Scalar[];
}

const WHOLE = Symbol('a row whose field is no array');
/** Shared by all results, of which there may be many. */
const NO_FIELDS = {};

/** The groups that a key divides another group into. */
class KeyGroups {
  private readonly groups = new Map<Scalar, number>();
  /** By time, since two dates are never the same key of a map. */
  private readonly dates = new Map<number, number>();

  get(code: Scalar): number | undefined {
    return code instanceof Date ? this.dates.get(code.getTime()) : this.groups.get(code);
  }

  set(code: Scalar, group: number): void {
    if (code instanceof Date) this.dates.set(code.getTime(), group);
    else this.groups.set(code, group);
  }
}

/** Takes rows, and returns the groups of those that it has taken. */
export class DocumentAggregator {
  private readonly aggregation: CheckedAggregation;
  private readonly unwound: FieldReader | undefined;
  private readonly keys: readonly Key[];
  private readonly sums: readonly Sum[];
  private readonly least: readonly Extreme[];
  private readonly greatest: readonly Extreme[];
  /** By group: how many rows, and their key. */
  private readonly counts: number[] = [];
  private readonly groupKeys: (readonly Scalar[])[] = [];

  constructor(aggregation: CheckedAggregation, fieldReader: (path: string) => FieldReader) {
    const { by, unwind, sum, min, max } = aggregation;
    const readerOf = (path: string): BatchReader => batchReader(path, fieldReader(path), unwind);
    const extreme = (sign: 1 | -1) => (path: string) => ({ read: readerOf(path), sign, values: [] });
    this.aggregation = aggregation;
    this.unwound = unwind === undefined ? undefined : fieldReader(unwind);
    this.keys = Object.values(by).map((key) =>
      typeof key === 'string'
        ? { read: readerOf(key), codeOf: asScalar, keyOf: (value) => value, groups: [] }
        : { read: readerOf(key.path), ...interval(key), groups: [] },
    );
    this.sums = Object.values(sum).map((path) => ({ read: readerOf(path), totals: [], counts: [] }));
    this.least = Object.values(min).map(extreme(-1));
    this.greatest = Object.values(max).map(extreme(1));
  }

  /** With `unwind`, a row without elements counts once, without the field. */
  add(rows: readonly number[]): void {
    const batch = this.unwound === undefined ? { rows } : unwind(rows, this.unwound);
    const groups = this.groupsOf(batch);
    for (const group of groups) this.counts[group] = (this.counts[group] ?? 0) + 1;
    const values: unknown[] = [];
    for (const { read, totals, counts } of this.sums) {
      read(batch, values);
      for (let at = 0; at < groups.length; at += 1) {
        const value = values[at];
        if (typeof value !== 'number') continue;
        const group = groups[at] ?? 0;
        totals[group] = (totals[group] ?? 0) + value;
        counts[group] = (counts[group] ?? 0) + 1;
      }
    }
    for (const { read, sign, values: extremes } of [...this.least, ...this.greatest]) {
      read(batch, values);
      for (const [at, group] of groups.entries())
        extremes[group] = best(extremes[group] ?? null, asScalar(values[at]), sign);
    }
  }

  /** Takes all rows of a group, which a database has counted. */
  addCounted(key: readonly Scalar[], count: number): void {
    this.counts[this.addGroup(key)] = count;
  }

  rows(): readonly AggregateRow[] {
    const { by, sum, min, max, limit } = this.aggregation;
    const [keys = [], sums = [], least = [], greatest = []] = [by, sum, min, max].map((names) => Object.keys(names));
    const sorted = Array.from(this.counts.keys()).sort(
      (left, right) => (this.counts[right] ?? 0) - (this.counts[left] ?? 0) || this.compareKeys(left, right),
    );
    return sorted.slice(0, limit).map((group) => ({
      key: named(keys, (at) => this.groupKeys[group]?.[at] ?? null),
      count: this.counts[group] ?? 0,
      sum: named(sums, (at) => ({
        total: this.sums[at]?.totals[group] ?? 0,
        count: this.sums[at]?.counts[group] ?? 0,
      })),
      min: named(least, (at) => this.least[at]?.values[group] ?? null),
      max: named(greatest, (at) => this.greatest[at]?.values[group] ?? null),
    }));
  }

  /** The number of each row's group. */
  private groupsOf(batch: Batch): number[] {
    const groups = batch.rows.map(() => 0);
    if (this.keys.length === 0 && groups.length > 0 && this.counts.length === 0) this.addGroup([]);
    const codes = this.keys.map(() => [] as unknown[]);
    for (const [level, { read, codeOf, groups: divided }] of this.keys.entries()) {
      const values = codes[level] ?? [];
      read(batch, values);
      const isLast = level === this.keys.length - 1;
      const following = this.keys[level + 1]?.groups;
      for (let at = 0; at < groups.length; at += 1) {
        const code = codeOf(values[at]);
        values[at] = code;
        const outer = groups[at] ?? 0;
        const division = (divided[outer] ??= new KeyGroups());
        let group = division.get(code);
        if (group === undefined) {
          group = isLast ? this.addGroup(codes.map((list) => asScalar(list[at]))) : (following?.length ?? 0);
          if (!isLast) following?.push(new KeyGroups());
          division.set(code, group);
        }
        groups[at] = group;
      }
    }
    return groups;
  }

  private addGroup(codes: readonly Scalar[]): number {
    const group = this.counts.length;
    this.counts.push(0);
    this.groupKeys.push(this.keys.map(({ keyOf }, at) => keyOf(codes[at] ?? null)));
    for (const { totals, counts } of this.sums) {
      totals.push(0);
      counts.push(0);
    }
    return group;
  }

  private compareKeys(left: number, right: number): number {
    for (let at = 0; at < this.keys.length; at += 1) {
      const order = compareScalars(this.groupKeys[left]?.[at], this.groupKeys[right]?.[at]);
      if (order !== 0) return order;
    }
    return 0;
  }
}

function unwind(rows: readonly number[], read: FieldReader): Batch {
  const values: unknown[] = [];
  read(rows, values);
  const elements = rows.map((_, at): readonly unknown[] => {
    const value = values[at];
    if (!Array.isArray(value)) return [WHOLE];
    return value.length === 0 ? [undefined] : value;
  });
  return { rows: rows.flatMap((row, at) => elements[at]?.map(() => row) ?? []), elements: elements.flat() };
}

function batchReader(path: string, read: FieldReader, unwound: string | undefined): BatchReader {
  if (unwound === undefined || (path !== unwound && !path.startsWith(`${unwound}.`)))
    return ({ rows }, into) => read(rows, into);
  const inner = path === unwound ? [] : path.slice(unwound.length + 1).split('.');
  return ({ rows, elements = [] }, into) => {
    read(rows, into);
    for (const [at, element] of elements.entries()) if (element !== WHOLE) into[at] = valueAtPath(element, inner);
  };
}

/** The code is the number of the interval: unlike its start, it is a small integer, which maps find faster. */
function interval({ width, offset = 0 }: TimeInterval): Pick<Key, 'codeOf' | 'keyOf'> {
  return {
    codeOf: (value) => {
      const milliseconds = value instanceof Date ? value.getTime() : value;
      return typeof milliseconds === 'number' ? Math.floor((milliseconds + offset) / width) : null;
    },
    keyOf: (code) => (typeof code === 'number' ? code * width - offset : null),
  };
}

/** Builds the record without a list of entries, since there may be many groups. */
function named<Value>(names: readonly string[], valueAt: (at: number) => Value): Readonly<Record<string, Value>> {
  if (names.length === 0) return NO_FIELDS;
  const record: Record<string, Value> = {};
  for (let at = 0; at < names.length; at += 1) record[names[at] ?? ''] = valueAt(at);
  return record;
}

/** Null never wins. */
function best(value: Scalar, other: Scalar, sign: 1 | -1): Scalar {
  if (other === null || value === null) return value ?? other;
  return compareScalars(other, value) * sign > 0 ? other : value;
}

function asScalar(value: unknown): Scalar {
  if (value instanceof Date) return value;
  return typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean' ? value : null;
}
