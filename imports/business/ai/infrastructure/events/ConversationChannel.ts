/**
 * The answers of one conversation as server-sent events, for any number of listeners. What was said lately is kept,
 * so that whoever comes late or was cut off gets what was missed.
 * https://html.spec.whatwg.org/multipage/server-sent-events.html#last-event-id
 */
import { randomBytes } from 'node:crypto';
import type { AnswerOutput, OutputChannel } from '../../domain/interfaces/OutputChannel';
import { ReplayBuffer } from './ReplayBuffer';
import type { RecentEventLimits } from './ReplayBuffer';

export interface ChannelEvent {
  readonly id: string;
  readonly data: string;
}

export interface ChannelListener {
  /** Where the listening begins: the id to come back with while there was no event yet. */
  from(id: string): void;
  event(event: ChannelEvent): void;
  /** Events that the listener has not seen are not kept any more. */
  missed(): void;
}

export const DEFAULT_CHANNEL_LIMITS: RecentEventLimits = { events: 5_000, characters: 256 * 1024 };

export const DONE = '[DONE]';
const ERROR_MARK = 'ERROR: ';

interface Answer {
  /** Number of its first event; absent while it has none. */
  first?: number;
  /** Number of its last event, once it has ended. */
  last?: number;
  /** Its end reached somebody. */
  delivered: boolean;
}

export class ConversationChannel implements OutputChannel {
  private readonly recent: ReplayBuffer<ChannelEvent>;
  /** Event ids of another channel of the same name, from before a restart, say nothing here. */
  private readonly epoch = randomBytes(4).toString('hex');
  private readonly listeners = new Set<ChannelListener>();
  /** From the first that may still be missed by a new listener; the last one always. */
  private answers: Answer[] = [];

  constructor(limits: RecentEventLimits = DEFAULT_CHANNEL_LIMITS) {
    this.recent = new ReplayBuffer(limits);
  }

  /** Whether somebody listens, or an answer is still to come. */
  get isBusy(): boolean {
    return this.listeners.size > 0 || this.isAnswering;
  }

  get isAnswering(): boolean {
    return this.answers.some(({ last }) => last === undefined);
  }

  begin(): AnswerOutput {
    const answer: Answer = { delivered: false };
    this.answers.push(answer);
    const end = (data: string): void => {
      if (answer.last !== undefined) return;
      answer.last = this.recent.last + 1;
      this.tell(answer, data);
    };
    return {
      send: (text) => {
        if (answer.last !== undefined) return;
        for (const piece of escapeMarkers(text)) this.tell(answer, piece);
      },
      done: () => end(DONE),
      fail: (message) => end(ERROR_MARK + message.replace(/\s+/g, ' ')),
    };
  }

  /**
   * Tells the listener what it missed, then everything that comes. After a known event id that is all since then;
   * without one it is every answer whose end nobody has heard yet, or else the last answer.
   * @returns what ends the listening
   */
  listen(listener: ChannelListener, lastEventId?: string): () => void {
    const since = this.numberOf(lastEventId) ?? this.startOfUnheard() - 1;
    listener.from(this.idOf(since));
    if (since < this.recent.oldest - 1) listener.missed();
    for (const event of this.recent.after(since)) listener.event(event);
    for (const answer of this.answers) if (answer.last !== undefined && answer.last > since) answer.delivered = true;
    this.listeners.add(listener);
    this.forgetHeard();
    return () => this.listeners.delete(listener);
  }

  private tell(answer: Answer, data: string): void {
    const number = this.recent.last + 1;
    answer.first ??= number;
    const event = { id: this.idOf(number), data };
    this.recent.add(event);
    this.forgetLost();
    for (const listener of this.listeners) listener.event(event);
    if (answer.last === undefined) return;
    answer.delivered = this.listeners.size > 0;
    this.forgetHeard();
  }

  private forgetLost(): void {
    while (this.answers.length > 1 && (this.answers[0]?.last ?? Infinity) < this.recent.oldest) this.answers.shift();
  }

  private forgetHeard(): void {
    while (this.answers.length > 1 && this.answers[0]?.delivered === true) this.answers.shift();
  }

  private startOfUnheard(): number {
    const answer = this.answers.find(({ delivered }) => !delivered) ?? this.answers.at(-1);
    return answer?.first ?? this.recent.last + 1;
  }

  private idOf(number: number): string {
    return `${this.epoch}-${number}`;
  }

  private numberOf(id: string | undefined): number | undefined {
    if (id?.startsWith(`${this.epoch}-`) !== true) return undefined;
    const number = Number(id.slice(this.epoch.length + 1));
    return Number.isSafeInteger(number) && number >= 0 && number <= this.recent.last ? number : undefined;
  }
}

/** A line of the answer must not pass for the end of it: such a line is told in two events. */
function escapeMarkers(text: string): readonly string[] {
  return text.split(/(?<=(?:^|[\r\n])\[)(?=DONE\](?:[\r\n]|$))|(?<=(?:^|[\r\n])E)(?=RROR: )/);
}
