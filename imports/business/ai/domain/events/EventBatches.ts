/** Events in the batches in which they arrived, so that many of them cost one promise. */
import type { ResponseStreamEvent } from '../types/StreamEvents';

export type EventBatch<Event = ResponseStreamEvent> = readonly Event[];

/** What a stream reads from. It is read by one consumer, one batch after the other. */
export interface EventBatches<Event = ResponseStreamEvent> {
  /** @returns events that arrived together; `undefined` at the end, and after a failure or `close` */
  read(): Promise<EventBatch<Event> | undefined>;
  /** Ends the source, even while a read is pending. Has no effect after the end. */
  close(): Promise<void>;
}
