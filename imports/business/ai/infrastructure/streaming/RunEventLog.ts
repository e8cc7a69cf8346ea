/**
 * The events of runs, numbered, for any number of watchers. What happened lately is kept, so that whoever was cut off gets what was missed;
 * who was away for too long is told so. https://html.spec.whatwg.org/multipage/server-sent-events.html#last-event-id
 */
import type { AgentEvent, AgentEventType } from '../../domain/types/AgentEvents';

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

export interface RunWatcher {
  /** Which events are for the watcher. */
  readonly wants: (event: LoggedEvent) => boolean;
  event(event: LoggedEvent): void;
  /** Events that were not seen are not kept any more: what is known of runs has to be fetched anew. */
  missed(): void;
}

export interface EventLogLimits {
  readonly events: number;
  /** UTF-16 units of all kept events together. */
  readonly characters: number;
}

export const DEFAULT_EVENT_LOG_LIMITS: EventLogLimits = { events: 4_000, characters: 16 * 1024 * 1024 };

export class RunEventLog {
  private readonly limits: EventLogLimits;
  private readonly watchers = new Set<RunWatcher>();
  private kept: LoggedEvent[] = [];
  private characters = 0;
  /** Later servers begin higher, so that a number of an earlier one is never taken for one of theirs. */
  private lastId = Date.now() * 1_000;
  private readonly firstId = this.lastId;

  constructor(limits: EventLogLimits = DEFAULT_EVENT_LOG_LIMITS) {
    this.limits = limits;
  }

  get watching(): number {
    return this.watchers.size;
  }

  /** The number of the last event so far. */
  get last(): number {
    return this.lastId;
  }

  /** @param userId whose run it is */
  add(event: AgentEvent, userId: string): void {
    this.lastId += 1;
    const logged = { id: this.lastId, executionId: event.executionId, userId, type: event.type, data: JSON.stringify(event) };
    this.kept.push(logged);
    this.characters += logged.data.length;
    this.shrink();
    for (const watcher of this.watchers) if (watcher.wants(logged)) watcher.event(logged);
  }

  /**
   * Tells the watcher what it missed since the given event, then everything that comes.
   * @param since the number of the last event that was seen; absent: from now on
   * @returns what ends the watching
   */
  watch(watcher: RunWatcher, since?: number): () => void {
    if (since !== undefined) this.catchUp(watcher, since);
    this.watchers.add(watcher);
    return () => this.watchers.delete(watcher);
  }

  private catchUp(watcher: RunWatcher, since: number): void {
    const before = (this.kept[0]?.id ?? this.lastId + 1) - 1;
    if (since < Math.max(before, this.firstId) || since > this.lastId) {
      watcher.missed();
      return;
    }
    for (const event of this.kept) if (event.id > since && watcher.wants(event)) watcher.event(event);
  }

  /** Half of the limits is let go at once, so that the list isn't copied with every event. */
  private shrink(): void {
    const { events, characters } = this.limits;
    if (this.kept.length <= events && this.characters <= characters) return;
    let gone = 0;
    while (gone < this.kept.length - 1 && (this.kept.length - gone > events / 2 || this.characters > characters / 2)) {
      this.characters -= this.kept[gone]?.data.length ?? 0;
      gone += 1;
    }
    this.kept = this.kept.slice(gone);
  }
}
