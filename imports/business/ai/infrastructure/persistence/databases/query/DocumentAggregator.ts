/** Aggregations over rows in memory. */
import type { AggregateRow, Scalar, TimeInterval } from '../../../../domain/interfaces/DocumentCollection';
import { valueAtPath } from './fieldPaths';
import type { CheckedAggregation } from './parseAggregation';
import { compareScalars } from './scalars';

interface Group {
  readonly key: readonly Scalar[];
  count: number;
  readonly sums: { total: number; count: number }[];
  readonly least: Scalar[];
  readonly greatest: Scalar[];
}

/** Reads a field of a row. */
export type FieldReader<Row> = (row: Row) => unknown;

/** @param element of the array that is unwound, or `WHOLE` for a row without one */
type Reader<Row> = (row: Row, element: unknown) => unknown;

interface KeyReader<Row> {
  /** Equal for rows with equal keys. */
  readonly read: (row: Row, element: unknown) => Scalar;
  /** @param value that was read */
  readonly keyOf: (value: Scalar) => Scalar;
}

/** Shared by all groups, of which there may be many. */
const NONE: never[] = [];
const NO_FIELDS = {};

const WHOLE = Symbol('a row whose field is no array');

/** A level of a tree with a level per part of the key. The children of the last level are groups. */
class Level<Child> {
  private readonly children = new Map<Scalar, Child>();
  /** By time, since two dates are never the same key of a map. */
  private readonly dates = new Map<number, Child>();
  /** Rows often follow others with the same key. */
  private lastKey: Scalar | undefined = undefined;
  private lastChild: Child | undefined = undefined;

  get(key: Scalar): Child | undefined {
    if (this.lastKey === key) return this.lastChild;
    this.lastKey = key;
    this.lastChild = key instanceof Date ? this.dates.get(key.getTime()) : this.children.get(key);
    return this.lastChild;
  }

  add(key: Scalar, child: Child): Child {
    if (key instanceof Date) this.dates.set(key.getTime(), child);
    else this.children.set(key, child);
    this.lastKey = key;
    this.lastChild = child;
    return child;
  }
}

type Tree = Level<Tree | Group>;

/** Takes rows one at a time, and returns the groups of those that it has taken. */
export class DocumentAggregator<Row> {
  private readonly aggregation: CheckedAggregation;
  private readonly unwound: FieldReader<Row> | undefined;
  private readonly keys: readonly KeyReader<Row>[];
  private readonly sums: readonly Reader<Row>[];
  private readonly least: readonly Reader<Row>[];
  private readonly greatest: readonly Reader<Row>[];
  private readonly groups: Group[] = [];
  private readonly root: Tree = new Level();

  /** @param fieldReader reads the value that a path leads to; undefined if there is none */
  constructor(aggregation: CheckedAggregation, fieldReader: (path: string) => FieldReader<Row>) {
    const { by, unwind, sum, min, max } = aggregation;
    this.aggregation = aggregation;
    this.unwound = unwind === undefined ? undefined : fieldReader(unwind);
    const readerOf = (path: string): Reader<Row> => {
      const read = fieldReader(path);
      if (unwind === undefined || (path !== unwind && !path.startsWith(`${unwind}.`))) return read;
      const inner = path === unwind ? [] : path.slice(unwind.length + 1).split('.');
      return (row, element) => (element === WHOLE ? read(row) : valueAtPath(element, inner));
    };
    this.keys = Object.values(by).map((key) =>
      typeof key === 'string' ? scalarKey(readerOf(key)) : intervalKey(key, readerOf(key.path)),
    );
    this.sums = Object.values(sum).map(readerOf);
    this.least = Object.values(min).map(readerOf);
    this.greatest = Object.values(max).map(readerOf);
  }

  /** With `unwind`, a row without elements counts once, without the field. */
  add(row: Row): void {
    const elements = this.unwound?.(row);
    if (!Array.isArray(elements)) this.addOne(row, WHOLE);
    else if (elements.length === 0) this.addOne(row, undefined);
    else for (const element of elements as readonly unknown[]) this.addOne(row, element);
  }

