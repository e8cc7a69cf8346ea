/** Holds the end of a stream back until the objects of its response are recorded: a client may name them at once. */
import type { EventBatch, EventBatches } from '../../../domain/events/EventBatches';
import type { LLMResponse } from '../../../domain/types/ResponsesAPITypes';
import type { ResponseStreamEvent } from '../../../domain/types/StreamEvents';

export class RecordedEvents implements EventBatches {
  private readonly events: EventBatches;
  private readonly record: (response: LLMResponse) => Promise<void>;
  private held: EventBatch = [];

  constructor(events: EventBatches, record: (response: LLMResponse) => Promise<void>) {
    this.events = events;
    this.record = record;
  }

  async read(): Promise<EventBatch | undefined> {
    for (;;) {
      const completed = this.held.find((event) => event.type === 'response.completed');
      if (completed !== undefined) {
        await this.record(completed.response);
        return this.takeHeld();
      }
      const batch = await this.events.read();
      if (batch === undefined) return this.held.length === 0 ? undefined : this.takeHeld();
      const events = this.held.length === 0 ? batch : [...this.held, ...batch];
      const end = events.findIndex(endsMessage);
      if (end === -1) return events;
      this.held = events.slice(end);
      if (end > 0) return events.slice(0, end);
    }
  }

  close(): Promise<void> {
    return this.events.close();
  }

  private takeHeld(): EventBatch {
    const { held } = this;
    this.held = [];
    return held;
  }
}

/** From here on, a client may refer to the objects. */
function endsMessage(event: ResponseStreamEvent): boolean {
  if (event.type === 'response.completed') return true;
  return event.type === 'wire.message' && (event.event === 'message_stop' || event.data === '[DONE]');
}
