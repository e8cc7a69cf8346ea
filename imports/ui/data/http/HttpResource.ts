/** A value that is fetched once, kept current by events, and maintained while it has subscribers. */
import type { AgentEvent } from '../../../business/ai/domain/types/AgentEvents';
import { DashboardError } from '../DashboardData';
import type { Loaded } from '../DashboardData';
import type { EventFeed } from './EventFeed';
import { Observable } from './Observable';
import type { ReadonlyObservable } from './Observable';

export interface HttpResourceOptions<T> {
  readonly feed: EventFeed;
  readonly load: () => Promise<T>;
  /** Returns the value after the events, or the same value when they change nothing. */
  readonly reduce: (value: T, events: readonly AgentEvent[]) => T;
  /** Whether the events change something that only the server can provide. */
  readonly needsReload: (value: T, events: readonly AgentEvent[]) => boolean;
  /** Minimum milliseconds between two reloads that events cause. */
  readonly reloadIntervalMs: number;
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
  private reloadTimer: ReturnType<typeof setTimeout> | undefined;

  constructor(options: HttpResourceOptions<T>) {
    this.options = options;
  }

  readonly get = (): Loaded<T> => this.state.get();

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
    this.options.load().then(
      (value) => this.onLoaded(value),
      (error: unknown) => this.onLoadFailed(error),
    );
  };

  private start(): void {
    this.unsubscribeFromFeed = this.options.feed.subscribe({
      onOpen: this.reload,
      // Without a stream, the fetch reports what is wrong in the server's words.
      onDisconnected: () => {
        if (this.state.get().state === 'loading') this.reload();
      },
      onEvents: (events) => this.applyEvents(events),
    });
  }

  private stop(): void {
    this.unsubscribeFromFeed?.();
    clearTimeout(this.reloadTimer);
    this.reloadTimer = undefined;
  }

  private applyEvents(events: readonly AgentEvent[]): void {
    this.eventsDuringLoad?.push(...events);
    const current = this.state.get();
    if (current.state !== 'ready') return;
    const value = this.options.reduce(current.value, events);
    if (value !== current.value) this.state.set({ state: 'ready', value });
    if (this.options.needsReload(value, events)) this.reloadSoon();
  }

  private reloadSoon(): void {
    this.reloadTimer ??= setTimeout(() => {
      this.reloadTimer = undefined;
      this.reload();
    }, this.options.reloadIntervalMs);
  }

  private onLoaded(loaded: T): void {
    const value = this.options.reduce(loaded, this.eventsDuringLoad ?? []);
    this.state.set({ state: 'ready', value });
    this.finishLoad();
  }

  /** A value that was loaded before stays: an old list is better than none, and the page shows that it is offline. */
  private onLoadFailed(thrown: unknown): void {
    const error =
      thrown instanceof DashboardError
        ? { code: thrown.code, message: thrown.message }
        : { code: 'unexpected', message: String(thrown) };
    if (this.state.get().state !== 'ready') this.state.set({ state: 'failed', error, retry: this.reload });
    this.finishLoad();
  }

  private finishLoad(): void {
    this.eventsDuringLoad = undefined;
    if (!this.isStale) return;
    this.isStale = false;
    if (this.subscriberCount > 0) this.reloadSoon();
  }
}
