/**
 * The calls of a run in the order in which they were recorded. A table never changes: `with` makes a new one, which
 * costs a copy of one pointer per call, so that a turn may have thousands.
 */
import { isSettled } from '../entities/Tool';
import type { ToolCall } from '../entities/Tool';

/** So many calls are found as fast without a map, which every run that waits would keep. */
const FEW = 4;

export class CallTable implements Iterable<ToolCall> {
  static readonly EMPTY = new CallTable([], undefined, 0);
  private readonly list: readonly ToolCall[];
  /**
   * The places of calls by their ids, once there are many. Shared with tables that were made from this one, which only
   * add to it.
   */
  private readonly places: Map<string, number> | undefined;
  /** All calls before this place have settled. */
  private readonly firstOpen: number;

  private constructor(list: readonly ToolCall[], places: Map<string, number> | undefined, firstOpen: number) {
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
    const place = this.placeOf(id);
    return place === undefined ? undefined : this.list[place];
  }

  has(id: string): boolean {
    return this.placeOf(id) !== undefined;
  }

  with(call: ToolCall): CallTable {
    const known = this.placeOf(call.id);
    const list = this.list.slice();
    list[known ?? list.length] = call;
    const places = known === undefined ? this.placesWith(call.id) : this.places;
    let { firstOpen } = this;
    for (let first = list[firstOpen]; first !== undefined && isSettled(first); first = list[firstOpen]) firstOpen += 1;
    return new CallTable(list, places, firstOpen);
  }

  private placeOf(id: string): number | undefined {
    const { list, places } = this;
    if (places === undefined) {
      for (let place = 0; place < list.length; place += 1) if (list[place]?.id === id) return place;
      return undefined;
    }
    const place = places.get(id);
    // It may be that of another table.
    return place !== undefined && list[place]?.id === id ? place : undefined;
  }

  /** The places with those of a new call, at the end. */
  private placesWith(id: string): Map<string, number> | undefined {
    const { list } = this;
    if (list.length < FEW) return undefined;
    // Another table that has been made from this one may share its places with it.
    const own = this.places?.size === list.length ? this.places : undefined;
    const places = own ?? new Map(list.map((call, at) => [call.id, at]));
    return places.set(id, list.length);
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
    const changed: ToolCall[] = [];
    // A loop, since it runs several times a turn over all calls of the run.
    for (let place = 0; place < this.list.length; place += 1) {
      const call = this.list[place];
      if (call !== undefined && call !== other.list[place] && call !== other.get(call.id)) changed.push(call);
    }
    return changed;
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
