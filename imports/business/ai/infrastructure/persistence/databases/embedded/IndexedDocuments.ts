/** The documents of a collection in memory, with its indexes. */
import type { FindOptions, Scalar, StoredDocument } from '../../../../domain/interfaces/DocumentCollection';
import type { CheckedSelector, FieldTests } from '../query/parseSelector';
import { DocumentColumns, isArrayValue } from './DocumentColumns';
import { isScalar } from './indexRanges';
import type { Conditions } from './indexRanges';
import { OrderedIndex, withIdKey } from './OrderedIndex';
import type { IndexKeys } from './OrderedIndex';
import { distinctSlots, unsortedPlan } from './QueryPlan';
import type { QueryPlan } from './QueryPlan';
import { TermIndex } from './TermIndex';

/** The first documents of a sorted query are sought in order, unless another index leaves so many times fewer. */
const FEWER = 20;

export class IndexedDocuments {
  readonly columns = new DocumentColumns();
  /** Indexes that no query has asked for yet. Building all of them takes longer than loading the documents. */
  private readonly unbuilt = new Map<string, IndexKeys>();
  private readonly orders = new Map<string, OrderedIndex>();
  /** By path. They take the place of the ordered indexes whose first key has arrays. */
  private readonly terms = new Map<string, TermIndex>();

  set(document: StoredDocument): void {
    const slot = this.columns.slotOf(document._id);
    if (slot === undefined) {
      const added = this.columns.add(document);
      for (const index of this.indexes()) index.add(added);
    } else {
      const changed = this.columns.changedPaths(slot, document);
      const affected = this.indexes().filter(({ paths }) => paths.some((path) => changed.has(path)));
      for (const index of affected) index.remove(slot);
      this.columns.put(slot, document);
      for (const index of affected) index.add(slot);
    }
    this.replaceUnusableOrders();
  }

  find(id: string): StoredDocument | undefined {
    const slot = this.columns.slotOf(id);
    return slot === undefined ? undefined : this.columns.document(slot);
  }

  delete(id: string): void {
    const slot = this.columns.slotOf(id);
    if (slot === undefined) return;
    for (const index of this.indexes()) index.remove(slot);
    this.columns.remove(slot);
  }

  /** Declares an index. It is built by the first query that can use it. */
  ensureIndex(keys: IndexKeys): void {
    const complete = withIdKey(keys);
    const name = nameOf(complete);
    if (!this.orders.has(name)) this.unbuilt.set(name, complete);
  }

  /** Finds all documents that may match, with the index that leaves the fewest, and what remains to be tested. */
  candidates(
    selector: CheckedSelector,
    options: Pick<FindOptions, 'sort' | 'limit'>,
  ): { readonly plan: QueryPlan; readonly untested: CheckedSelector } {
    const plan = this.planFor(selector, options);
    return { plan, untested: withoutPaths(selector, plan.covered ?? []) };
  }

  private planFor(selector: CheckedSelector, { sort, limit }: Pick<FindOptions, 'sort' | 'limit'>): QueryPlan {
    const plans = this.plans(selector, sort);
    const fewest = smallest(plans);
    if (fewest === undefined) return unsortedPlan(this.columns.size, () => this.columns.usedSlots());
    const inOrder = limit === undefined ? undefined : smallest(plans.filter(({ isSorted }) => isSorted));
    return inOrder !== undefined && inOrder.size <= fewest.size * FEWER ? inOrder : fewest;
  }

  private plans(selector: CheckedSelector, sort?: FindOptions['sort']): readonly QueryPlan[] {
    const { all, alternatives } = conditionsOf(selector);
    const conditions = strictest(all);
    const ids = conditions.get('_id');
    const named = ids === undefined ? undefined : isScalar(ids) ? [ids] : ids.$in;
    if (named !== undefined) return [this.planOfIds(named)];
    this.buildFor(conditions, sort);
    return [
      ...[...this.orders.values()]
        .flatMap((index) => index.plans(conditions, sort))
        .map((plan) => onlyCovering(plan, all)),
      ...all.flatMap(({ path, condition }) => this.terms.get(path)?.plan(condition) ?? []),
      ...alternatives.flatMap((selectors) => this.planOfAny(selectors) ?? []),
    ];
  }

  /** Builds the indexes whose first key the query names. */
  private buildFor(conditions: Conditions, sort: FindOptions['sort'] = {}): void {
    const [sortedBy] = Object.keys(sort);
    for (const [name, keys] of this.unbuilt) {
      const [path = '_id'] = Object.keys(keys);
      if (!conditions.has(path) && path !== sortedBy) continue;
      this.unbuilt.delete(name);
      this.build(name, keys);
    }
  }

  private build(name: string, keys: IndexKeys): void {
    const [path = '_id'] = Object.keys(keys);
    if (this.terms.has(path)) return;
    if (this.columns.values(path).some(isArrayValue)) {
      this.terms.set(path, new TermIndex(path, this.columns));
      return;
    }
    const index = new OrderedIndex(keys, this.columns);
    const { order, unordered } = this.orderFor(keys);
    index.build(order, unordered);
    this.orders.set(name, index);
  }

