/**
 * The answers of one conversation as server-sent events, for any number of listeners. What was said lately is kept,
 * so that whoever comes late or was cut off gets what was missed.
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
  /** Where the listening begins: the id to come back with while there was no event yet. */
  start(id: string): void;
  event(event: ChannelEvent): void;
  /** Events that the listener has not seen are not kept any more. */
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
  /** Its end reached somebody. */
  delivered: boolean;
}

export class ConversationChannel implements OutputChannel {
  private readonly buffer: ReplayBuffer<ChannelEvent>;
  /** Event ids of another channel of the same name, from before a restart, say nothing here. */
  private readonly epoch = randomBytes(4).toString('hex');
  private readonly subscribers = new Set<ChannelSubscriber>();
  /** From the first that may still be missed by a new listener; the last one always. */
  private responses: ChannelResponse[] = [];

  constructor(limits: ReplayBufferLimits = DEFAULT_CHANNEL_LIMITS) {
    this.buffer = new ReplayBuffer(limits);
  }

  /** Whether somebody listens, or an answer is still to come. */
  get isBusy(): boolean {
    return this.subscribers.size > 0 || this.isResponding;
  }

  get isResponding(): boolean {
    return this.responses.some(({ last }) => last === undefined);
  }

  begin(): AnswerOutput {
    const answer: ChannelResponse = { delivered: false };
    this.responses.push(answer);
    const end = (data: string): void => {
      if (answer.last !== undefined) return;
      answer.last = this.buffer.last + 1;
      this.publish(answer, data);
    };
    return {
      send: (text) => {
        if (answer.last !== undefined) return;
        for (const piece of escapeMarkers(text)) this.publish(answer, piece);
      },
      done: () => end(DONE),
      fail: (message) => end(ERROR_PREFIX + message.replace(/\s+/g, ' ')),
    };
  }

  /**
   * Tells the listener what it missed, then everything that comes. After a known event id that is all since then;
   * without one it is every answer whose end nobody has heard yet, or else the last answer.
   * @returns what ends the listening
   */
  subscribe(subscriber: ChannelSubscriber, lastEventId?: string): () => void {
    const since = this.numberOf(lastEventId) ?? this.firstUndelivered() - 1;
    subscriber.start(this.idOf(since));
    if (since < this.buffer.oldest - 1) subscriber.gap();
    for (const event of this.buffer.after(since)) subscriber.event(event);
    for (const answer of this.responses) if (answer.last !== undefined && answer.last > since) answer.delivered = true;
    this.subscribers.add(subscriber);
    this.dropDelivered();
    return () => this.subscribers.delete(subscriber);
  }

  private publish(answer: ChannelResponse, data: string): void {
    const number = this.buffer.last + 1;
    answer.first ??= number;
    const event = { id: this.idOf(number), data };
    this.buffer.add(event);
    this.dropEvicted();
    for (const listener of this.subscribers) listener.event(event);
    if (answer.last === undefined) return;
    answer.delivered = this.subscribers.size > 0;
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
    const answer = this.responses.find(({ delivered }) => !delivered) ?? this.responses.at(-1);
    return answer?.first ?? this.buffer.last + 1;
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

/** A line of the answer must not pass for the end of it: such a line is told in two events. */
function escapeMarkers(text: string): readonly string[] {
  return text.split(/(?<=(?:^|[\r\n])\[)(?=DONE\](?:[\r\n]|$))|(?<=(?:^|[\r\n])E)(?=RROR: )/);
}
