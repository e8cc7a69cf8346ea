/** Takes documents one at a time, and returns the first of them in a sort order without storing all. */
import type { FindOptions } from '../DocumentCollection';
import { valuesAt } from './fieldPaths';
import { compareScalars } from './scalars';

interface Keyed<T> {
  readonly document: T;
  readonly keys: readonly unknown[];
}
interface Order {
  readonly parts: readonly string[];
  readonly direction: 1 | -1;
}

/** An array sorts by its least element, or by its greatest in descending order. Equal documents stay in order. */
export class TopDocuments<T extends object> {
  private readonly orders: readonly Order[];
  private readonly limit: number;
  private found: Keyed<T>[] = [];
  /** The last document that is still among the first `limit`, as of the last sort. */
  private last: Keyed<T> | undefined;

  constructor(sort: NonNullable<FindOptions['sort']> = {}, limit = Infinity) {
    this.orders = Object.entries(sort).map(([path, direction]) => ({ parts: path.split('.'), direction }));
    this.limit = limit;
  }

  /** Whether no further document can be among the first. */
  get isFull(): boolean {
    return this.orders.length === 0 && this.found.length >= this.limit;
  }

  add(document: T): void {
    const keyed = { document, keys: this.orders.map((order) => sortKey(document, order)) };
    if (this.last !== undefined && this.compare(keyed, this.last) >= 0) return;
    this.found.push(keyed);
    // Sorting now and then costs less than inserting each document at its place.
    if (this.found.length >= 2 * this.limit + 100) this.sort();
  }

  toArray(): T[] {
    this.sort();
    return this.found.map(({ document }) => document);
  }

  private sort(): void {
    if (this.orders.length > 0) this.found.sort((left, right) => this.compare(left, right));
    if (this.found.length >= this.limit) {
      this.found.length = this.limit;
      this.last = this.found.at(-1);
    }
  }

  private compare(left: Keyed<T>, right: Keyed<T>): number {
    for (const [at, { direction }] of this.orders.entries()) {
      const order = compareKeys(left.keys[at], right.keys[at]);
      if (order !== 0) return order * direction;
    }
    return 0;
  }
}

const EMPTY = Symbol('an empty array, which sorts before null');

function sortKey(document: object, { parts, direction }: Order): unknown {
  const [name = ''] = parts;
  const value = parts.length === 1 ? (document as Readonly<Record<string, unknown>>)[name] : EMPTY;
  // The usual case, without the arrays of the general one.
  if (typeof value === 'number' || typeof value === 'string') return value;
  const found = valuesAt(document, parts).flatMap((one): readonly unknown[] => (Array.isArray(one) ? one : [one]));
  if (found.length === 0) return EMPTY;
  return found.reduce((best, one) => (compareScalars(one, best) * direction < 0 ? one : best));
}

function compareKeys(left: unknown, right: unknown): number {
  if (left === EMPTY || right === EMPTY) return Number(right === EMPTY) - Number(left === EMPTY);
  return typeof left === 'number' && typeof right === 'number' ? left - right : compareScalars(left, right);
}
