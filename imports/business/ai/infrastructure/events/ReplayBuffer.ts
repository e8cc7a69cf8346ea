/**
 * What was told lately, numbered and in order, so that whoever was cut off gets what was missed.
 * https://html.spec.whatwg.org/multipage/server-sent-events.html#last-event-id
 */

export interface RecentEventLimits {
  readonly events: number;
  /** UTF-16 units of all kept events together. */
  readonly characters: number;
}

export class ReplayBuffer<E extends { readonly data: string }> {
  private readonly limits: RecentEventLimits;
  private kept: E[] = [];
  private characters = 0;
  private lastNumber: number;

  /** @param last the first event's number is the next one */
  constructor(limits: RecentEventLimits, last = 0) {
    this.limits = limits;
    this.lastNumber = last;
  }

  /** The number of the last event so far. */
  get last(): number {
    return this.lastNumber;
  }

  /** The number of the oldest event that is kept; while none is, the next one's. */
  get oldest(): number {
    return this.lastNumber - this.kept.length + 1;
  }

  /** The last event is kept, however long it is. */
  add(event: E): void {
    this.lastNumber += 1;
    this.kept.push(event);
    this.characters += event.data.length;
    this.shrink();
  }

  /** The events after the one with this number, as far as they are kept. */
  after(number: number): readonly E[] {
    return this.kept.slice(Math.max(0, number + 1 - this.oldest));
  }

  /** Half of the limits is let go at once, so that the list isn't copied with every event. */
  private shrink(): void {
    const { events, characters } = this.limits;
    if (this.kept.length <= events && this.characters <= characters) return;
    let gone = 0;
    while (gone < this.kept.length - 1 && (this.kept.length - gone > events / 2 || this.characters > characters / 2)) {
      this.characters -= this.kept[gone]?.data.length ?? 0;
      gone += 1;
    }
    this.kept = this.kept.slice(gone);
  }
}
