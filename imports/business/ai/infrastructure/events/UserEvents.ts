/**
 * The most recent events of a feed for each user, so that a client that reconnects receives what it missed. A user
 * beyond the limits loses events of their own; when all events together are too many, the user who holds most does.
 */
import type { ReplayBufferLimits } from './ReplayBuffer';

export interface UserEventsLimits extends ReplayBufferLimits {
  /** UTF-16 code units of all users' events together. Default: eight times `characters`. */
  readonly totalCharacters?: number;
}

export interface NumberedEvent {
  /** Increases with each event of the feed. */
  readonly id: number;
  readonly userId: string;
  readonly data: string;
}

interface Own<E> {
  events: E[];
  characters: number;
  /** The id of the last event that was dropped. */
  dropped: number;
}

/** What an event takes besides its data. */
const OVERHEAD = 200;
/** Users of whom it is known which events were dropped. */
const MAX_USERS = 10_000;

export class UserEvents<E extends NumberedEvent> {
  private readonly limits: Required<UserEventsLimits>;
  /** Users by id, the least recently active first. */
  private readonly users = new Map<string, Own<E>>();
  private characters = 0;
  /** The id of the last event that was dropped of users who are not known any more. */
  private dropped: number;

  /** @param last events up to this id are not available */
  constructor(limits: UserEventsLimits, last: number) {
    this.limits = { totalCharacters: 8 * limits.characters, ...limits };
    this.dropped = last;
  }

  add(event: E): void {
    const own = this.users.get(event.userId) ?? { events: [], characters: 0, dropped: this.dropped };
    this.users.delete(event.userId);
    this.users.set(event.userId, own);
    own.events.push(event);
    const size = sizeOf(event);
    own.characters += size;
    this.characters += size;
    const { events, characters, totalCharacters } = this.limits;
    if (own.events.length > events || own.characters > characters) this.drop(own, events / 2, characters / 2);
    while (this.characters > totalCharacters) {
      const heaviest = [...this.users.values()].reduce((a, b) => (b.characters > a.characters ? b : a), own);
      if (heaviest.events.length <= 1) break;
      this.drop(heaviest, heaviest.events.length / 2, heaviest.characters / 2);
    }
    for (const [userId, oldest] of this.users) {
      if (this.users.size <= MAX_USERS) break;
      this.users.delete(userId);
      this.characters -= oldest.characters;
      this.dropped = Math.max(this.dropped, oldest.events.at(-1)?.id ?? oldest.dropped);
    }
  }

  /**
   * The events after that id of a user, or of all users.
   * @returns undefined if some were dropped
   */
  after(id: number, userId?: string): readonly E[] | undefined {
    const owners = userId === undefined ? [...this.users.values()] : [this.users.get(userId)];
    if (owners.some((own) => id < (own?.dropped ?? this.dropped)) || (userId === undefined && id < this.dropped))
      return undefined;
    const events = owners.flatMap((own) => own?.events.filter((event) => event.id > id) ?? []);
    return userId === undefined ? events.toSorted((a, b) => a.id - b.id) : events;
  }

  /** Returns the users whose events are buffered. */
  userIds(): readonly string[] {
    return [...this.users.keys()];
  }

  /** The id after which the latest events, of a user or of all users, have about so many characters. */
  latestAfter(characters: number, userId?: string): number {
    const owners = userId === undefined ? [...this.users.values()] : [this.users.get(userId)];
    const oldest = owners.reduce((id, own) => Math.max(id, own?.dropped ?? this.dropped), this.dropped);
    let rest = characters;
    const events = owners.flatMap((own) => own?.events ?? []).toSorted((a, b) => b.id - a.id);
    const first = events.find((event) => event.id <= oldest || (rest -= sizeOf(event)) < 0);
    return Math.max(oldest, first?.id ?? 0);
  }

  /** @param last the id of the last event so far */
  clear(last: number): void {
    this.users.clear();
    this.characters = 0;
    this.dropped = last;
  }

  /** Drops the oldest down to half of the limits, so that the list isn't copied with every event. The newest stays. */
  private drop(own: Own<E>, events: number, characters: number): void {
    let count = 0;
    for (const event of own.events.slice(0, -1)) {
      if (own.events.length - count <= events && own.characters <= characters) break;
      const size = sizeOf(event);
      own.characters -= size;
      this.characters -= size;
      own.dropped = event.id;
      count += 1;
    }
    own.events = own.events.slice(count);
  }
}

function sizeOf({ data }: NumberedEvent): number {
  return data.length + OVERHEAD;
}
