/**
 * What was told lately, numbered and in order, so that whoever was cut off gets what was missed.
 * https://html.spec.whatwg.org/multipage/server-sent-events.html#last-event-id
 */

export interface ReplayBufferLimits {
  readonly events: number;
  /** UTF-16 units of all kept events together. */
  readonly characters: number;
}

export class ReplayBuffer<E extends { readonly data: string }> {
  private readonly limits: ReplayBufferLimits;
  private events: E[] = [];
  private characters = 0;
  private lastNumber: number;

  /** @param last the first event's number is the next one */
  constructor(limits: ReplayBufferLimits, last = 0) {
    this.limits = limits;
    this.lastNumber = last;
  }

  /** The number of the last event so far. */
  get last(): number {
    return this.lastNumber;
  }

  /** The number of the oldest event that is kept; while none is, the next one's. */
  get oldest(): number {
    return this.lastNumber - this.events.length + 1;
  }

  /** The last event is kept, however long it is. */
  add(event: E): void {
    this.lastNumber += 1;
    this.events.push(event);
    this.characters += event.data.length;
    this.evict();
  }

  /** The events after the one with this number, as far as they are kept. */
  after(number: number): readonly E[] {
    return this.events.slice(Math.max(0, number + 1 - this.oldest));
  }

  /** Half of the limits is let go at once, so that the list isn't copied with every event. */
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
