/** A value that is fetched once, kept current by events, and maintained while it has subscribers. */
import type { AgentEvent } from '../../../business/ai/domain/types/AgentEvents';
import { DashboardError } from '../DashboardData';
import type { Loaded } from '../DashboardData';
import type { EventFeed } from './EventFeed';
import { Observable } from '../Observable';
import type { ReadonlyObservable } from '../Observable';

export interface HttpResourceOptions<T> {
  readonly feed: EventFeed;
  readonly load: () => Promise<T>;
  /** Returns the value after the events, or the same value when they change nothing. */
  readonly reduce: (value: T, events: readonly AgentEvent[]) => T;
  /** Whether the events change something that only the server can provide. */
  readonly needsReload: (value: T, events: readonly AgentEvent[]) => boolean;
  /** Minimum milliseconds between two reloads that events cause. */
  readonly reloadIntervalMs: number;
  /**
   * Whether no event can change the value any more. Such a value is loaded before its feed is read, and a feed that
   * opens too late for the last events is closed: browsers open only six connections to a server. Default: never.
   */
  readonly isFinal?: (value: T) => boolean;
  /** Whether no event follows these: the feed is closed at once. Default: never. */
  readonly isLast?: (events: readonly AgentEvent[]) => boolean;
}

export class HttpResource<T> implements ReadonlyObservable<Loaded<T>> {
  private readonly options: HttpResourceOptions<T>;
  private readonly state = new Observable<Loaded<T>>({ state: 'loading' });
  private subscriberCount = 0;
  private unsubscribeFromFeed: (() => void) | undefined;
  /** Events that arrived while the value was being fetched; undefined when no fetch is in flight. */
  private eventsDuringLoad: AgentEvent[] | undefined;
  /** A reload was requested while one was in flight. */
  private isStale = false;
  /** The feed was opened since the last load began, so events may have passed unseen. */
  private mayHaveMissedEvents = false;
  private reloadTimer: ReturnType<typeof setTimeout> | undefined;

  constructor(options: HttpResourceOptions<T>) {
    this.options = options;
  }

  readonly get = (): Loaded<T> => this.state.get();

  get hasSubscribers(): boolean {
    return this.subscriberCount > 0;
  }

  readonly subscribe = (listener: () => void): (() => void) => {
    const unsubscribe = this.state.subscribe(listener);
    this.subscriberCount += 1;
    if (this.subscriberCount === 1) this.start();
    return () => {
      unsubscribe();
      this.subscriberCount -= 1;
      if (this.subscriberCount === 0) this.stop();
    };
  };

  readonly reload = (): void => {
    if (this.eventsDuringLoad !== undefined) {
      this.isStale = true;
      return;
    }
    this.eventsDuringLoad = [];
    const isCatchingUp = this.mayHaveMissedEvents;
    this.mayHaveMissedEvents = false;
    this.options.load().then(
      (value) => this.onLoaded(value, isCatchingUp),
      (error: unknown) => this.onLoadFailed(error),
    );
  };

  private start(): void {
    const { isFinal } = this.options;
    const current = this.state.get();
    if (isFinal === undefined) this.followFeed();
    else if (current.state === 'loading') this.reload();
    else if (current.state === 'failed' || !isFinal(current.value)) this.followFeed();
  }

  private followFeed(): void {
    this.unsubscribeFromFeed ??= this.options.feed.subscribe({
      onOpen: () => {
        this.mayHaveMissedEvents = true;
        this.reload();
      },
      // Without a stream, the fetch reports what is wrong in the server's words.
      onDisconnected: () => {
        if (this.state.get().state === 'loading') this.reload();
      },
      onEvents: (events) => this.applyEvents(events),
    });
  }

  private stop(): void {
    this.leaveFeed();
    clearTimeout(this.reloadTimer);
    this.reloadTimer = undefined;
  }

  private leaveFeed(): void {
    this.unsubscribeFromFeed?.();
    this.unsubscribeFromFeed = undefined;
  }

  private applyEvents(events: readonly AgentEvent[]): void {
    this.eventsDuringLoad?.push(...events);
    const current = this.state.get();
    if (current.state !== 'ready') return;
    const value = this.options.reduce(current.value, events);
    if (value !== current.value) this.state.set({ state: 'ready', value });
    if (this.options.needsReload(value, events)) this.reloadSoon();
    // Before the reload: browsers open six connections to a server, and ended feeds must not starve it of the last.
    if (this.options.isLast?.(events) === true) this.leaveFeed();
  }

  private reloadSoon(): void {
    this.reloadTimer ??= setTimeout(() => {
      this.reloadTimer = undefined;
      this.reload();
    }, this.options.reloadIntervalMs);
  }

  private onLoaded(loaded: T, isCatchingUp: boolean): void {
    const value = this.options.reduce(loaded, this.eventsDuringLoad ?? []);
    this.state.set({ state: 'ready', value });
    this.finishLoad();
    if (this.options.isFinal === undefined) return;
    if (!this.options.isFinal(value)) {
      if (this.subscriberCount > 0) this.followFeed();
      return;
    }
    // The last events may still be on their way, and end the feed themselves.
    if (isCatchingUp) this.leaveFeed();
  }

  /** A value that was loaded before stays: an old list is better than none, and the page shows that it is offline. */
  private onLoadFailed(thrown: unknown): void {
    const error =
      thrown instanceof DashboardError
        ? { code: thrown.code, message: thrown.message }
        : { code: 'unexpected', message: String(thrown) };
    if (this.state.get().state !== 'ready') this.state.set({ state: 'failed', error, retry: this.reload });
    this.finishLoad();
    // Once the feed opens, the value is loaded again.
    if (this.options.isFinal !== undefined && this.subscriberCount > 0) this.followFeed();
  }

  private finishLoad(): void {
    this.eventsDuringLoad = undefined;
    if (!this.isStale) return;
    this.isStale = false;
    if (this.subscriberCount > 0) this.reloadSoon();
  }
}
