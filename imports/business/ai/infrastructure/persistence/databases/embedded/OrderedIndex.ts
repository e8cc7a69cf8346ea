/** Documents in the order of some of their fields, so that a query visits few, or the first ones first. */
import type { FindOptions, Scalar } from '../../../../domain/interfaces/DocumentCollection';
import { compareScalars } from '../query/scalars';
import { isArrayValue } from './DocumentColumns';
import type { ColumnValues, DocumentColumns } from './DocumentColumns';
import { isScalar, rangesOf } from './indexRanges';
import type { Bound, Conditions, IndexRange } from './indexRanges';
import type { QueryPlan } from './QueryPlan';

export type IndexKeys = Readonly<Record<string, 1 | -1>>;

interface Key {
  readonly path: string;
  readonly direction: 1 | -1;
  readonly values: ColumnValues;
}

/** So many documents are inserted at their places; for more, merging is faster. */
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
    const equal = this.equalKeys(conditions);
    const order = this.orderAfter(equal.length, sort);
    const { ranges, covered, isBounded, isOrdered } = rangesOf(this.keys, conditions);
    // Several ranges are merged if the keys in which they differ all have values.
    const rangeOrder = ranges.length > 1 && isOrdered ? this.orderAfter(covered.length, sort) : undefined;
    return [
      ...(isBounded ? [this.plan(ranges, covered, ranges.length > 1 ? rangeOrder : order)] : []),
      ...(order === undefined || (isBounded && ranges.length === 1)
        ? []
        : [this.plan([{ equal }], this.paths.slice(0, equal.length), order)]),
    ];
  }

  /** The values of the first keys that must equal something. */
  private equalKeys(conditions: Conditions): readonly Scalar[] {
    const equal: Scalar[] = [];
    for (const { path } of this.keys) {
      const condition = conditions.get(path);
      if (condition === undefined || !isScalar(condition)) break;
      equal.push(condition);
    }
    return equal;
  }

  private plan(parts: readonly IndexRange[], covered: readonly string[], order?: 'forward' | 'backward'): QueryPlan {
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
        const found = ranges.map(({ start, end }) => this.sorted.slice(start, end)).filter(({ length }) => length > 0);
        if (order === 'backward') for (const slots of found) slots.reverse();
        if (found.length <= 1) return found[0] ?? [];
        return order === undefined ? found.flat() : this.merge(found, parts[0]?.equal.length ?? 0, order);
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
      this.sorted = merged(
        this.sorted,
        added.sort((left, right) => this.compare(left, right)),
        (left, right) => this.compare(left, right),
      );
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

  /** Slots of several ranges in the order of the keys after the first ones. */
  private *merge(
    lists: readonly (readonly number[])[],
    after: number,
    order: 'forward' | 'backward',
  ): Iterable<number> {
    const keys = this.keys.slice(after);
    const sign = order === 'forward' ? 1 : -1;
    const positions = lists.map(() => 0);
    for (;;) {
      let first: number | undefined;
      let from = 0;
      for (const [at, list] of lists.entries()) {
        const slot = list[positions[at] ?? 0];
        if (slot === undefined || (first !== undefined && this.compare(slot, first, keys) * sign >= 0)) continue;
        first = slot;
        from = at;
      }
      if (first === undefined) return;
      positions[from] = (positions[from] ?? 0) + 1;
      yield first;
    }
  }

  private compare(left: number, right: number, keys = this.keys): number {
    for (const { values, direction } of keys) {
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

/** @param left in order, as `right` is */
function merged(
  left: readonly number[],
  right: readonly number[],
  compare: (left: number, right: number) => number,
): number[] {
  const all: number[] = [];
  let at = 0;
  for (const slot of left) {
    for (let next = right[at]; next !== undefined && compare(next, slot) < 0; next = right[at]) {
      all.push(next);
      at += 1;
    }
    all.push(slot);
  }
  while (at < right.length) {
    all.push(right[at] ?? 0);
    at += 1;
  }
  return all;
}
