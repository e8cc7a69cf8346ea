/**
 * The server's stream of run events. It is read while it has subscribers and is reopened after a loss; events are
 * handed over in batches, one per scheduled update. Browsers open only six connections to a server, for all pages
 * together, so a hidden page has no stream: it looks for changes now and then, and reopens the stream once it is shown.
 */
import { createParser } from 'eventsource-parser';
import type { AgentEvent } from '../../../business/ai/domain/types/AgentEvents';
import { TOPICS } from '../../../business/ai/domain/types/Topics';
import type { Topic } from '../../../business/ai/domain/types/Topics';
import type { Connection } from '../DashboardData';
import type { HttpConnection } from './HttpConnection';

export interface EventFeedListener {
  /** The stream was opened or reopened, or the server skipped events; whatever was missed has to be fetched. */
  onOpen(): void;
  onEvents(events: readonly AgentEvent[]): void;
  /** Something else has changed. */
  onChanges?(topics: readonly Topic[]): void;
  /** The stream could not be opened, or it broke. Another attempt follows. */
  onDisconnected(): void;
}

export interface EventFeedOptions {
  readonly connection: Pick<HttpConnection, 'openStream'>;
  readonly path: string;
  /** Calls `flush` once, when the page is ready for an update. */
  readonly schedule: (flush: () => void) => void;
  readonly onConnectionChange?: (state: Connection) => void;
  /** Milliseconds to wait before the nth attempt after a loss. */
  readonly backoff?: (attempt: number) => number;
  /** Milliseconds without a byte after which the stream counts as broken; servers send something every 15 seconds. */
  readonly idleTimeoutMs?: number;
  /** Milliseconds between two looks of a hidden page. */
  readonly hiddenIntervalMs?: number;
}

export class EventFeed {
  private readonly options: EventFeedOptions;
  private readonly listeners = new Set<EventFeedListener>();
  private controller: AbortController | undefined;
  /** Aborts the current attempt, or the wait for the next one. */
  private attempt: AbortController | undefined;
  private isOpen = false;
  private isVisible = true;
  /** Remembered between subscriptions, so that the server replays what was missed in between. */
  private lastId: string | undefined;
  private pendingEvents: AgentEvent[] = [];

  constructor(options: EventFeedOptions) {
    this.options = options;
  }

  /** @returns unsubscribes; the stream is closed with its last subscriber */
  subscribe(listener: EventFeedListener): () => void {
    this.listeners.add(listener);
    if (this.controller === undefined) {
      this.controller = new AbortController();
      void this.readUntilAborted(this.controller.signal);
    }
    if (this.isOpen || !this.isVisible) listener.onOpen();
    return () => {
      this.listeners.delete(listener);
      if (this.listeners.size > 0) return;
      this.controller?.abort();
      this.controller = undefined;
      this.isOpen = false;
      this.pendingEvents = [];
    };
  }

  /** Whether someone can see the page. */
  setVisible(isVisible: boolean): void {
    if (isVisible === this.isVisible) return;
    this.isVisible = isVisible;
    this.attempt?.abort();
  }

  /** Reopens the stream immediately, whatever state it appears to be in. */
  reconnect(): void {
    this.attempt?.abort();
  }

  private async readUntilAborted(signal: AbortSignal): Promise<void> {
    const backoff = this.options.backoff ?? ((attempt) => Math.min(10_000, 250 * 2 ** attempt));
    for (let attempt = 0; !signal.aborted; attempt += 1) {
      this.attempt = new AbortController();
      const ended = AbortSignal.any([signal, this.attempt.signal]);
      if (!this.isVisible) {
        await this.pollUntilAborted(ended);
        attempt = -1;
        continue;
      }
      try {
        await this.readStream(ended, () => (attempt = 0));
      } catch {
        // Every failure means the same: the stream is closed.
      }
      this.isOpen = false;
      // The type checker does not see that the signal may have been aborted, or the page hidden, meanwhile.
      if (!(signal.aborted as boolean) && (this.isVisible as boolean)) {
        this.options.onConnectionChange?.('lost');
        for (const listener of this.listeners) listener.onDisconnected();
        if (this.attempt.signal.aborted) this.attempt = new AbortController();
        await delay(backoff(attempt), AbortSignal.any([signal, this.attempt.signal]));
      }
    }
  }

  private async pollUntilAborted(signal: AbortSignal): Promise<void> {
    for (;;) {
      await delay(this.options.hiddenIntervalMs ?? 30_000, signal);
      if (signal.aborted) return;
      for (const listener of this.listeners) listener.onChanges?.(TOPICS);
    }
  }

  private async readStream(signal: AbortSignal, onOpen: () => void): Promise<void> {
    const headers = this.lastId === undefined ? undefined : { 'last-event-id': this.lastId };
    const body = await this.options.connection.openStream(this.options.path, headers ?? {}, signal);
    onOpen();
    this.isOpen = true;
    this.options.onConnectionChange?.('live');
    for (const listener of this.listeners) listener.onOpen();
    const parser = createParser({ onEvent: ({ event, data, id }) => this.receive(event, data, id, signal) });
    const reader = body.pipeThrough(new TextDecoderStream() as ReadableWritablePair<string, Uint8Array>).getReader();
    for (;;) {
      const idleTimer = setTimeout(() => this.reconnect(), this.options.idleTimeoutMs ?? 25_000);
      const { done, value } = await reader.read().finally(() => clearTimeout(idleTimer));
      if (done) return;
      parser.feed(value);
    }
  }

  private receive(event: string | undefined, data: string, id: string | undefined, signal: AbortSignal): void {
    if (signal.aborted) return;
    if (id !== undefined) this.lastId = id;
    if (event === 'resync') {
      for (const listener of this.listeners) listener.onOpen();
      return;
    }
    if (event === 'changes') {
      const { topics } = JSON.parse(data) as { readonly topics: readonly Topic[] };
      for (const listener of this.listeners) listener.onChanges?.(topics);
      return;
    }
    // Agent events all have a colon in their name; control events have none.
    if (event?.includes(':') !== true) return;
    if (this.pendingEvents.length === 0) this.options.schedule(() => this.flush());
    this.pendingEvents.push(JSON.parse(data) as AgentEvent);
  }

  private flush(): void {
    const events = this.pendingEvents;
    this.pendingEvents = [];
    if (events.length > 0) for (const listener of this.listeners) listener.onEvents(events);
  }
}

/** Resolves early when the signal aborts, and leaves no listener behind. */
function delay(milliseconds: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const end = (): void => {
      clearTimeout(timer);
      signal.removeEventListener('abort', end);
      resolve();
    };
    const timer = setTimeout(end, milliseconds);
    if (signal.aborted) end();
    else signal.addEventListener('abort', end);
  });
}
