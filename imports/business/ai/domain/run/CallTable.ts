/**
 * The calls of a run in the order in which they were recorded. A table never changes: `with` makes a new one, which
 * costs a copy of one pointer per call, so that a turn may have thousands.
 */
import { isSettled } from '../entities/Tool';
import type { ToolCall } from '../entities/Tool';

export class CallTable implements Iterable<ToolCall> {
  static readonly EMPTY = new CallTable([], new Map(), 0);
  private readonly list: readonly ToolCall[];
  /** The places of calls by their ids. Shared with tables that were made from this one, which only add to it. */
  private readonly places: Map<string, number>;
  /** All calls before this place have settled. */
  private readonly firstOpen: number;

  private constructor(list: readonly ToolCall[], places: Map<string, number>, firstOpen: number) {
    this.list = list;
    this.places = places;
    this.firstOpen = firstOpen;
  }

  static of(calls: Iterable<ToolCall>): CallTable {
    let table = CallTable.EMPTY;
    for (const call of calls) table = table.with(call);
    return table;
  }

  get size(): number {
    return this.list.length;
  }

  get(id: string): ToolCall | undefined {
    const place = this.places.get(id);
    const call = place === undefined ? undefined : this.list[place];
    // The place may be that of another table.
    return call?.id === id ? call : undefined;
  }

  has(id: string): boolean {
    return this.get(id) !== undefined;
  }

  with(call: ToolCall): CallTable {
    const list = this.list.slice();
    let { places } = this;
    let place = places.get(call.id);
    if (place === undefined || list[place]?.id !== call.id) {
      place = list.length;
      // Another table has been made from this one, and shares its places with it.
      if (places.size !== place) places = new Map(list.map(({ id }, at) => [id, at]));
      places.set(call.id, place);
    }
    list[place] = call;
    let { firstOpen } = this;
    for (let first = list[firstOpen]; first !== undefined && isSettled(first); first = list[firstOpen]) firstOpen += 1;
    return new CallTable(list, places, firstOpen);
  }

  /** @param change returns the call itself for one that stays as it is */
  map(change: (call: ToolCall) => ToolCall): CallTable {
    return new CallTable(this.list.map(change), this.places, this.firstOpen);
  }

  [Symbol.iterator](): Iterator<ToolCall> {
    return this.list[Symbol.iterator]();
  }

  /** The calls that another table does not have as they are here. */
  changedSince(other: CallTable): readonly ToolCall[] {
    if (this === other) return [];
    return this.list.filter((call, place) => call !== other.list[place] && call !== other.get(call.id));
  }

  some(predicate: (call: ToolCall) => boolean): boolean {
    return this.list.some(predicate);
  }

  /** The calls that have not settled. */
  get open(): readonly ToolCall[] {
    const open: ToolCall[] = [];
    for (let place = this.firstOpen; place < this.list.length; place += 1) {
      const call = this.list[place];
      if (call !== undefined && !isSettled(call)) open.push(call);
    }
    return open;
  }

  /** Whether there are calls that have not settled, and all of them match. */
  isEveryOpen(predicate: (call: ToolCall) => boolean): boolean {
    let isAnyOpen = false;
    for (let place = this.firstOpen; place < this.list.length; place += 1) {
      const call = this.list[place];
      if (call === undefined || isSettled(call)) continue;
      if (!predicate(call)) return false;
      isAnyOpen = true;
    }
    return isAnyOpen;
  }
}
