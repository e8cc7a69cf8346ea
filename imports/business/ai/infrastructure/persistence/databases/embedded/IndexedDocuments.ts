/** The documents of a collection in memory, with its indexes. */
import type { FindOptions, Scalar, StoredDocument } from '../../../../domain/interfaces/DocumentCollection';
import type { CheckedSelector, FieldTests } from '../query/parseSelector';
import { isScalar, OrderedIndex } from './OrderedIndex';
import type { IndexPlan } from './OrderedIndex';

export interface Candidates {
  readonly documents: Iterable<StoredDocument>;
  /** They already have the order of the query. */
  readonly isSorted: boolean;
}

/** The first documents of a sorted query are sought in order, unless another index leaves so many times fewer. */
const FEWER = 20;

export class IndexedDocuments {
  private readonly documents = new Map<string, StoredDocument>();
  private readonly indexes = new Map<string, OrderedIndex>();

  set(document: StoredDocument): void {
    const old = this.documents.get(document._id);
    for (const index of this.indexes.values()) {
      if (old === undefined) index.add(document);
      else index.replace(old, document);
    }
    this.documents.set(document._id, document);
  }

  delete(id: string): void {
    const old = this.documents.get(id);
    if (old === undefined) return;
    for (const index of this.indexes.values()) index.remove(old);
    this.documents.delete(id);
  }

  ensureIndex(keys: Readonly<Record<string, 1 | -1>>): void {
    const name = JSON.stringify(Object.entries(keys));
    if (this.indexes.has(name)) return;
    const index = new OrderedIndex(keys);
    for (const document of this.documents.values()) index.add(document);
    // Takes a second for many documents, which the first query should not wait for.
    index.settle();
    this.indexes.set(name, index);
  }

  /** All documents that may match, from the index that leaves the fewest. */
  candidates(selector: CheckedSelector, { sort, limit }: Pick<FindOptions, 'sort' | 'limit'>): Candidates {
    const conditions = new Map<string, Scalar | FieldTests>();
    collectConditions(selector, conditions);
    const ids = conditions.get('_id');
    if (ids !== undefined) {
      const named = isScalar(ids) ? [ids] : ids.$in;
      if (named !== undefined) return { documents: this.withIds(named), isSorted: false };
    }
    const plans = [...this.indexes.values()].flatMap((index) => index.plans(conditions, sort));
    const [fewest] = plans.toSorted((left, right) => left.size - right.size);
    if (fewest === undefined) return { documents: this.documents.values(), isSorted: false };
    const inOrder = limit === undefined ? undefined : smallestInOrder(plans);
    const plan = inOrder !== undefined && inOrder.size <= fewest.size * FEWER ? inOrder : fewest;
    return { documents: plan.index.documents(plan), isSorted: plan.order !== undefined };
  }

  private withIds(ids: readonly Scalar[]): readonly StoredDocument[] {
    return [...new Set(ids)].flatMap((id) => {
      const document = typeof id === 'string' ? this.documents.get(id) : undefined;
      return document === undefined ? [] : [document];
    });
  }
}

function smallestInOrder(plans: readonly IndexPlan[]): IndexPlan | undefined {
  return plans.filter(({ order }) => order !== undefined).toSorted((left, right) => left.size - right.size)[0];
}

/** One condition per path, the most selective first: equality, a list, and then others. */
function collectConditions(selector: CheckedSelector, conditions: Map<string, Scalar | FieldTests>): void {
  for (const [path, condition] of Object.entries(selector)) {
    if (isList(condition)) {
      if (path === '$and') for (const part of condition) collectConditions(part, conditions);
      continue;
    }
    const existing = conditions.get(path);
    if (existing === undefined || rank(condition) < rank(existing)) conditions.set(path, condition);
  }
}

function isList(condition: CheckedSelector[string]): condition is readonly CheckedSelector[] {
  return Array.isArray(condition);
}

function rank(condition: Scalar | FieldTests): number {
  if (isScalar(condition)) return 0;
  return condition.$in === undefined ? 2 : 1;
}
