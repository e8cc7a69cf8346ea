/**
 * The server's stream of run events, read for as long as somebody listens; what arrived by the next step is handed
 * on at once.
 */
import { createParser } from 'eventsource-parser';
import type { AgentEvent } from '../../../business/ai/domain/types/AgentEvents';
import type { Connection } from '../DashboardData';
import type { HttpConnection } from './HttpConnection';

export interface FeedListener {
  /** The stream is there, for the first time or again; what happened in between has to be fetched. */
  onOpen(): void;
  onEvents(events: readonly AgentEvent[]): void;
  /** The stream could not be opened, or broke; it is tried again. */
  onLost(): void;
}

export interface EventFeedPorts {
  readonly connection: Pick<HttpConnection, 'open'>;
  readonly path: string;
  /** Calls back once, when the page takes in what came. */
  readonly schedule: (flush: () => void) => void;
  readonly onState?: (state: Connection) => void;
  /** Milliseconds to wait before the nth attempt after a loss. */
  readonly backoff?: (attempt: number) => number;
  /** Milliseconds without a byte after which the stream counts as broken; servers send something every 15 seconds. */
  readonly longestSilence?: number;
}

export class EventFeed {
  private readonly ports: EventFeedPorts;
  private readonly listeners = new Set<FeedListener>();
  private controller: AbortController | undefined;
  /** Ends the attempt, or the wait for the next one. */
  private hurry: AbortController | undefined;
  private isOpen = false;
  /** Kept for who listens again: what happened in between is told then. */
  private lastId: string | undefined;
  private queue: AgentEvent[] = [];

  constructor(ports: EventFeedPorts) {
    this.ports = ports;
  }

  listen(listener: FeedListener): () => void {
    this.listeners.add(listener);
    if (this.controller === undefined) {
      this.controller = new AbortController();
      void this.read(this.controller.signal);
    } else if (this.isOpen) listener.onOpen();
    return () => {
      this.listeners.delete(listener);
      if (this.listeners.size > 0) return;
      this.controller?.abort();
      this.controller = undefined;
      this.isOpen = false;
      this.queue = [];
    };
  }

  /** Whatever the stream seems to be: opens it anew, now. */
  reconnect(): void {
    this.hurry?.abort();
  }

  private async read(signal: AbortSignal): Promise<void> {
    const backoff = this.ports.backoff ?? ((attempt) => Math.min(10_000, 250 * 2 ** attempt));
    for (let attempt = 0; !signal.aborted; attempt += 1) {
      this.hurry = new AbortController();
      try {
        await this.readOnce(AbortSignal.any([signal, this.hurry.signal]), () => (attempt = 0));
      } catch {
        // Whatever it was, the stream is not there.
      }
      this.isOpen = false;
      // It may have been aborted while it was read.
      if (!(signal.aborted as boolean)) {
        this.ports.onState?.('lost');
        for (const listener of this.listeners) listener.onLost();
        if (this.hurry.signal.aborted) this.hurry = new AbortController();
        await pause(backoff(attempt), AbortSignal.any([signal, this.hurry.signal]));
      }
    }
  }

  private async readOnce(signal: AbortSignal, onOpen: () => void): Promise<void> {
    const headers = this.lastId === undefined ? undefined : { 'last-event-id': this.lastId };
    const body = await this.ports.connection.open(this.ports.path, headers ?? {}, signal);
    onOpen();
    this.isOpen = true;
    this.ports.onState?.('live');
    for (const listener of this.listeners) listener.onOpen();
    const parser = createParser({ onEvent: ({ event, data, id }) => this.take(event, data, id, signal) });
    const reader = body.pipeThrough(new TextDecoderStream() as ReadableWritablePair<string, Uint8Array>).getReader();
    for (;;) {
      const silence = setTimeout(() => this.reconnect(), this.ports.longestSilence ?? 45_000);
      const { done, value } = await reader.read().finally(() => clearTimeout(silence));
      if (done) return;
      parser.feed(value);
    }
  }

  private take(event: string | undefined, data: string, id: string | undefined, signal: AbortSignal): void {
    if (signal.aborted) return;
    if (id !== undefined) this.lastId = id;
    if (event === 'resync') {
      for (const listener of this.listeners) listener.onOpen();
      return;
    }
    // The stream carries the events of the domain's union, and the two words above.
    if (event?.includes(':') !== true) return;
    if (this.queue.length === 0) this.ports.schedule(() => this.flush());
    this.queue.push(JSON.parse(data) as AgentEvent);
  }

  private flush(): void {
    const events = this.queue;
    this.queue = [];
    if (events.length > 0) for (const listener of this.listeners) listener.onEvents(events);
  }
}

function pause(milliseconds: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, milliseconds);
    const wake = (): void => {
      clearTimeout(timer);
      resolve();
    };
    signal.addEventListener('abort', wake, { once: true });
  });
}
