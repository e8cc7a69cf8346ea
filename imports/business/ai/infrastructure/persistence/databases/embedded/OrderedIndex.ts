/** Documents in the order of some of their fields, so that a query visits few, or the first ones first. */
import type { FindOptions, Scalar } from '../../../../domain/interfaces/DocumentCollection';
import type { FieldTests } from '../query/parseSelector';
import { compareScalars } from '../query/scalars';
import { isArrayValue } from './DocumentColumns';
import type { ColumnValues, DocumentColumns } from './DocumentColumns';
import type { QueryPlan } from './QueryPlan';

/** Conditions that every match fulfils, by path. */
export type Conditions = ReadonlyMap<string, Scalar | FieldTests>;

export type IndexKeys = Readonly<Record<string, 1 | -1>>;

interface Key {
  readonly path: string;
  readonly direction: 1 | -1;
  readonly values: ColumnValues;
}

/** So many documents are inserted at their places; for more, sorting is faster. */
const FEW = 50;

/** Documents with the same keys are in the order of their ids, in the direction of the last key. */
export function withIdKey(keys: IndexKeys): IndexKeys {
  return '_id' in keys ? keys : { ...keys, _id: Object.values(keys).at(-1) ?? 1 };
}

export class OrderedIndex {
  readonly paths: readonly string[];
  private readonly keys: readonly Key[];
  private sorted: number[] = [];
  private unsorted: number[] = [];
  /** Slots with an array in a key. MongoDB has an entry per element; here they rule the index out. */
  private readonly withArrays = new Set<number>();
  private hasFirstArray = false;

  /** @param keys end with `_id` */
  constructor(keys: IndexKeys, columns: DocumentColumns) {
    this.paths = Object.keys(keys);
    this.keys = Object.entries(keys).map(([path, direction]) => ({ path, direction, values: columns.values(path) }));
  }

  /**
   * Adds documents to an empty index.
   * @param order the slots in the order of this index's keys without the first `unordered` ones
   */
  build(order: readonly number[], unordered: number): void {
    const outer = this.keys.slice(0, unordered).toReversed();
    this.sorted =
      unordered === this.keys.length
        ? [...order].sort((left, right) => this.compare(left, right))
        : outer.reduce(sortedBy, [...order]);
    for (const slot of order) this.noteArrays(slot);
  }

  /** Whether a first key has been an array, so that a `TermIndex` serves better. */
  get startsWithArrays(): boolean {
    return this.hasFirstArray;
  }

  /** All slots in order. */
  order(): readonly number[] {
    this.settle();
    return this.sorted;
  }

  /** Called after the document's values are in the columns. */
  add(slot: number): void {
    this.unsorted.push(slot);
    this.noteArrays(slot);
  }

  /** Called while the document's values are still in the columns. */
  remove(slot: number): void {
    this.settle();
    const at = this.firstNotBelow((other) => this.compare(other, slot));
    if (this.sorted[at] !== slot) throw new Error(`The index on ${this.paths.join()} lacks the document of a slot.`);
    this.sorted.splice(at, 1);
    this.withArrays.delete(slot);
  }

  /** The ways in which the index narrows the search or has the order of the query. */
  plans(conditions: Conditions, sort: FindOptions['sort']): readonly QueryPlan[] {
    if (this.withArrays.size > 0) return [];
    const equal: Scalar[] = [];
    for (const { path } of this.keys) {
      const condition = conditions.get(path);
      if (condition === undefined || !isScalar(condition)) break;
      equal.push(condition);
    }
    const next = this.keys[equal.length];
    const tests = next === undefined ? undefined : conditions.get(next.path);
    const { $in, ...others } = tests === undefined || isScalar(tests) ? {} : tests;
    const { low, high, isExact } = boundsOf(others, next?.direction);
    const order = this.orderAfter(equal.length, sort);
    const equalPaths = this.paths.slice(0, equal.length);
    const coveredBy = (isNextCovered: boolean): readonly string[] =>
      isNextCovered && next !== undefined ? [...equalPaths, next.path] : equalPaths;
    const isNarrow = equal.length > 0 || low !== undefined || high !== undefined;
    return [
      ...(isNarrow || order !== undefined
        ? [this.plan([{ equal, low, high }], coveredBy($in === undefined && isExact), order)]
        : []),
      ...($in === undefined
        ? []
        : [
            this.plan(
              distinct($in).map((value) => ({ equal: [...equal, value] })),
              coveredBy(Object.keys(others).length === 0),
            ),
          ]),
    ];
  }

  private plan(
    parts: readonly {
      readonly equal: readonly Scalar[];
      readonly low?: Bound | undefined;
      readonly high?: Bound | undefined;
    }[],
    covered: readonly string[],
    order?: 'forward' | 'backward',
  ): QueryPlan {
    this.settle();
    const ranges = parts.map(({ equal, low, high }) => ({
      start: this.firstNotBelow((slot) => this.compareTo(slot, equal, low, 1)),
      end: this.firstNotBelow((slot) => this.compareTo(slot, equal, high, -1)),
    }));
    return {
      size: ranges.reduce((sum, { start, end }) => sum + Math.max(0, end - start), 0),
      isSorted: order !== undefined,
      covered,
      slots: () => {
        const [first, ...others] = ranges.map(({ start, end }) => this.sorted.slice(start, end));
        const found = first?.concat(...others) ?? [];
        return order === 'backward' ? found.reverse() : found;
      },
      forEach: (visit) => {
        for (const { start, end } of ranges) for (let at = start; at < end; at += 1) visit(this.sorted[at] ?? 0);
      },
    };
  }

