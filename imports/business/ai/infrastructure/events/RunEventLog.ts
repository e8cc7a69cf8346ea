/**
 * The numbered events of all runs, for any number of subscribers: those of this process and, while they are watched,
 * those of others. Recent events are buffered for each user, so that a subscriber that reconnects to any process
 * receives what it missed, or a gap notice if that is not available.
 * https://html.spec.whatwg.org/multipage/server-sent-events.html#last-event-id
 */
import type { EventSegment, OriginEvent } from '../../domain/interfaces/RunEventStore';
import type { AgentEvent, AgentEventType } from '../../domain/types/AgentEvents';
import { HeardOrigins } from './HeardOrigins';
import { readCursor, writeCursor } from './RunEventCursor';
import type { RunEventCursor } from './RunEventCursor';
import { UserEvents } from './UserEvents';
import type { UserEventsLimits } from './UserEvents';

export interface LoggedEvent {
  /** Increases by one per event, and jumps ahead when the server restarts. */
  readonly id: number;
  /** The event id of streams of its user: see `RunEventLog.positionFor`. */
  readonly position: string;
  /** The event id of streams of everyone's events. */
  readonly positionForAll: string;
  /** The other process that the event comes from, and its number there. */
  readonly remote?: { readonly origin: string; readonly number: number } | undefined;
  readonly executionId: string;
  /** The owner of the run. */
  readonly userId: string;
  readonly type: AgentEventType;
  /** Milliseconds since the epoch. */
  readonly at: number;
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

/** The limits of each user's events and, in `totalCharacters`, of all users' together. */
export const DEFAULT_EVENT_LOG_LIMITS: UserEventsLimits = {
  events: 4_000,
  characters: 4 * 1024 * 1024,
  totalCharacters: 32 * 1024 * 1024,
};

/** Other processes, whose events are added with `addRemote`. */
export interface RemoteEvents {
  /** The id of this process: eight hexadecimal digits. */
  readonly self: string;
  /**
   * How late events of other processes may be, and how far clocks may be apart, in milliseconds. A subscriber may
   * receive events that are so much older than its subscription.
   */
  readonly lateness: number;
  /** @param userId whose events are wanted from now on. Absent: those of everyone @returns ends it */
  watch(userId: string | undefined): () => void;
}

interface Subscription {
  readonly subscriber: RunSubscriber;
  /** What the subscriber has of other processes. */
  readonly from: RunEventCursor;
}

export class RunEventLog {
  private readonly recent: UserEvents<LoggedEvent>;
  private readonly remote: RemoteEvents | undefined;
  private readonly heard = new HeardOrigins();
  private lastId: number;
  private readonly subscriptions = new Set<Subscription>();

  /** @param remote absent: there are no other processes */
  constructor(limits: UserEventsLimits = DEFAULT_EVENT_LOG_LIMITS, remote?: RemoteEvents) {
    // Starting at the time keeps the ids of this server above those of earlier ones, so the two are never confused.
    this.lastId = Date.now() * 1_000;
    this.recent = new UserEvents(limits, this.lastId);
    this.remote = remote;
  }

  get subscriberCount(): number {
    return this.subscriptions.size;
  }

  /** The number of the last event so far. */
  get last(): number {
    return this.lastId;
  }

  /**
   * What a subscriber that has received everything so far can resume from, in any process.
   * @param userId whose events alone it receives: those of other users may arrive before earlier ones of theirs
   */
  positionFor(userId: string | undefined): string {
    if (this.remote === undefined) return String(this.lastId);
    return writeCursor({
      at: Date.now(),
      numbers: new Map([[this.remote.self, this.lastId], ...this.heard.numbers(userId)]),
    });
  }

  /** @param userId the owner of the run */
  add(event: AgentEvent, userId: string): void {
    this.append(event, userId);
  }

  /**
   * Adds an event of another process, unless it is known.
   * @returns whether it was new
   */
  addRemote(origin: string, { number, event }: OriginEvent, userId: string): boolean {
    if (!this.heard.add(origin, userId, number)) return false;
    this.append(event, userId, { origin, number });
    return true;
  }

  /** Everything that the segment covers has been added, or will be. */
  cover({ origin, userId, after, upTo, hasGap }: Omit<EventSegment, 'batch' | 'events'>): void {
    const isNew = this.heard.cover(origin, userId, after, upTo);
    if (hasGap === true && isNew) this.notifyOfGap(userId);
  }

  /** Events of other processes were not read in time. */
  lose(): void {
    this.heard.forget(undefined);
    this.notifyOfGap();
  }

  /** The events of that user, or of all, are not watched any more. */
  forget(userId: string | undefined): void {
    this.heard.forget(userId);
  }

  /**
   * This process's own events after that number, oldest first.
   * @returns undefined if some were dropped
   */
  ownAfter(id: number, userId?: string): readonly LoggedEvent[] | undefined {
    return this.recent.after(id, userId)?.filter(({ remote }) => remote === undefined);
  }

