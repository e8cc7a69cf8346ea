/**
 * The most recent events of a feed, numbered in order, so that a client that reconnects receives what it missed.
 * https://html.spec.whatwg.org/multipage/server-sent-events.html#last-event-id
 */

export interface ReplayBufferLimits {
  readonly events: number;
  /** Total size of the buffered events' data, in UTF-16 code units. */
  readonly characters: number;
}

export class ReplayBuffer<E extends { readonly data: string }> {
  private readonly limits: ReplayBufferLimits;
  private events: E[] = [];
  private characters = 0;
  private lastNumber = 0;

  constructor(limits: ReplayBufferLimits) {
    this.limits = limits;
  }

  /** The number of the last event so far. */
  get last(): number {
    return this.lastNumber;
  }

  /** The number of the oldest buffered event; that of the next event while the buffer is empty. */
  get oldest(): number {
    return this.lastNumber - this.events.length + 1;
  }

  /** Adds an event and evicts old ones. The newest event stays, whatever its size. */
  add(event: E): void {
    this.lastNumber += 1;
    this.events.push(event);
    this.characters += event.data.length;
    this.evict();
  }

  /** The buffered events after the given number. */
  after(number: number): readonly E[] {
    return this.events.slice(Math.max(0, number + 1 - this.oldest));
  }

  /** Evicts down to half of the limits, so that the list isn't copied with every event. */
  private evict(): void {
    const { events, characters } = this.limits;
    if (this.events.length <= events && this.characters <= characters) return;
    let dropped = 0;
    while (
      dropped < this.events.length - 1 &&
      (this.events.length - dropped > events / 2 || this.characters > characters / 2)
    ) {
      this.characters -= this.events[dropped]?.data.length ?? 0;
      dropped += 1;
    }
    this.events = this.events.slice(dropped);
  }
}
