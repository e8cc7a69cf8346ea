/** Something that is fetched, kept up to date by events, and read for as long as somebody shows it. */
import type { AgentEvent } from '../../../business/ai/domain/types/AgentEvents';
import { DashboardError } from '../DashboardData';
import type { Loaded } from '../DashboardData';
import type { EventFeed } from './EventFeed';
import { Observable } from './Observable';
import type { Readable } from './Observable';

export interface HttpResourcePorts<T> {
  readonly feed: EventFeed;
  readonly load: () => Promise<T>;
  /** The value after the events, or the same value when they change nothing. */
  readonly fold: (value: T, events: readonly AgentEvent[]) => T;
  /** Whether the events tell of something that only the server can say. */
  readonly mustReload: (value: T, events: readonly AgentEvent[]) => boolean;
  /** Milliseconds between two fetches that events ask for. */
  readonly reloadEvery: number;
}

export class HttpResource<T> implements Readable<Loaded<T>> {
  private readonly ports: HttpResourcePorts<T>;
  private readonly shown = new Observable<Loaded<T>>({ state: 'loading' });
  private readers = 0;
  private leave: (() => void) | undefined;
  /** Events that came while the value was fetched; undefined when none is being fetched. */
  private meanwhile: AgentEvent[] | undefined;
  private isStale = false;
  private reloadTimer: ReturnType<typeof setTimeout> | undefined;

  constructor(ports: HttpResourcePorts<T>) {
    this.ports = ports;
  }

  readonly get = (): Loaded<T> => this.shown.get();

  readonly subscribe = (listener: () => void): (() => void) => {
    const unsubscribe = this.shown.subscribe(listener);
    this.readers += 1;
    if (this.readers === 1) this.begin();
    return () => {
      unsubscribe();
      this.readers -= 1;
      if (this.readers === 0) this.end();
    };
  };

  readonly reload = (): void => {
    if (this.meanwhile !== undefined) {
      this.isStale = true;
      return;
    }
    this.meanwhile = [];
    this.ports.load().then(
      (value) => this.show(value),
      (error: unknown) => this.fail(error),
    );
  };

  private begin(): void {
    this.leave = this.ports.feed.listen({
      onOpen: this.reload,
      // The fetch says what is wrong, in the server's words.
      onLost: () => {
        if (this.shown.get().state === 'loading') this.reload();
      },
      onEvents: (events) => this.take(events),
    });
  }

  private end(): void {
    this.leave?.();
    clearTimeout(this.reloadTimer);
    this.reloadTimer = undefined;
  }

  private take(events: readonly AgentEvent[]): void {
    this.meanwhile?.push(...events);
    const shown = this.shown.get();
    if (shown.state !== 'ready') return;
    const value = this.ports.fold(shown.value, events);
    if (value !== shown.value) this.shown.set({ state: 'ready', value });
    if (this.ports.mustReload(value, events)) this.reloadSoon();
  }

  private reloadSoon(): void {
    this.reloadTimer ??= setTimeout(() => {
      this.reloadTimer = undefined;
      this.reload();
    }, this.ports.reloadEvery);
  }

  private show(loaded: T): void {
    const value = this.ports.fold(loaded, this.meanwhile ?? []);
    this.shown.set({ state: 'ready', value });
    this.settle();
  }

  /** What is shown stays: an old list is better than none, and the page tells that the connection is lost. */
  private fail(thrown: unknown): void {
    const error =
      thrown instanceof DashboardError
        ? { code: thrown.code, message: thrown.message }
        : { code: 'unexpected', message: String(thrown) };
    if (this.shown.get().state !== 'ready') this.shown.set({ state: 'failed', error, retry: this.reload });
    this.settle();
  }

  private settle(): void {
    this.meanwhile = undefined;
    if (!this.isStale) return;
    this.isStale = false;
    if (this.readers > 0) this.reloadSoon();
  }
}
