/** Aggregations over documents in memory. */
import type { AggregateRow, Scalar, TimeInterval } from '../../../../domain/interfaces/DocumentCollection';
import { isRecord, valueAtPath } from './fieldPaths';
import type { CheckedAggregation } from './parseAggregation';
import { compareScalars } from './scalars';

interface Group {
  readonly key: readonly Scalar[];
  count: number;
  readonly sums: { total: number; count: number }[];
  readonly least: Scalar[];
  readonly greatest: Scalar[];
}

type Reader = (document: unknown) => unknown;

/** A tree with a level per part of the key. */
interface Node {
  group?: Group;
  readonly children: Map<Scalar, Node>;
  /** By time, since two dates are never the same key of a map. */
  readonly dates: Map<number, Node>;
}

/** Takes documents one at a time, and returns the rows of those that it has taken. */
export class DocumentAggregator {
  private readonly aggregation: CheckedAggregation;
  private readonly unwound: readonly string[] | undefined;
  private readonly keys: readonly ((document: unknown) => Scalar)[];
  private readonly sums: readonly Reader[];
  private readonly least: readonly Reader[];
  private readonly greatest: readonly Reader[];
  private readonly groups: Group[] = [];
  private readonly root = createNode();

  constructor(aggregation: CheckedAggregation) {
    this.aggregation = aggregation;
    this.unwound = aggregation.unwind?.split('.');
    this.keys = Object.values(aggregation.by).map((key) => {
      const read = typeof key === 'string' ? readerOf(key) : interval(key);
      return (document) => asScalar(read(document));
    });
    this.sums = Object.values(aggregation.sum).map(readerOf);
    this.least = Object.values(aggregation.min).map(readerOf);
    this.greatest = Object.values(aggregation.max).map(readerOf);
  }

  add(document: object): void {
    if (this.unwound === undefined) this.addOne(document);
    else for (const one of unwind(document, this.unwound)) this.addOne(one);
  }

  rows(): readonly AggregateRow[] {
    const { by, sum, min, max, limit } = this.aggregation;
    const sorted = this.groups.toSorted((left, right) => right.count - left.count || compareKeys(left, right));
    return sorted.slice(0, limit).map(({ key, count, sums, least, greatest }) => ({
      key: named(by, key),
      count,
      sum: named(sum, sums),
      min: named(min, least),
      max: named(max, greatest),
    }));
  }

  private addOne(document: unknown): void {
    const group = this.groupOf(document);
    group.count += 1;
    // Without iterators, which would take most of the time here.
    this.sums.forEach((read, at) => {
      const value = read(document);
      const sum = group.sums[at];
      if (typeof value !== 'number' || sum === undefined) return;
      sum.total += value;
      sum.count += 1;
    });
    this.least.forEach((read, at) => {
      group.least[at] = best(group.least[at] ?? null, asScalar(read(document)), -1);
    });
    this.greatest.forEach((read, at) => {
      group.greatest[at] = best(group.greatest[at] ?? null, asScalar(read(document)), 1);
    });
  }

  private groupOf(document: unknown): Group {
    const key = this.keys.map((read) => read(document));
    const node = key.reduce(childOf, this.root);
    node.group ??= this.createGroup(key);
    return node.group;
  }

  private createGroup(key: readonly Scalar[]): Group {
    const group: Group = {
      key,
      count: 0,
      sums: this.sums.map(() => ({ total: 0, count: 0 })),
      least: this.least.map(() => null),
      greatest: this.greatest.map(() => null),
    };
    this.groups.push(group);
    return group;
  }
}

function createNode(): Node {
  return { children: new Map(), dates: new Map() };
}

function childOf(node: Node, value: Scalar): Node {
  return value instanceof Date ? childAt(node.dates, value.getTime()) : childAt(node.children, value);
}

function childAt<Key>(nodes: Map<Key, Node>, key: Key): Node {
  let child = nodes.get(key);
  if (child === undefined) {
    child = createNode();
    nodes.set(key, child);
  }
  return child;
}

function compareKeys(left: Group, right: Group): number {
  for (const [at, value] of left.key.entries()) {
    const order = compareScalars(value, right.key[at]);
    if (order !== 0) return order;
  }
  return 0;
}

function named<Value>(names: object, values: readonly Value[]): Record<string, Value> {
  return Object.fromEntries(
    Object.keys(names).flatMap((name, at) => (at in values ? [[name, values[at] as Value]] : [])),
  );
}

/** Null never wins. */
function best(value: Scalar, other: Scalar, sign: 1 | -1): Scalar {
  if (other === null || value === null) return value ?? other;
  return compareScalars(other, value) * sign > 0 ? other : value;
}

function readerOf(path: string): Reader {
  const parts = path.split('.');
  return (document) => valueAtPath(document, parts);
}

function interval({ path, width, offset = 0 }: TimeInterval): Reader {
  const read = readerOf(path);
  return (document) => {
    const value = read(document);
    const milliseconds = value instanceof Date ? value.getTime() : value;
    if (typeof milliseconds !== 'number') return null;
    return Math.floor((milliseconds + offset) / width) * width - offset;
  };
}

function asScalar(value: unknown): Scalar {
  if (value instanceof Date) return value;
  return typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean' ? value : null;
}

/** A copy per element of the array at the path. A document without elements there counts once, without the field. */
function unwind(document: unknown, parts: readonly string[]): readonly unknown[] {
  const value = valueAtPath(document, parts);
  if (!Array.isArray(value)) return [document];
  return value.length === 0
    ? [replaceAt(document, parts, undefined)]
    : value.map((element: unknown) => replaceAt(document, parts, element));
}

function replaceAt(document: unknown, [part, ...rest]: readonly string[], value: unknown): unknown {
  if (part === undefined) return value;
  return isRecord(document) ? { ...document, [part]: replaceAt(document[part], rest, value) } : document;
}