  /** The users of whom events are buffered. */
  userIds(): readonly string[] {
    return this.recent.userIds();
  }

  /** The number after which the latest events have about so many characters. */
  latestAfter(characters: number, userId?: string): number {
    return this.recent.latestAfter(characters, userId);
  }

  /** Drops the buffered events, so that clients that reconnect fetch the current state instead. */
  clear(): void {
    this.recent.clear(this.lastId);
  }

  /**
   * Replays the events after `since` to the subscriber, then delivers new ones.
   * @param since the number of the last event that the subscriber received, or its position in any process; without
   *   it, only new events are delivered
   * @returns a function that unsubscribes
   */
  subscribe(subscriber: RunSubscriber, since?: number | string): () => void {
    const stopWatching = this.remote?.watch(subscriber.userId);
    const cursor = typeof since === 'string' ? readCursor(since) : undefined;
    const subscription = { subscriber, from: cursor ?? { at: Date.now(), numbers: new Map<string, number>() } };
    if (cursor !== undefined) this.resume(subscription, cursor);
    else if (since !== undefined) this.replay(subscription, toNumber(since));
    this.subscriptions.add(subscription);
    const stopWaiting = this.awaitCoverage(subscription, cursor);
    return () => {
      this.subscriptions.delete(subscription);
      stopWaiting();
      stopWatching?.();
    };
  }

  /** Delivers the events after that one again. @param since the id of an event that the subscriber has received */
  repeat(subscriber: RunSubscriber, since: number): void {
    const subscription = [...this.subscriptions].find((each) => each.subscriber === subscriber);
    if (subscription === undefined) return;
    const missed = this.recent.after(since, subscriber.userId);
    if (missed === undefined) subscriber.gap();
    else for (const event of missed) this.deliver(event, subscription);
  }

  private get lateness(): number {
    return this.remote?.lateness ?? 0;
  }

  private notifyOfGap(userId?: string): void {
    for (const { subscriber } of this.subscriptions)
      if (userId === undefined || subscriber.userId === undefined || subscriber.userId === userId) subscriber.gap();
  }

  private append(event: AgentEvent, userId: string, remote?: LoggedEvent['remote']): void {
    this.lastId += 1;
    const { executionId, type, at } = event;
    const positions = { position: this.positionFor(userId), positionForAll: this.positionFor(undefined) };
    const data = JSON.stringify(event);
    const logged: LoggedEvent = { id: this.lastId, ...positions, remote, executionId, userId, type, at, data };
    this.recent.add(logged);
    for (const subscription of this.subscriptions) this.deliver(logged, subscription);
  }

  private deliver(event: LoggedEvent, { subscriber, from }: Subscription): void {
    if (event.remote !== undefined && !this.isAfter(from, event.remote.origin, event.remote.number, event.at)) return;
    if (subscriber.accepts(event)) subscriber.event(event);
  }

  private replay({ subscriber }: Subscription, since: number): void {
    const missed = since > this.last ? undefined : this.recent.after(since, subscriber.userId);
    if (missed === undefined) subscriber.gap();
    else for (const event of missed) if (subscriber.accepts(event)) subscriber.event(event);
  }

  /** What is buffered here and the subscriber does not have. */
  private resume(subscription: Subscription, cursor: RunEventCursor): void {
    const { subscriber } = subscription;
    const self = this.remote?.self ?? '';
    const own = cursor.numbers.get(self);
    // From another process: everything that is not older than the cursor.
    const since = own ?? this.recent.latestAfter(Infinity, subscriber.userId);
    const buffered = own !== undefined && own > this.last ? undefined : this.recent.after(since, subscriber.userId);
    if (buffered === undefined) {
      subscriber.gap();
      return;
    }
    for (const event of buffered)
      if (event.remote !== undefined || this.isAfter(cursor, self, event.id, event.at))
        this.deliver(event, subscription);
  }

  private isAfter({ at, numbers }: RunEventCursor, origin: string, number: number, time: number): boolean {
    const known = numbers.get(origin);
    return known === undefined ? time >= at - this.lateness : number > known;
  }

  /** Notifies of a gap if what another process has emitted since the cursor does not arrive. @returns stops it */
  private awaitCoverage({ subscriber }: Subscription, cursor: RunEventCursor | undefined): () => void {
    const isMissing = ([origin, number]: readonly [string, number]): boolean =>
      origin !== this.remote?.self && !this.heard.covers(origin, subscriber.userId, number);
    const missing = [...(cursor?.numbers ?? [])].filter(isMissing);
    if (missing.length === 0) return () => undefined;
    const timer = setTimeout(() => {
      if (missing.some(isMissing)) subscriber.gap();
    }, this.lateness);
    return () => clearTimeout(timer);
  }
}

/** An invalid id counts as the oldest one, so that the client fetches the current state. */
function toNumber(id: number | string): number {
  const number = Number(id);
  return Number.isSafeInteger(number) && number >= 0 ? number : 0;
}
