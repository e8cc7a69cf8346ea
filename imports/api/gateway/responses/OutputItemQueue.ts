/**
 * Orders the output items of a relayed stream one after another, as Open Responses requires: events of the next item
 * wait until the open one is done.
 */
import type { JsonObject } from '../../../business/ai/domain/types/VendorTypes';
import { isObject } from '../../../business/ai/domain/util/json';
import { initialForm } from '../../../business/ai/infrastructure/converters/responses/stream/responsesItems';
import type { UpstreamEvent } from './upstreamEvents';

export class OutputItemQueue {
  private open: number | undefined;
  private readonly emitted = new Map<number, JsonObject>();
  private waiting: UpstreamEvent[] = [];

  /** The items that are done, in order. */
  get closedItems(): readonly JsonObject[] {
    return [...this.emitted].sort(([a], [b]) => a - b).map(([, item]) => item);
  }

  /** @returns the events that can be emitted now */
  push(given: UpstreamEvent): readonly UpstreamEvent[] {
    const { output_index: index, item } = given.event;
    if (typeof index !== 'number') return [given];
    if (this.open !== undefined && this.open !== index && !this.emitted.has(index)) {
      this.waiting.push(given);
      return NONE;
    }
    if (given.type === 'response.output_item.added') {
      this.open = index;
      return [given];
    }
    if (given.type !== 'response.output_item.done' || !isObject(item)) return [given];
    const opening = this.open === index || this.emitted.has(index) ? NONE : [added(index, item)];
    this.open = undefined;
    this.emitted.set(index, item);
    return [...opening, given, ...this.release()];
  }

  /** @returns the remaining events of a completed response: for items that were left open or never streamed */
  flush(output: readonly JsonObject[]): readonly UpstreamEvent[] {
    const events: UpstreamEvent[] = [];
    while (this.open !== undefined) {
      const item = output[this.open];
      if (item === undefined) {
        this.open = undefined;
        events.push(...this.release());
      } else events.push(...this.push(done(this.open, item)));
    }
    output.forEach((item, index) => {
      if (!this.emitted.has(index)) events.push(...this.push(done(index, item)));
    });
    return events;
  }

  private release(): readonly UpstreamEvent[] {
    const { waiting } = this;
    this.waiting = [];
    return waiting.flatMap((each) => this.push(each));
  }
}

const NONE: readonly UpstreamEvent[] = [];

function added(output_index: number, item: JsonObject): UpstreamEvent {
  return { type: 'response.output_item.added', event: { output_index, item: initialForm(item) } };
}

function done(output_index: number, item: JsonObject): UpstreamEvent {
  return { type: 'response.output_item.done', event: { output_index, item } };
}
