/**
 * The responses of one conversation as server-sent events, for any number of subscribers. Recent events are
 * buffered, so that a subscriber that joins late or reconnects receives what it missed.
 * https://html.spec.whatwg.org/multipage/server-sent-events.html#last-event-id
 */
import { randomBytes } from 'node:crypto';
import type { ChatOutcome } from '../../domain/interfaces/ChatTurnStore';
import type { AnswerOutput, OutputChannel } from '../../domain/interfaces/OutputChannel';
import { omitUndefined } from '../../domain/util/omitUndefined';
import { hashText, positionIn, writePosition } from './AnswerPosition';
import type { AnswerPosition } from './AnswerPosition';
import { ReplayBuffer } from './ReplayBuffer';
import type { ReplayBufferLimits } from './ReplayBuffer';

export interface ChannelEvent {
  readonly id: string;
  readonly data: string;
  /** What the subscriber has of the current answer is void: the answer begins again. Default: text, or its end. */
  readonly type?: 'restarted';
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
export const ERROR_PREFIX = 'ERROR: ';
const RESTARTED = 'The answer begins again.';

interface ChannelResponse {
  /** The message's id, which is the same in all processes. */
  readonly id?: string;
  /** UTF-16 code units of the text since it last began. */
  length: number;
  hash: number;
  /** Number of its first event; absent while it has none. */
  first?: number;
  /** Number of its last event, once it has ended. */
  last?: number;
  /** At least one subscriber received its end. */
  delivered: boolean;
  /** This process writes the answer, or has written it. */
  isOwn: boolean;
  /** How often this process has begun to write it. */
  begun: number;
}

interface BufferedEvent extends ChannelEvent {
  readonly response: ChannelResponse;
  readonly kind: 'text' | 'restarted' | 'end';
}

export class ConversationChannel implements OutputChannel {
  private readonly buffer: ReplayBuffer<BufferedEvent>;
  /** Marks event ids as this channel's: ids from before a restart are meaningless here. */
  private readonly epoch = randomBytes(4).toString('hex');
  private readonly subscribers = new Set<(event: BufferedEvent) => void>();
  /** The responses that a new subscriber may still need, oldest first; always includes the latest. */
  private responses: ChannelResponse[] = [];
  /** The responses whose events may be buffered, by the ids of their messages, oldest first. */
  private readonly named = new Map<string, ChannelResponse>();

  constructor(limits: ReplayBufferLimits = DEFAULT_CHANNEL_LIMITS) {
    this.buffer = new ReplayBuffer(limits);
  }

  /** Whether there are subscribers or an unfinished response. */
  get isBusy(): boolean {
    return this.subscribers.size > 0 || this.isResponding;
  }

  get isResponding(): boolean {
    return this.responses.some(({ last, isOwn }) => isOwn && last === undefined);
  }

  /** The id of the last message whose answer was begun or announced here. */
  get latestAnswerId(): string | undefined {
    return [...this.named.keys()].at(-1);
  }

  /** Whether the answer to the message with that id was begun or announced here. */
  has(id: string): boolean {
    return this.named.has(id);
  }

  /** Whether this process writes the answer to that message, or has written it. */
  isOwn(id: string): boolean {
    return this.named.get(id)?.isOwn === true;
  }

  begin(id?: string): AnswerOutput {
    const response = this.responseTo(id);
    response.isOwn = true;
    response.begun += 1;
    return this.outputOf(response);
  }

  /** Another process answers the message with that id. */
  announce(id: string): void {
    this.responseTo(id);
  }

  /** Writes the beginning of an answer that another process gives. It has no effect once this one gives it. */
  follow(id: string): AnswerOutput {
    const response = this.responseTo(id);
    const { begun } = response;
    const output = this.outputOf(response);
    const isVoid = (): boolean => response.isOwn || response.begun !== begun;
    return {
      send: (text) => (isVoid() ? undefined : output.send(text)),
      restart: () => (isVoid() ? undefined : output.restart()),
      complete: (text) => (isVoid() ? undefined : output.complete(text)),
      catchUp: (text) => !isVoid() && output.catchUp(text),
      done: () => output.done(),
      fail: (message) => output.fail(message),
    };
  }

