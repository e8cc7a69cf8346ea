/**
 * The result of an operation, loaded while it has subscribers and again whenever one of its topics changes. At most one
 * load is in flight; the last value stays until the next has arrived.
 */
import { DashboardError } from '../DashboardData';
import type { Loaded } from '../DashboardData';
import { Observable } from '../Observable';
import type { ReadonlyObservable } from '../Observable';
import type { ChangeListener } from './ChangeSource';
import { reuseUnchanged } from './reuseUnchanged';

export interface QueryOptions {
  readonly load: () => Promise<unknown>;
  /** @returns unsubscribes */
  readonly subscribe: (listener: ChangeListener) => () => void;
  /** Minimum milliseconds between two loads that changes cause. */
  readonly reloadIntervalMs: number;
  /** Loads while the page is hidden, too. */
  readonly isBackground: boolean;
}

/** Milliseconds that a query without subscribers stays current: one that is mounted again is not loaded twice. */
const RELEASE_DELAY_MS = 1_000;
/** After a load, this many times its duration is left to everything else. */
const REST_FACTOR = 5;
const MAX_REST_MS = 15_000;
/** After a failed load, if nothing else causes one. */
const RETRY_MS = 10_000;
/** The value is gone, so that showing it any longer would mislead. */
const FINAL_CODES = ['not-found', 'permission-denied', 'invalid-request', 'auth-failed'];

export class Query implements ReadonlyObservable<Loaded<unknown>> {
  private readonly options: QueryOptions;
  private readonly state = new Observable<Loaded<unknown>>({ state: 'loading' });
  private subscriberCount = 0;
  private unsubscribe: (() => void) | undefined;
  private releaseTimer: ReturnType<typeof setTimeout> | undefined;
  private reloadTimer: ReturnType<typeof setTimeout> | undefined;
  private isLoading = false;
  /** What has to happen after the load in flight. */
  private pending: 'nothing' | 'reload-soon' | 'reload' = 'nothing';
  /** `performance.now()` before which changes cause no load. */
  private restUntil = 0;

  constructor(options: QueryOptions) {
    this.options = options;
  }

  get hasSubscribers(): boolean {
    return this.subscriberCount > 0;
  }

  readonly get = (): Loaded<unknown> => this.state.get();

  readonly subscribe = (listener: () => void): (() => void) => {
    const unsubscribe = this.state.subscribe(listener);
    this.subscriberCount += 1;
    clearTimeout(this.releaseTimer);
    this.unsubscribe ??= this.options.subscribe({
      onOpen: this.reload,
      // Without the notifications, the load reports what is wrong in the server's words.
      onDisconnected: () => {
        if (this.state.get().state === 'loading') this.reload();
      },
      onChange: this.reloadSoon,
    });
    return () => {
      unsubscribe();
      this.subscriberCount -= 1;
      if (this.subscriberCount === 0) this.releaseTimer = setTimeout(() => this.release(), RELEASE_DELAY_MS);
    };
  };

  /** Loads at once, or as soon as the load in flight has ended. */
  readonly reload = (): void => {
    if (this.isLoading) {
      this.pending = 'reload';
      return;
    }
    clearTimeout(this.reloadTimer);
    this.reloadTimer = undefined;
    this.isLoading = true;
    void this.load();
  };

  private readonly reloadSoon = (): void => {
    if (this.isLoading) {
      if (this.pending === 'nothing') this.pending = 'reload-soon';
      return;
    }
    this.reloadIn(Math.max(this.options.reloadIntervalMs, this.restUntil - performance.now()));
  };

  private reloadIn(milliseconds: number): void {
    this.reloadTimer ??= setTimeout(() => {
      this.reloadTimer = undefined;
      if (this.unsubscribe === undefined) return;
      if (this.options.isBackground) this.reload();
      else whenVisible(this.reload);
    }, milliseconds);
  }

  private async load(): Promise<void> {
    const startedAt = performance.now();
    try {
      const loaded = await this.options.load();
      const current = this.state.get();
      const value = current.state === 'ready' ? reuseUnchanged(current.value, loaded) : loaded;
      if (current.state !== 'ready' || value !== current.value) this.state.set({ state: 'ready', value });
    } catch (thrown) {
      this.onLoadFailed(thrown);
    }
    const now = performance.now();
    this.restUntil = now + Math.min(MAX_REST_MS, REST_FACTOR * (now - startedAt));
    this.isLoading = false;
    const { pending } = this;
    this.pending = 'nothing';
    if (pending === 'reload') this.reload();
    if (pending === 'reload-soon') this.reloadSoon();
  }

  /** A value that was loaded before stays: an old one is better than none, and the page shows that it is offline. */
  private onLoadFailed(thrown: unknown): void {
    const { code, message } =
      thrown instanceof DashboardError ? thrown : new DashboardError('unexpected', String(thrown));
    if (this.state.get().state !== 'ready' || FINAL_CODES.includes(code))
      this.state.set({ state: 'failed', error: { code, message }, retry: this.reload });
    else this.reloadIn(RETRY_MS);
  }

  private release(): void {
    this.unsubscribe?.();
    this.unsubscribe = undefined;
    clearTimeout(this.reloadTimer);
    this.reloadTimer = undefined;
  }
}

/** A hidden page is not updated until it is shown. */
function whenVisible(run: () => void): void {
  if (typeof document === 'undefined' || document.visibilityState === 'visible') run();
  else document.addEventListener('visibilitychange', run, { once: true });
}
