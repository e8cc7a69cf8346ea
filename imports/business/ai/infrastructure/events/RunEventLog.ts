/**
 * The events of runs, numbered, for any number of watchers. What happened lately is kept, so that whoever was cut
 * off gets what was missed; who was away for too long is told so.
 * https://html.spec.whatwg.org/multipage/server-sent-events.html#last-event-id
 */
import type { AgentEvent, AgentEventType } from '../../domain/types/AgentEvents';
import { ReplayBuffer } from './ReplayBuffer';
import type { ReplayBufferLimits } from './ReplayBuffer';

export interface LoggedEvent {
  /** Rises by one, also across restarts of the server by a leap. */
  readonly id: number;
  readonly executionId: string;
  /** Whose run it is. */
  readonly userId: string;
  readonly type: AgentEventType;
  /** The event as JSON. */
  readonly data: string;
}

export interface RunSubscriber {
  /** Which events are for the watcher. */
  readonly accepts: (event: LoggedEvent) => boolean;
  event(event: LoggedEvent): void;
  /** Events that were not seen are not kept any more: what is known of runs has to be fetched anew. */
  gap(): void;
}

export const DEFAULT_EVENT_LOG_LIMITS: ReplayBufferLimits = { events: 4_000, characters: 16 * 1024 * 1024 };

export class RunEventLog {
  private readonly buffer: ReplayBuffer<LoggedEvent>;
  private readonly subscribers = new Set<RunSubscriber>();

  constructor(limits: ReplayBufferLimits = DEFAULT_EVENT_LOG_LIMITS) {
    // Later servers begin higher, so that a number of an earlier one is never taken for one of theirs.
    this.buffer = new ReplayBuffer(limits, Date.now() * 1_000);
  }

  get subscriberCount(): number {
    return this.subscribers.size;
  }

  /** The number of the last event so far. */
  get last(): number {
    return this.buffer.last;
  }

  /** @param userId whose run it is */
  add(event: AgentEvent, userId: string): void {
    const logged = {
      id: this.last + 1,
      executionId: event.executionId,
      userId,
      type: event.type,
      data: JSON.stringify(event),
    };
    this.buffer.add(logged);
    for (const subscriber of this.subscribers) if (subscriber.accepts(logged)) subscriber.event(logged);
  }

  /**
   * Tells the watcher what it missed since the given event, then everything that comes.
   * @param since the number of the last event that was seen; absent: from now on
   * @returns what ends the watching
   */
  subscribe(subscriber: RunSubscriber, since?: number): () => void {
    if (since !== undefined) this.replay(subscriber, since);
    this.subscribers.add(subscriber);
    return () => this.subscribers.delete(subscriber);
  }

  private replay(subscriber: RunSubscriber, since: number): void {
    if (since < this.buffer.oldest - 1 || since > this.last) subscriber.gap();
    else for (const event of this.buffer.after(since)) if (subscriber.accepts(event)) subscriber.event(event);
  }
}