  /** Completes an answer of another process, unless this one writes it. */
  fill(id: string, { text, failure }: ChatOutcome): void {
    const response = this.responseTo(id);
    if (response.isOwn || response.last !== undefined) return;
    const output = this.outputOf(response);
    output.complete(text);
    if (text === '') output.send(text);
    if (failure === undefined) output.done();
    else output.fail(failure);
  }

  /**
   * Replays what the subscriber missed, then delivers new events. With an event id of this channel, everything after
   * it is replayed. With one of another process: the rest of that answer, if this process has begun it, or all of it
   * after a `restarted` event if it turns out differently. Without one, every response whose end no subscriber has
   * received yet, or else the latest response.
   * @returns a function that unsubscribes
   */
  subscribe(subscriber: ChannelSubscriber, lastEventId?: string): () => void {
    const resumed = this.resumed(lastEventId);
    const since = this.numberOf(lastEventId) ?? resumed?.since ?? this.firstUndelivered() - 1;
    const deliver =
      resumed?.position === undefined
        ? (event: BufferedEvent): void => subscriber.event(toEvent(event))
        : resume(subscriber, resumed.position);
    subscriber.start(resumed?.position === undefined ? this.idOf(since) : (lastEventId ?? ''));
    if (since < this.buffer.oldest - 1) subscriber.gap();
    for (const event of this.buffer.after(since)) deliver(event);
    for (const response of this.responses)
      if (response.last !== undefined && response.last > since) response.delivered = true;
    this.subscribers.add(deliver);
    this.dropDelivered();
    return () => this.subscribers.delete(deliver);
  }

  private responseTo(id: string | undefined): ChannelResponse {
    const known = id === undefined ? undefined : this.named.get(id);
    if (known !== undefined) return known;
    const response: ChannelResponse = omitUndefined({
      id,
      length: 0,
      hash: hashText(''),
      delivered: false,
      isOwn: false,
      begun: 0,
    });
    this.responses.push(response);
    if (id !== undefined) this.named.set(id, response);
    return response;
  }

  private outputOf(response: ChannelResponse): Required<AnswerOutput> {
    const end = (): void => {
      if (response.last !== undefined) return;
      response.last = this.buffer.last + 1;
      this.publish(response, 'end', DONE);
    };
    const complete = (text: string): void => {
      if (response.last !== undefined) return;
      for (const { data, type = 'text' } of restOf(text, response.length, response.hash))
        this.publish(response, type, data);
    };
    return {
      send: (text) => {
        if (response.last !== undefined) return;
        for (const data of escapeMarkers(text)) this.publish(response, 'text', data);
      },
      restart: () => {
        if (response.last === undefined && response.length > 0) this.publish(response, 'restarted', RESTARTED);
      },
      complete,
      catchUp: (text) => {
        if (text.length < response.length) return false;
        complete(text);
        return true;
      },
      handOver: () => {
        response.isOwn = false;
      },
      done: end,
      // Clients that read until the end marker would otherwise wait forever.
      fail: (message) => {
        if (response.last === undefined) this.publish(response, 'end', ERROR_PREFIX + message.replace(/\s+/g, ' '));
        end();
      },
    };
  }

  private publish(response: ChannelResponse, kind: BufferedEvent['kind'], data: string): void {
    const number = this.buffer.last + 1;
    response.first ??= number;
    if (kind === 'text') {
      response.length += data.length;
      response.hash = hashText(data, response.hash);
    } else if (kind === 'restarted') {
      response.length = 0;
      response.hash = hashText('');
    }
    const event = { id: this.idOf(number, response), data, response, kind };
    this.buffer.add(event);
    this.dropEvicted();
    for (const deliver of this.subscribers) deliver(event);
    if (response.last === undefined) return;
    response.delivered = this.subscribers.size > 0;
    this.dropDelivered();
  }

