/** A connection to a server for each user, with the account of that user. Those that nobody uses are closed. */
import type { McpConnection } from './McpConnection';
import type { McpElicitations } from './McpElicitations';

export interface UserConnection {
  readonly connection: McpConnection;
  readonly elicitations: McpElicitations;
}

interface Entry extends UserConnection {
  /** Calls in progress. */
  users: number;
  timer?: ReturnType<typeof setTimeout>;
}

/** How long a connection stays open after its last call. */
const IDLE_MS = 300_000;

export class UserConnections {
  private readonly create: (userId: string) => UserConnection;
  private readonly onCloseFailed: (error: unknown) => void;
  private readonly entries = new Map<string, Entry>();
  private readonly closing = new Set<Promise<void>>();

  constructor(create: (userId: string) => UserConnection, onCloseFailed: (error: unknown) => void) {
    this.create = create;
    this.onCloseFailed = onCloseFailed;
  }

  /** @throws what `work` throws */
  async use<Result>(userId: string, work: (connection: UserConnection) => Promise<Result>): Promise<Result> {
    const entry = this.entries.get(userId) ?? { ...this.create(userId), users: 0 };
    this.entries.set(userId, entry);
    entry.users += 1;
    clearTimeout(entry.timer);
    try {
      return await work(entry);
    } finally {
      entry.users -= 1;
      if (entry.users === 0 && this.entries.get(userId) === entry) this.closeLater(userId, entry);
    }
  }

  /** The user has another account now, or none. Calls in progress end as they can. */
  forget(userId: string): void {
    const entry = this.entries.get(userId);
    if (entry !== undefined) this.end(userId, entry);
  }

  async close(): Promise<void> {
    for (const [userId, entry] of this.entries) this.end(userId, entry);
    await Promise.all(this.closing);
  }

  private closeLater(userId: string, entry: Entry): void {
    entry.timer = setTimeout(() => this.end(userId, entry), IDLE_MS);
    entry.timer.unref();
  }

  private end(userId: string, entry: Entry): void {
    clearTimeout(entry.timer);
    this.entries.delete(userId);
    const closing = entry.connection
      .close()
      .catch(this.onCloseFailed)
      .finally(() => this.closing.delete(closing));
    this.closing.add(closing);
  }
}
