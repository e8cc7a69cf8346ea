/** Keeps the principals of sessions for a second, so that a page that loads does not read its session repeatedly. */
import type { ApiPrincipal } from '../auth/ApiPrincipal';

/** Milliseconds for which another process's end of a session may go unnoticed by requests that only read. */
const KEPT_MS = 1_000;
/** Beyond it, the entry that was read first is dropped. */
const MAX_ENTRIES = 1_000;

interface Entry {
  readonly principal: ApiPrincipal;
  readonly readAt: number;
}

export class PrincipalCache {
  private readonly now: () => number;
  private readonly entries = new Map<string, Entry>();
  /** Differs after every deletion: what was read before one is not kept after it. */
  private generation = 0;

  constructor(now: () => number) {
    this.now = now;
  }

  /** @param mayBeKept whether an answer that was read before is good enough */
  async get(
    id: string,
    mayBeKept: boolean,
    read: () => Promise<ApiPrincipal | undefined>,
  ): Promise<ApiPrincipal | undefined> {
    const entry = this.entries.get(id);
    const now = this.now();
    if (mayBeKept && entry !== undefined && now >= entry.readAt && now - entry.readAt < KEPT_MS) return entry.principal;
    const { generation } = this;
    const principal = await read();
    this.entries.delete(id);
    if (principal !== undefined && generation === this.generation) this.keep(id, { principal, readAt: now });
    return principal;
  }

  delete(id: string): void {
    this.generation += 1;
    this.entries.delete(id);
  }

  clear(): void {
    this.generation += 1;
    this.entries.clear();
  }

  private keep(id: string, entry: Entry): void {
    this.entries.set(id, entry);
    if (this.entries.size <= MAX_ENTRIES) return;
    for (const oldest of this.entries.keys()) {
      this.entries.delete(oldest);
      return;
    }
  }
}