  private dropEvicted(): void {
    while (this.responses.length > 1 && (this.responses[0]?.last ?? Infinity) < this.buffer.oldest)
      this.responses.shift();
    for (const [id, { last = Infinity }] of this.named) {
      if (last >= this.buffer.oldest) break;
      this.named.delete(id);
    }
  }

  private dropDelivered(): void {
    while (this.responses.length > 1 && this.responses[0]?.delivered === true) this.responses.shift();
  }

  private firstUndelivered(): number {
    const response = this.responses.find(({ delivered }) => !delivered) ?? this.responses.at(-1);
    return response?.first ?? this.buffer.last + 1;
  }

  /** Where a subscriber that another process has served goes on; undefined if this process does not know the answer. */
  private resumed(lastEventId: string | undefined): { since: number; position?: AnswerPosition } | undefined {
    const position = positionIn(lastEventId);
    const response = position === undefined ? undefined : this.named.get(position.answer);
    if (position === undefined || response === undefined || this.numberOf(lastEventId) !== undefined) return undefined;
    if (position.length === 'end' && response.last !== undefined) return { since: response.last };
    return { since: (response.first ?? this.buffer.last + 1) - 1, position };
  }

  private idOf(number: number, response?: ChannelResponse): string {
    const own = `${this.epoch}-${number}`;
    if (response?.id === undefined) return own;
    const { id: answer, hash } = response;
    const length = response.last === number ? 'end' : response.length;
    return `${own}~${writePosition({ answer, length, hash })}`;
  }

  private numberOf(id: string | undefined): number | undefined {
    if (id?.startsWith(`${this.epoch}-`) !== true) return undefined;
    const number = Number(id.slice(this.epoch.length + 1).replace(/~.*/, ''));
    return Number.isSafeInteger(number) && number >= 0 && number <= this.buffer.last ? number : undefined;
  }
}

function toEvent({ id, data, kind }: BufferedEvent): ChannelEvent {
  return kind === 'restarted' ? { id, data, type: kind } : { id, data };
}

/**
 * Delivers events to a subscriber that has received the beginning of an answer, or all of it, from another process:
 * what follows it, or the whole answer after a `restarted` event if it begins differently here.
 */
function resume(subscriber: ChannelSubscriber, position: AnswerPosition): (event: BufferedEvent) => void {
  const { answer, length, hash } = position;
  let isPending = true;
  /** The answer here, until it is as long as the subscriber's. */
  let text = '';
  return (event) => {
    const { id, data, response, kind } = event;
    if (!isPending || response.id !== answer) {
      subscriber.event(toEvent(event));
      return;
    }
    if (length === 'end') return;
    if (kind === 'restarted') text = '';
    else if (kind === 'text') text += data;
    if (kind !== 'end' && text.length < length) return;
    isPending = false;
    for (const next of restOf(text, length, hash)) subscriber.event({ id, ...next });
    if (kind === 'end') subscriber.event(toEvent(event));
  };
}

/** The events of an answer for a subscriber that has so many characters of it, with that hash. */
export function restOf(text: string, length: number, hash: number): readonly Omit<ChannelEvent, 'id'>[] {
  const isSame = text.length >= length && hashText(text.slice(0, length)) === hash;
  const rest = isSame ? text.slice(length) : text;
  const pieces = rest === '' ? [] : escapeMarkers(rest).map((data) => ({ data }));
  return isSame ? pieces : [{ data: RESTARTED, type: 'restarted' }, ...pieces];
}

/** Splits a line of text that looks like an end marker into two events, so that it is not mistaken for one. */
function escapeMarkers(text: string): readonly string[] {
  return text.split(/(?<=(?:^|[\r\n])\[)(?=DONE\](?:[\r\n]|$))|(?<=(?:^|[\r\n])E)(?=RROR: )/);
}
