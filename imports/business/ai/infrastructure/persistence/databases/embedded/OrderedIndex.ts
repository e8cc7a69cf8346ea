/** Documents in memory in the order of some of their fields, so that a query visits few, or the first ones first. */
import type { FindOptions, Scalar, StoredDocument } from '../../../../domain/interfaces/DocumentCollection';
import { valueAtPath } from '../query/fieldPaths';
import type { FieldTests } from '../query/parseSelector';
import { compareScalars } from '../query/scalars';

/** Conditions that every match fulfils, by path. */
export type Conditions = ReadonlyMap<string, Scalar | FieldTests>;

/** Parts of an index that together hold all matches. */
export interface IndexPlan {
  readonly index: OrderedIndex;
  readonly ranges: readonly { readonly start: number; readonly end: number }[];
  /** The number of documents in the ranges. */
  readonly size: number;
  /** Set if the documents have the order of the query: as they are, or from the last to the first. */
  readonly order?: 'forward' | 'backward';
}

interface Key {
  readonly path: string;
  readonly parts: readonly string[];
  readonly direction: 1 | -1;
}

/** So many documents are inserted at their places; for more, sorting is faster. */
const FEW = 50;

export class OrderedIndex {
  private readonly keys: readonly Key[];
  /** Documents with the same keys are in the order of their ids, in the direction of the last key. */
  private readonly idDirection: 1 | -1;
  private sorted: StoredDocument[] = [];
  private unsorted: StoredDocument[] = [];
  /** Documents with an array in a key. MongoDB has an entry per element; here they rule the index out. */
  private readonly withArrays = new Set<string>();

  constructor(keys: Readonly<Record<string, 1 | -1>>) {
    this.keys = Object.entries(keys).map(([path, direction]) => ({ path, parts: path.split('.'), direction }));
    this.idDirection = this.keys.at(-1)?.direction ?? 1;
  }

  add(document: StoredDocument): void {
    this.unsorted.push(document);
    if (this.hasArray(document)) this.withArrays.add(document._id);
  }

  remove(document: StoredDocument): void {
    this.sorted.splice(this.positionOf(document), 1);
    this.withArrays.delete(document._id);
  }

  replace(old: StoredDocument, document: StoredDocument): void {
    if (this.compare(old, document) === 0 && !this.hasArray(document) && !this.withArrays.has(old._id)) {
      this.sorted[this.positionOf(old)] = document;
      return;
    }
    this.remove(old);
    this.add(document);
  }

  /** The ways in which the index narrows the search or has the order of the query. */
  plans(conditions: Conditions, sort: FindOptions['sort']): readonly IndexPlan[] {
    if (this.withArrays.size > 0) return [];
    const equal: Scalar[] = [];
    for (const { path } of this.keys) {
      const condition = conditions.get(path);
      if (condition === undefined || !isScalar(condition)) break;
      equal.push(condition);
    }
    const next = this.keys[equal.length];
    const tests = next === undefined ? undefined : conditions.get(next.path);
    const { $in, ...bounds } = tests === undefined || isScalar(tests) ? {} : tests;
    const [low, high] = boundsOf(bounds, next?.direction);
    const order = this.orderAfter(equal.length, sort);
    const isNarrow = equal.length > 0 || low !== undefined || high !== undefined;
    return [
      ...(isNarrow || order !== undefined ? [this.plan([{ equal, low, high }], order)] : []),
      ...($in === undefined ? [] : [this.plan(distinct($in).map((value) => ({ equal: [...equal, value] })))]),
    ];
  }

  /** A copy, which writes do not change. */
  *documents({ ranges, order }: IndexPlan): Iterable<StoredDocument> {
    for (const { start, end } of ranges) {
      const found = this.sorted.slice(start, end);
      yield* order === 'backward' ? found.reverse() : found;
    }
  }