  private planOfIds(ids: readonly Scalar[]): QueryPlan {
    const slots = [...new Set(ids)].flatMap((id) => (typeof id === 'string' ? (this.columns.slotOf(id) ?? []) : []));
    return unsortedPlan(slots.length, () => slots);
  }

  /** Undefined if one of the alternatives has no index. */
  private planOfAny(selectors: readonly CheckedSelector[]): QueryPlan | undefined {
    const plans = selectors.flatMap((selector) => smallest(this.plans(selector)) ?? []);
    if (plans.length < selectors.length) return undefined;
    const size = plans.reduce((sum, plan) => sum + plan.size, 0);
    const lists = (): readonly Iterable<number>[] => plans.map((plan) => plan.slots());
    return unsortedPlan(size, () => distinctSlots(lists(), this.columns.capacity));
  }

  /** All slots in the order of the last keys, from an index that has it. */
  private orderFor(keys: IndexKeys): { readonly order: readonly number[]; readonly unordered: number } {
    const entries = Object.entries(keys);
    for (let unordered = 1; unordered < entries.length; unordered += 1) {
      const last = entries.slice(unordered);
      const forward = this.orders.get(nameOf(Object.fromEntries(last)));
      if (forward !== undefined) return { order: forward.order(), unordered };
      const backward = this.orders.get(nameOf(Object.fromEntries(last.map(([path, sign]) => [path, -sign]))));
      if (backward !== undefined) return { order: backward.order().toReversed(), unordered };
    }
    return { order: this.columns.usedSlots(), unordered: entries.length };
  }

  private indexes(): readonly (OrderedIndex | TermIndex)[] {
    return [...this.orders.values(), ...this.terms.values()];
  }

  private replaceUnusableOrders(): void {
    for (const [name, index] of this.orders) {
      const [path = '_id'] = index.paths;
      if (!index.startsWithArrays) continue;
      this.orders.delete(name);
      if (!this.terms.has(path)) this.terms.set(path, new TermIndex(path, this.columns));
    }
  }
}

function nameOf(keys: Readonly<Record<string, number>>): string {
  return JSON.stringify(Object.entries(keys));
}

/** Of plans of the same size, the one that leaves the fewest conditions to be tested. */
function smallest(plans: readonly QueryPlan[]): QueryPlan | undefined {
  const covers = ({ covered = [] }: QueryPlan): number => covered.length;
  return plans.toSorted((left, right) => left.size - right.size || covers(right) - covers(left))[0];
}

interface ConditionLists {
  /** Those that every match fulfils. */
  readonly all: readonly { readonly path: string; readonly condition: Scalar | FieldTests }[];
  /** Of each list, a match fulfils one. */
  readonly alternatives: readonly (readonly CheckedSelector[])[];
}

function conditionsOf(selector: CheckedSelector): ConditionLists {
  const parts = Object.entries(selector).map(([path, condition]): ConditionLists => {
    if (!isList(condition)) return { all: [{ path, condition }], alternatives: [] };
    if (path === '$or') return { all: [], alternatives: [condition] };
    const nested = condition.map(conditionsOf);
    return { all: nested.flatMap(({ all }) => all), alternatives: nested.flatMap((one) => one.alternatives) };
  });
  return { all: parts.flatMap(({ all }) => all), alternatives: parts.flatMap((one) => one.alternatives) };
}

/** Of several conditions on a path, a plan considers one. */
function onlyCovering(plan: QueryPlan, all: ConditionLists['all']): QueryPlan {
  const isSingle = (path: string): boolean => all.filter((other) => other.path === path).length === 1;
  return plan.covered === undefined ? plan : { ...plan, covered: plan.covered.filter(isSingle) };
}

/** The selector without the conditions on some paths that every match fulfils. */
function withoutPaths(selector: CheckedSelector, paths: readonly string[]): CheckedSelector {
  if (paths.length === 0) return selector;
  return Object.fromEntries(
    Object.entries(selector).flatMap(([path, condition]): [string, CheckedSelector[string]][] => {
      if (isList(condition) && path === '$and') {
        const parts = condition.map((part) => withoutPaths(part, paths)).filter((part) => Object.keys(part).length > 0);
        return parts.length === 0 ? [] : [[path, parts]];
      }
      return paths.includes(path) ? [] : [[path, condition]];
    }),
  );
}

/** One condition per path, the most selective first: equality, a list, and then others. */
function strictest(all: ConditionLists['all']): Conditions {
  const conditions = new Map<string, Scalar | FieldTests>();
  for (const { path, condition } of all) {
    const existing = conditions.get(path);
    if (existing === undefined || rank(condition) < rank(existing)) conditions.set(path, condition);
  }
  return conditions;
}

function isList(condition: CheckedSelector[string]): condition is readonly CheckedSelector[] {
  return Array.isArray(condition);
}

function rank(condition: Scalar | FieldTests): number {
  if (isScalar(condition)) return 0;
  return condition.$in === undefined ? 2 : 1;
}
