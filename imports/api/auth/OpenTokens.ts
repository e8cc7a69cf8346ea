/** Ends what is open with API tokens that are no longer valid: requests, streams and WebSockets. */
import type { Logger } from '../../business/ai/domain/interfaces/Logger';

export interface OpenTokensPorts {
  /** Whether the token is valid; undefined for tokens that are not in the store, or no longer. */
  readonly isValid: (tokenId: string) => Promise<boolean | undefined>;
  /** The ids of the tokens with which something is open. */
  readonly open: () => ReadonlySet<string>;
  readonly end: (tokenId: string) => void;
  readonly logger: Logger;
}

/** Tokens expire, and other processes revoke them, without a notice. */
const CHECK_EVERY_MS = 5_000;

export class OpenTokens {
  private readonly ports: OpenTokensPorts;
  private readonly timer: ReturnType<typeof setInterval>;
  /** Open at the last check. */
  private before: ReadonlySet<string> = new Set();
  /** Open tokens that a check has found in the store. */
  private readonly stored = new Set<string>();

  constructor(ports: OpenTokensPorts) {
    this.ports = ports;
    this.timer = setInterval(() => void this.checkAll(), CHECK_EVERY_MS);
    this.timer.unref();
  }

  /** Ends what is open with the token, unless it is valid. Never rejects. */
  async check(tokenId: string): Promise<void> {
    try {
      const isValid = await this.ports.isValid(tokenId);
      if (isValid === false || (isValid === undefined && this.stored.has(tokenId))) this.ports.end(tokenId);
      else if (isValid === true && this.before.has(tokenId)) this.stored.add(tokenId);
    } catch (error) {
      // The next check follows.
      this.ports.logger.warn('It could not be checked whether an API token is still valid.', { tokenId, error });
    }
  }

  close(): void {
    clearInterval(this.timer);
  }

  /** Short requests need no check: each token is checked from the second time on that it is seen open. */
  private async checkAll(): Promise<void> {
    const open = this.ports.open();
    const remaining = [...open].filter((tokenId) => this.before.has(tokenId));
    this.before = open;
    for (const tokenId of this.stored) if (!open.has(tokenId)) this.stored.delete(tokenId);
    for (const tokenId of remaining) await this.check(tokenId);
  }
}
