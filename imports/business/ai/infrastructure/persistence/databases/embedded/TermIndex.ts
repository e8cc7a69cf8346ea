/**
 * The documents of each string in a field, above all in an array of strings: an inverted index. It finds every document
 * that has a string, and perhaps some that no longer have it, so matches are tested.
 */
import type { Scalar } from '../../../../domain/interfaces/DocumentCollection';
import { valuesAt } from '../query/fieldPaths';
import type { FieldTests } from '../query/parseSelector';
import type { DocumentColumns } from './DocumentColumns';
import { isScalar } from './indexRanges';
import { distinctSlots, unsortedPlan } from './QueryPlan';
import type { QueryPlan } from './QueryPlan';

interface Entry {
  readonly term: string;
  readonly slots: number[];
}

/** So many terms are inserted at their places; for more, sorting is faster. */
const FEW = 50;
/** So many outdated postings never matter. */
const MIN_OUTDATED = 1_000;

export class TermIndex {
  readonly paths: readonly string[];
  private readonly parts: readonly string[];
  private readonly columns: DocumentColumns;
  private readonly entries = new Map<string, Entry>();
  private sorted: Entry[] = [];
  private unsorted: Entry[] = [];
  private postings = 0;
  private outdated = 0;

  constructor(path: string, columns: DocumentColumns) {
    this.paths = [path];
    this.parts = path.split('.');
    this.columns = columns;
    // Changes of the values are noticed through the column.
    columns.values(path);
    this.rebuild();
  }

  /** Called after the document is in its slot. */
  add(slot: number): void {
    for (const term of this.termsOf(slot)) {
      const entry = this.entries.get(term);
      if (entry === undefined) {
        const added = { term, slots: [slot] };
        this.entries.set(term, added);
        this.unsorted.push(added);
      } else entry.slots.push(slot);
      this.postings += 1;
    }
  }

  /** Called while the document is still in its slot. Its postings stay until they are too many. */
  remove(slot: number): void {
    this.outdated += this.termsOf(slot).length;
    if (this.outdated > MIN_OUTDATED && this.outdated > this.postings / 2) this.rebuild(slot);
  }

  /** Undefined for a condition that also matches other values than strings. */
  plan(condition: Scalar | FieldTests): QueryPlan | undefined {
    if (isScalar(condition)) return typeof condition === 'string' ? this.planOf([condition]) : undefined;
    const { $in, $prefix } = condition;
    if ($in?.every((value) => typeof value === 'string') === true) return this.planOf([...new Set($in)]);
    return $prefix === undefined ? undefined : this.toPlan(this.withPrefix($prefix));
  }

  private planOf(terms: readonly string[]): QueryPlan {
    return this.toPlan(terms.flatMap((term) => this.entries.get(term) ?? []));
  }

  private toPlan(entries: readonly Entry[]): QueryPlan {
    const size = entries.reduce((sum, { slots }) => sum + slots.length, 0);
    const lists = (): (readonly number[])[] => entries.map(({ slots }) => slots);
    return unsortedPlan(size, () => distinctSlots(lists(), this.columns.capacity));
  }

  private withPrefix(prefix: string): readonly Entry[] {
    this.settle();
    const start = this.firstNotBelow((term) => term < prefix);
    return this.sorted.slice(
      start,
      this.firstNotBelow((term) => term < prefix || term.startsWith(prefix)),
    );
  }

  private settle(): void {
    const added = this.unsorted;
    if (added.length === 0) return;
    this.unsorted = [];
    if (added.length > FEW) {
      // In the order of UTF-16 units, in which the terms with the same prefix follow each other as well.
      this.sorted = [...this.sorted, ...added].sort((left, right) => (left.term < right.term ? -1 : 1));
      return;
    }
    for (const entry of added)
      this.sorted.splice(
        this.firstNotBelow((term) => term < entry.term),
        0,
        entry,
      );
  }

  /** The position of the first term that is not below. */
  private firstNotBelow(isBelow: (term: string) => boolean): number {
    let low = 0;
    let high = this.sorted.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      const entry = this.sorted[middle];
      if (entry !== undefined && isBelow(entry.term)) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  /** @param except a slot that is about to change or to become empty */
  private rebuild(except?: number): void {
    this.entries.clear();
    this.sorted = [];
    this.unsorted = [];
    this.postings = 0;
    this.outdated = 0;
    for (const slot of this.columns.usedSlots()) if (slot !== except) this.add(slot);
    this.settle();
  }

  private termsOf(slot: number): readonly string[] {
    const values = valuesAt(this.columns.document(slot), this.parts).flat();
    return values.filter((value) => typeof value === 'string');
  }
}
