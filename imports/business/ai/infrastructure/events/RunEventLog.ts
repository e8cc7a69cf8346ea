/**
 * The numbered events of all runs, for any number of subscribers. Recent events are buffered for each user, so that a
 * subscriber that reconnects receives what it missed, or a gap notice if too much happened since.
 * https://html.spec.whatwg.org/multipage/server-sent-events.html#last-event-id
 */
import type { AgentEvent, AgentEventType } from '../../domain/types/AgentEvents';
import { UserEvents } from './UserEvents';
import type { UserEventsLimits } from './UserEvents';

export interface LoggedEvent {
  /** Increases by one per event, and jumps ahead when the server restarts. */
  readonly id: number;
  readonly executionId: string;
  /** The owner of the run. */
  readonly userId: string;
  readonly type: AgentEventType;
  /** The event as JSON. */
  readonly data: string;
}

export interface RunSubscriber {
  /** The user whose events alone are accepted. Absent: those of any user may be. */
  readonly userId?: string;
  /** Whether the subscriber may see the event and wants it. */
  readonly accepts: (event: LoggedEvent) => boolean;
  event(event: LoggedEvent): void;
  /** Events were missed and are no longer buffered: the subscriber has to fetch the state of runs again. */
  gap(): void;
}

/** Of each user. */
export const DEFAULT_EVENT_LOG_LIMITS: UserEventsLimits = {
  events: 4_000,
  characters: 4 * 1024 * 1024,
  totalCharacters: 32 * 1024 * 1024,
};

export class RunEventLog {
  private readonly recent: UserEvents<LoggedEvent>;
  private lastId: number;
  private readonly subscribers = new Set<RunSubscriber>();

  constructor(limits: UserEventsLimits = DEFAULT_EVENT_LOG_LIMITS) {
    // Starting at the time keeps the ids of this server above those of earlier ones, so the two are never confused.
    this.lastId = Date.now() * 1_000;
    this.recent = new UserEvents(limits, this.lastId);
  }

  get subscriberCount(): number {
    return this.subscribers.size;
  }

  /** The number of the last event so far. */
  get last(): number {
    return this.lastId;
  }

  /** @param userId the owner of the run */
  add(event: AgentEvent, userId: string): void {
    const logged = {
      id: this.last + 1,
      executionId: event.executionId,
      userId,
      type: event.type,
      data: JSON.stringify(event),
    };
    this.lastId = logged.id;
    this.recent.add(logged);
    for (const subscriber of this.subscribers) if (subscriber.accepts(logged)) subscriber.event(logged);
  }

  /** Drops the buffered events, so that clients that reconnect fetch the current state instead. */
  clear(): void {
    this.recent.clear(this.lastId);
  }

  /**
   * Replays the events after `since` to the subscriber, then delivers new ones.
   * @param since the id of the last event that the subscriber received; without it, only new events are delivered
   * @returns a function that unsubscribes
   */
  subscribe(subscriber: RunSubscriber, since?: number): () => void {
    if (since !== undefined) this.replay(subscriber, since);
    this.subscribers.add(subscriber);
    return () => this.subscribers.delete(subscriber);
  }

  private replay(subscriber: RunSubscriber, since: number): void {
    const missed = since > this.last ? undefined : this.recent.after(since, subscriber.userId);
    if (missed === undefined) subscriber.gap();
    else for (const event of missed) if (subscriber.accepts(event)) subscriber.event(event);
  }
}