  /** Whether the keys after the first ones, which are equal, have the order of the query. */
  private orderAfter(equal: number, sort: FindOptions['sort'] = {}): 'forward' | 'backward' | undefined {
    const wanted = Object.entries(sort);
    if (wanted.length === 0) return undefined;
    const own = this.keys.slice(equal);
    const fits = (sign: 1 | -1): boolean =>
      wanted.every(([path, direction], at) => own[at]?.path === path && own[at].direction * sign === direction);
    if (fits(1)) return 'forward';
    return fits(-1) ? 'backward' : undefined;
  }

  /** Puts the documents that were added since in order. */
  private settle(): void {
    if (this.unsorted.length === 0) return;
    const added = this.unsorted;
    this.unsorted = [];
    if (added.length > FEW) {
      this.sorted = [...this.sorted, ...added].sort((left, right) => this.compare(left, right));
      return;
    }
    for (const slot of added) {
      const at = this.firstNotBelow((other) => this.compare(other, slot));
      this.sorted.splice(at, 0, slot);
    }
  }

  /** The position of the first slot for which `compare` is not negative. */
  private firstNotBelow(compare: (slot: number) => number): number {
    let low = 0;
    let high = this.sorted.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      const slot = this.sorted[middle];
      if (slot !== undefined && compare(slot) < 0) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  private compare(left: number, right: number): number {
    for (const { values, direction } of this.keys) {
      const result = compareScalars(values[left], values[right]);
      if (result !== 0) return result * direction;
    }
    return 0;
  }

  /**
   * Negative for a slot before the range that starts here, or within the range that ends here.
   * @param side 1 for the start of the range, -1 for its end
   */
  private compareTo(slot: number, equal: readonly Scalar[], bound: Bound | undefined, side: 1 | -1): number {
    for (const [at, value] of equal.entries()) {
      const result = this.compareKey(slot, at, value);
      if (result !== 0) return result;
    }
    const result = bound === undefined ? 0 : this.compareKey(slot, equal.length, bound.value);
    if (result !== 0) return result;
    return bound?.isExcluded === true ? -side : side;
  }

  private compareKey(slot: number, at: number, value: Scalar): number {
    const key = this.keys[at];
    return key === undefined ? 0 : compareScalars(key.values[slot], value) * key.direction;
  }

  private noteArrays(slot: number): void {
    const at = this.keys.findIndex(({ values }) => isArrayValue(values[slot]));
    if (at === -1) return;
    this.withArrays.add(slot);
    if (at === 0) this.hasFirstArray = true;
  }
}

export function isScalar(condition: Scalar | FieldTests): condition is Scalar {
  return typeof condition !== 'object' || condition === null || condition instanceof Date;
}

/** Sorts by one key. Slots with the same value keep their order. */
function sortedBy(slots: number[], { values, direction }: Key): number[] {
  const groups = new Map<unknown, number[]>();
  for (const slot of slots) {
    const value = values[slot] ?? null;
    // Dates and arrays are never the same key of a map.
    if (typeof value === 'object' && value !== null)
      return slots.sort((left, right) => compareScalars(values[left], values[right]) * direction);
    const group = groups.get(value);
    if (group === undefined) groups.set(value, [slot]);
    else group.push(slot);
  }
  const sorted: number[] = [];
  for (const value of [...groups.keys()].sort((left, right) => compareScalars(left, right) * direction))
    for (const slot of groups.get(value) ?? []) sorted.push(slot);
  return sorted;
}

interface Bound {
  readonly value: Scalar;
  readonly isExcluded: boolean;
}

interface Bounds {
  readonly low?: Bound;
  readonly high?: Bound;
  /** All documents between the bounds match. Otherwise, they need not. */
  readonly isExact: boolean;
}

/** In the order of the index. */
function boundsOf({ $gt, $gte, $lt, $lte, ...others }: FieldTests, direction: 1 | -1 = 1): Bounds {
  const least = toBound($gte, $gt);
  const greatest = toBound($lte, $lt);
  const [low, high] = direction === 1 ? [least, greatest] : [greatest, least];
  return {
    ...(low === undefined ? {} : { low }),
    ...(high === undefined ? {} : { high }),
    // A range with one bound continues with the values of other types.
    isExact:
      Object.keys(others).length === 0 &&
      ($gte === undefined) !== ($gt === undefined) &&
      ($lte === undefined) !== ($lt === undefined) &&
      least !== undefined &&
      greatest !== undefined &&
      isSameType(least.value, greatest.value),
  };
}

function toBound(included: Scalar | undefined, excluded: Scalar | undefined): Bound | undefined {
  if (included !== undefined) return { value: included, isExcluded: false };
  return excluded === undefined ? undefined : { value: excluded, isExcluded: true };
}

function isSameType(left: Scalar, right: Scalar): boolean {
  return typeof left === typeof right && left instanceof Date === right instanceof Date;
}

function distinct(values: readonly Scalar[]): readonly Scalar[] {
  return values.filter((value, at) => values.findIndex((other) => compareScalars(value, other) === 0) === at);
}
