/** The names of users by their ids, as far as they are known. All that are asked for at a time are loaded together. */

export type LoadNames = (userIds: readonly string[]) => Promise<readonly UserName[]>;

export interface UserName {
  readonly userId: string;
  readonly name: string;
}

/** The most that the server looks up at a time. */
const MAX_IDS = 200;
/** The length of the longest id that the server accepts. No user has a longer one. */
const MAX_ID_LENGTH = 300;

export class UserNames {
  /** Changes with each load. */
  version = 0;
  private readonly load: LoadNames;
  private readonly names = new Map<string, string>();
  /** Ids that were asked for, also those that nobody knows. */
  private readonly asked = new Set<string>();
  private waiting: string[] = [];
  private readonly listeners = new Set<() => void>();

  constructor(load: LoadNames) {
    this.load = load;
  }

  readonly subscribe = (listener: () => void): (() => void) => {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  };

  /** @returns undefined for an id whose name is not known, or not yet */
  nameOf(userId: string): string | undefined {
    return this.names.get(userId);
  }

  /** Has the names loaded that were never asked for. */
  ask(userIds: readonly string[]): void {
    const added = userIds.filter(
      (userId) => userId !== '' && userId.length <= MAX_ID_LENGTH && !this.asked.has(userId),
    );
    if (added.length === 0) return;
    if (this.waiting.length === 0) queueMicrotask(() => this.flush());
    for (const userId of added) this.asked.add(userId);
    this.waiting.push(...added);
  }

  private flush(): void {
    const userIds = this.waiting;
    this.waiting = [];
    for (let start = 0; start < userIds.length; start += MAX_IDS)
      void this.loadSome(userIds.slice(start, start + MAX_IDS));
  }

  private async loadSome(userIds: readonly string[]): Promise<void> {
    try {
      for (const { userId, name } of await this.load(userIds)) this.names.set(userId, name);
    } catch {
      // Pages show the ids, and ask again when they are opened the next time.
      for (const userId of userIds) this.asked.delete(userId);
      return;
    }
    this.version += 1;
    for (const listener of [...this.listeners]) listener();
  }
}
