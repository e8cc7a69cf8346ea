/**
 * The answers of one conversation as server-sent events, for any number of listeners. What was said lately is kept, so that whoever
 * comes late or was cut off gets what was missed. https://html.spec.whatwg.org/multipage/server-sent-events.html#last-event-id
 */
import { randomBytes } from 'node:crypto';
import type { AnswerOutput, OutputChannel } from '../../domain/interfaces/OutputChannel';

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

export interface ChannelLimits {
  readonly events: number;
  /** UTF-16 units of all kept events together. */
  readonly characters: number;
}

export const DEFAULT_CHANNEL_LIMITS: ChannelLimits = { events: 5_000, characters: 256 * 1024 };

export const DONE = '[DONE]';
export const ERROR_MARK = 'ERROR: ';

interface KeptEvent {
  readonly number: number;
  readonly data: string;
}

interface Answer {
  /** Number of its first event; absent while it has none. */
  first?: number;
  /** Number of its last event, once it has ended. */
  last?: number;
  /** Its end reached somebody. */
  delivered: boolean;
}

export class ConversationChannel implements OutputChannel {
  private readonly limits: ChannelLimits;
  /** Event ids of another channel of the same name, from before a restart, say nothing here. */
  private readonly epoch = randomBytes(4).toString('hex');
  private readonly listeners = new Set<ChannelListener>();
  private kept: KeptEvent[] = [];
  private characters = 0;
  private lastNumber = 0;
  /** From the first that may still be missed by a new listener; the last one always. */
  private answers: Answer[] = [];

  constructor(limits: ChannelLimits = DEFAULT_CHANNEL_LIMITS) {
    this.limits = limits;
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
      answer.last = this.lastNumber + 1;
      this.tell(answer, data);
    };
    return {
      send: (text) => {
        if (answer.last !== undefined) return;
        for (const piece of withoutMarks(text)) this.tell(answer, piece);
      },
      done: () => end(DONE),
      fail: (message) => end(ERROR_MARK + message.replace(/\s+/g, ' ')),
    };
  }

  /**
   * Tells the listener what it missed, then everything that comes. After a known event id that is all since then; without one it is
   * every answer whose end nobody has heard yet, or else the last answer.
   * @returns what ends the listening
   */
  listen(listener: ChannelListener, lastEventId?: string): () => void {
    const since = this.numberOf(lastEventId) ?? this.startOfUnheard() - 1;
    const [oldest] = this.kept;
    listener.from(this.idOf(since));
    if (since < (oldest?.number ?? this.lastNumber + 1) - 1) listener.missed();
    for (const { number, data } of this.kept) {
      if (number > since) listener.event({ id: this.idOf(number), data });
    }
    for (const answer of this.answers) if (answer.last !== undefined && answer.last > since) answer.delivered = true;
    this.listeners.add(listener);
    this.forgetHeard();
    return () => this.listeners.delete(listener);
  }

  private tell(answer: Answer, data: string): void {
    this.lastNumber += 1;
    answer.first ??= this.lastNumber;
    this.kept.push({ number: this.lastNumber, data });
    this.characters += data.length;
    this.shrink();
    const event = { id: this.idOf(this.lastNumber), data };
    for (const listener of this.listeners) listener.event(event);
    if (answer.last === undefined) return;
    answer.delivered = this.listeners.size > 0;
    this.forgetHeard();
  }

  /** Half of the limits is let go at once, so that long answers don't copy the buffer with every word. */
  private shrink(): void {
    const { events, characters } = this.limits;
    if (this.kept.length <= events && this.characters <= characters) return;
    let gone = 0;
    while (gone < this.kept.length - 1 && (this.kept.length - gone > events / 2 || this.characters > characters / 2)) {
      this.characters -= this.kept[gone]?.data.length ?? 0;
      gone += 1;
    }
    this.kept = this.kept.slice(gone);
    const oldest = this.kept[0]?.number ?? 0;
    while (this.answers.length > 1 && (this.answers[0]?.last ?? Infinity) < oldest) this.answers.shift();
  }

  private forgetHeard(): void {
    while (this.answers.length > 1 && this.answers[0]?.delivered === true) this.answers.shift();
  }

  private startOfUnheard(): number {
    const answer = this.answers.find(({ delivered }) => !delivered) ?? this.answers.at(-1);
    return answer?.first ?? this.lastNumber + 1;
  }

  private idOf(number: number): string {
    return `${this.epoch}-${number}`;
  }

  private numberOf(id: string | undefined): number | undefined {
    if (id?.startsWith(`${this.epoch}-`) !== true) return undefined;
    const number = Number(id.slice(this.epoch.length + 1));
    return Number.isSafeInteger(number) && number >= 0 && number <= this.lastNumber ? number : undefined;
  }
}

/** A line of the answer must not pass for the end of it: such a line is told in two events. */
function withoutMarks(text: string): readonly string[] {
  return text.split(/(?<=(?:^|[\r\n])\[)(?=DONE\](?:[\r\n]|$))|(?<=(?:^|[\r\n])E)(?=RROR: )/);
}