  rows(): readonly AggregateRow[] {
    const { by, sum, min, max, limit } = this.aggregation;
    const [keys, sums, least, greatest] = [by, sum, min, max].map((fields) => Object.keys(fields));
    const sorted = this.groups.toSorted((left, right) => right.count - left.count || compareKeys(left, right));
    return sorted.slice(0, limit).map((group) => ({
      key: named(keys ?? [], group.key),
      count: group.count,
      sum: named(sums ?? [], group.sums),
      min: named(least ?? [], group.least),
      max: named(greatest ?? [], group.greatest),
    }));
  }

  private addOne(row: Row, element: unknown): void {
    const group = this.groupOf(row, element);
    group.count += 1;
    // Without iterators, which would take most of the time here.
    for (let at = 0; at < this.sums.length; at += 1) {
      const value = this.sums[at]?.(row, element);
      const sum = group.sums[at];
      if (typeof value !== 'number' || sum === undefined) continue;
      sum.total += value;
      sum.count += 1;
    }
    this.least.forEach((read, at) => {
      group.least[at] = best(group.least[at] ?? null, asScalar(read(row, element)), -1);
    });
    this.greatest.forEach((read, at) => {
      group.greatest[at] = best(group.greatest[at] ?? null, asScalar(read(row, element)), 1);
    });
  }

  private groupOf(row: Row, element: unknown): Group {
    const last = this.keys.length - 1;
    if (last === -1) return this.groups[0] ?? this.createGroup([]);
    let level = this.root;
    for (let at = 0; at < last; at += 1) {
      const key = this.keys[at]?.read(row, element) ?? null;
      // Only the last level has groups.
      level = (level.get(key) ?? level.add(key, new Level<Tree | Group>())) as Tree;
    }
    const key = this.keys[last]?.read(row, element) ?? null;
    return (level.get(key) ??
      level.add(key, this.createGroup(this.keys.map(({ read, keyOf }) => keyOf(read(row, element)))))) as Group;
  }

  private createGroup(key: readonly Scalar[]): Group {
    const group: Group = {
      key,
      count: 0,
      sums: this.sums.length === 0 ? NONE : this.sums.map(() => ({ total: 0, count: 0 })),
      least: this.least.length === 0 ? NONE : this.least.map(() => null),
      greatest: this.greatest.length === 0 ? NONE : this.greatest.map(() => null),
    };
    this.groups.push(group);
    return group;
  }
}

function compareKeys({ key: left }: Group, { key: right }: Group): number {
  for (let at = 0; at < left.length; at += 1) {
    const order = compareScalars(left[at], right[at]);
    if (order !== 0) return order;
  }
  return 0;
}

/** There may be many groups, so this avoids lists of entries. */
function named<Value>(names: readonly string[], values: readonly Value[]): Readonly<Record<string, Value>> {
  if (names.length === 0) return NO_FIELDS;
  const record: Record<string, Value> = {};
  for (let at = 0; at < names.length; at += 1) {
    const name = names[at];
    if (name !== undefined && at in values) record[name] = values[at] as Value;
  }
  return record;
}

/** Null never wins. */
function best(value: Scalar, other: Scalar, sign: 1 | -1): Scalar {
  if (other === null || value === null) return value ?? other;
  return compareScalars(other, value) * sign > 0 ? other : value;
}

function scalarKey<Row>(read: Reader<Row>): KeyReader<Row> {
  return { read: (row, element) => asScalar(read(row, element)), keyOf: (value) => value };
}

/** Reads the number of the interval: unlike its start, it is a small integer, which maps find faster. */
function intervalKey<Row>({ width, offset = 0 }: TimeInterval, read: Reader<Row>): KeyReader<Row> {
  return {
    read: (row, element) => {
      const value = read(row, element);
      const milliseconds = value instanceof Date ? value.getTime() : value;
      return typeof milliseconds === 'number' ? Math.floor((milliseconds + offset) / width) : null;
    },
    keyOf: (interval) => (typeof interval === 'number' ? interval * width - offset : null),
  };
}

function asScalar(value: unknown): Scalar {
  if (value instanceof Date) return value;
  return typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean' ? value : null;
}