  private plan(
    parts: readonly {
      readonly equal: readonly Scalar[];
      readonly low?: Scalar | undefined;
      readonly high?: Scalar | undefined;
    }[],
    order?: IndexPlan['order'],
  ): IndexPlan {
    this.settle();
    const ranges = parts.map(({ equal, low, high }) => {
      const [from, to] = [low, high].map((bound) => (bound === undefined ? equal : [...equal, bound]));
      return {
        start: this.firstNotBelow((document) => this.comparePrefix(document, from ?? equal)),
        end: this.firstNotBelow((document) => (this.comparePrefix(document, to ?? equal) <= 0 ? -1 : 1)),
      };
    });
    const size = ranges.reduce((sum, { start, end }) => sum + Math.max(0, end - start), 0);
    return { index: this, ranges, size, ...(order === undefined ? {} : { order }) };
  }

  /** Whether the keys after the first ones, which are equal, have the order of the query. */
  private orderAfter(equal: number, sort: FindOptions['sort'] = {}): IndexPlan['order'] {
    const wanted = Object.entries(sort);
    if (wanted.length === 0) return undefined;
    const own = [...this.keys.slice(equal), { path: '_id', direction: this.idDirection }];
    const fits = (sign: 1 | -1): boolean =>
      wanted.every(([path, direction], at) => own[at]?.path === path && own[at].direction * sign === direction);
    if (fits(1)) return 'forward';
    return fits(-1) ? 'backward' : undefined;
  }

  /** Puts the documents that were added since in order. Queries do so by themselves. */
  settle(): void {
    if (this.unsorted.length === 0) return;
    const added = this.unsorted;
    this.unsorted = [];
    if (added.length > FEW) {
      this.sorted = [...this.sorted, ...added].sort((left, right) => this.compare(left, right));
      return;
    }
    for (const document of added) {
      const at = this.firstNotBelow((other) => this.compare(other, document));
      this.sorted.splice(at, 0, document);
    }
  }

  private positionOf(document: StoredDocument): number {
    this.settle();
    const at = this.firstNotBelow((other) => this.compare(other, document));
    if (this.sorted[at]?._id !== document._id) throw new Error(`The index lacks the document ${document._id}.`);
    return at;
  }

  /** The position of the first document for which `compare` is not negative. */
  private firstNotBelow(compare: (document: StoredDocument) => number): number {
    let low = 0;
    let high = this.sorted.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      const document = this.sorted[middle];
      if (document !== undefined && compare(document) < 0) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  private compare(left: StoredDocument, right: StoredDocument): number {
    for (const { parts, direction } of this.keys) {
      const result = compareScalars(valueAtPath(left, parts), valueAtPath(right, parts));
      if (result !== 0) return result * direction;
    }
    return compareScalars(left._id, right._id) * this.idDirection;
  }

  private comparePrefix(document: StoredDocument, values: readonly Scalar[]): number {
    for (const [at, expected] of values.entries()) {
      const key = this.keys[at];
      if (key === undefined) break;
      const result = compareScalars(valueAtPath(document, key.parts), expected);
      if (result !== 0) return result * key.direction;
    }
    return 0;
  }

  private hasArray(document: StoredDocument): boolean {
    return this.keys.some(({ parts }) =>
      parts.some((_, at) => Array.isArray(valueAtPath(document, parts.slice(0, at + 1)))),
    );
  }
}

export function isScalar(condition: Scalar | FieldTests): condition is Scalar {
  return typeof condition !== 'object' || condition === null || condition instanceof Date;
}

/** In the order of the index. Documents between the bounds need not match, others cannot. */
function boundsOf(
  { $gt, $gte = $gt, $lt, $lte = $lt }: FieldTests,
  direction: 1 | -1 = 1,
): [Scalar | undefined, Scalar | undefined] {
  return direction === 1 ? [$gte, $lte] : [$lte, $gte];
}

function distinct(values: readonly Scalar[]): readonly Scalar[] {
  return values.filter((value, at) => values.findIndex((other) => compareScalars(value, other) === 0) === at);
}
