/**
 * The responses of one conversation as server-sent events, for any number of subscribers. Recent events are
 * buffered, so that a subscriber that joins late or reconnects receives what it missed.
 * https://html.spec.whatwg.org/multipage/server-sent-events.html#last-event-id
 */
import { randomBytes } from 'node:crypto';
import type { AnswerOutput, OutputChannel } from '../../domain/interfaces/OutputChannel';
import { ReplayBuffer } from './ReplayBuffer';
import type { ReplayBufferLimits } from './ReplayBuffer';

export interface ChannelEvent {
  readonly id: string;
  readonly data: string;
}

export interface ChannelSubscriber {
  /** Called first, with the id to reconnect with until an event has arrived. */
  start(id: string): void;
  event(event: ChannelEvent): void;
  /** Events were missed and are no longer buffered. */
  gap(): void;
}

export const DEFAULT_CHANNEL_LIMITS: ReplayBufferLimits = { events: 5_000, characters: 256 * 1024 };

export const DONE = '[DONE]';
const ERROR_PREFIX = 'ERROR: ';

interface ChannelResponse {
  /** Number of its first event; absent while it has none. */
  first?: number;
  /** Number of its last event, once it has ended. */
  last?: number;
  /** At least one subscriber received its end. */
  delivered: boolean;
}

export class ConversationChannel implements OutputChannel {
  private readonly buffer: ReplayBuffer<ChannelEvent>;
  /** Marks event ids as this channel's: ids from before a restart are meaningless here. */
  private readonly epoch = randomBytes(4).toString('hex');
  private readonly subscribers = new Set<ChannelSubscriber>();
  /** The responses that a new subscriber may still need, oldest first; always includes the latest. */
  private responses: ChannelResponse[] = [];

  constructor(limits: ReplayBufferLimits = DEFAULT_CHANNEL_LIMITS) {
    this.buffer = new ReplayBuffer(limits);
  }

  /** Whether there are subscribers or an unfinished response. */
  get isBusy(): boolean {
    return this.subscribers.size > 0 || this.isResponding;
  }

  get isResponding(): boolean {
    return this.responses.some(({ last }) => last === undefined);
  }

  begin(): AnswerOutput {
    const response: ChannelResponse = { delivered: false };
    this.responses.push(response);
    const end = (data: string): void => {
      if (response.last !== undefined) return;
      response.last = this.buffer.last + 1;
      this.publish(response, data);
    };
    return {
      send: (text) => {
        if (response.last !== undefined) return;
        for (const data of escapeMarkers(text)) this.publish(response, data);
      },
      done: () => end(DONE),
      // Clients that read until the end marker would otherwise wait forever.
      fail: (message) => {
        if (response.last === undefined) this.publish(response, ERROR_PREFIX + message.replace(/\s+/g, ' '));
        end(DONE);
      },
    };
  }

  /**
   * Replays what the subscriber missed, then delivers new events. With an event id of this channel, everything after
   * it is replayed; without one, every response whose end no subscriber has received yet, or else the latest response.
   * @returns a function that unsubscribes
   */
  subscribe(subscriber: ChannelSubscriber, lastEventId?: string): () => void {
    const since = this.numberOf(lastEventId) ?? this.firstUndelivered() - 1;
    subscriber.start(this.idOf(since));
    if (since < this.buffer.oldest - 1) subscriber.gap();
    for (const event of this.buffer.after(since)) subscriber.event(event);
    for (const response of this.responses)
      if (response.last !== undefined && response.last > since) response.delivered = true;
    this.subscribers.add(subscriber);
    this.dropDelivered();
    return () => this.subscribers.delete(subscriber);
  }

  private publish(response: ChannelResponse, data: string): void {
    const number = this.buffer.last + 1;
    response.first ??= number;
    const event = { id: this.idOf(number), data };
    this.buffer.add(event);
    this.dropEvicted();
    for (const subscriber of this.subscribers) subscriber.event(event);
    if (response.last === undefined) return;
    response.delivered = this.subscribers.size > 0;
    this.dropDelivered();
  }

  private dropEvicted(): void {
    while (this.responses.length > 1 && (this.responses[0]?.last ?? Infinity) < this.buffer.oldest)
      this.responses.shift();
  }

  private dropDelivered(): void {
    while (this.responses.length > 1 && this.responses[0]?.delivered === true) this.responses.shift();
  }

  private firstUndelivered(): number {
    const response = this.responses.find(({ delivered }) => !delivered) ?? this.responses.at(-1);
    return response?.first ?? this.buffer.last + 1;
  }

  private idOf(number: number): string {
    return `${this.epoch}-${number}`;
  }

  private numberOf(id: string | undefined): number | undefined {
    if (id?.startsWith(`${this.epoch}-`) !== true) return undefined;
    const number = Number(id.slice(this.epoch.length + 1));
    return Number.isSafeInteger(number) && number >= 0 && number <= this.buffer.last ? number : undefined;
  }
}

/** Splits a line of text that looks like an end marker into two events, so that it is not mistaken for one. */
function escapeMarkers(text: string): readonly string[] {
  return text.split(/(?<=(?:^|[\r\n])\[)(?=DONE\](?:[\r\n]|$))|(?<=(?:^|[\r\n])E)(?=RROR: )/);
}
