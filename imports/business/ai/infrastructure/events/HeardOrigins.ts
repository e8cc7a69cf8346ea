/** What this process has heard of the events of others: from where on it has all of a user's, and the last of them. */

interface Heard {
  /** All events after this number are known, up to `last`. */
  readonly after: number;
  readonly last: number;
}

interface Origin {
  readonly users: Map<string, Heard>;
  /** The number of its last event, whichever user it belongs to. */
  last: number;
  /** Milliseconds since the epoch. */
  heardAt: number;
}

/** Processes that were silent for longer have nothing left that could be read. */
const FORGOTTEN_AFTER_MS = 10 * 60_000;

export class HeardOrigins {
  private readonly origins = new Map<string, Origin>();

  /** The last number of each process that was heard. @param userId whose events count. Absent: everyone's */
  numbers(userId?: string): readonly (readonly [string, number])[] {
    return [...this.origins].flatMap(([id, { users, last: lastOfAll }]) => {
      const last = userId === undefined ? lastOfAll : (users.get(userId)?.last ?? 0);
      return last === 0 ? [] : [[id, last] as const];
    });
  }

  /** All of a user's events after that number are known up to another. @returns false if that was known */
  cover(id: string, userId: string, after: number, upTo: number): boolean {
    const origin = this.originOf(id);
    const heard = origin.users.get(userId);
    origin.users.set(userId, heard ?? { after, last: after });
    origin.last = Math.max(origin.last, after);
    return (heard?.last ?? -1) < upTo;
  }

  /** @returns false if the event is known */
  add(id: string, userId: string, number: number): boolean {
    const origin = this.originOf(id);
    const { after, last } = origin.users.get(userId) ?? { after: number - 1, last: number - 1 };
    if (number <= last) return false;
    origin.users.set(userId, { after, last: number });
    origin.last = Math.max(origin.last, number);
    return true;
  }

  /** Whether all of a user's events after that number are known, or of all users'. */
  covers(id: string, userId: string | undefined, number: number): boolean {
    const { users } = this.origins.get(id) ?? {};
    if (users === undefined || users.size === 0) return false;
    const heard = userId === undefined ? [...users.values()] : [users.get(userId)];
    return heard.every((of) => of !== undefined && of.after <= number);
  }

  forget(userId: string | undefined): void {
    for (const { users } of this.origins.values())
      if (userId === undefined) users.clear();
      else users.delete(userId);
  }

  private originOf(id: string): Origin {
    const now = Date.now();
    for (const [known, { heardAt }] of this.origins) if (now - heardAt > FORGOTTEN_AFTER_MS) this.origins.delete(known);
    const origin = this.origins.get(id) ?? { users: new Map<string, Heard>(), last: 0, heardAt: now };
    origin.heardAt = now;
    this.origins.set(id, origin);
    return origin;
  }
}
