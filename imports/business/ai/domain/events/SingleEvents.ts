/** Events that arrive one by one, as batches. */
import type { EventBatch, EventBatches } from './EventBatches';

export class SingleEvents<Event> implements EventBatches<Event> {
  private readonly events: AsyncIterable<Event>;
  private iterator: AsyncIterator<Event> | undefined;
  private isDone = false;

  constructor(events: AsyncIterable<Event>) {
    this.events = events;
  }

  async read(): Promise<EventBatch<Event> | undefined> {
    if (this.isDone) return undefined;
    this.iterator ??= this.events[Symbol.asyncIterator]();
    try {
      const step = await this.iterator.next();
      if (step.done !== true) return [step.value];
    } catch (error) {
      this.isDone = true;
      throw error;
    }
    this.isDone = true;
    return undefined;
  }

  async close(): Promise<void> {
    if (this.isDone) return;
    this.isDone = true;
    await this.iterator?.return?.();
  }
}
