/** Lists the tools of servers of the settings again when an admin has signed in or out there in another process. */
import type { Logger } from '../../../ai/domain/interfaces/Logger';
import type { McpAccounts } from '../../domain/McpAccounts';

export interface ListingAccountsPorts {
  readonly accounts: Pick<McpAccounts, 'findListing'>;
  /** The names of the servers that require a sign-in. */
  readonly names: readonly string[];
  readonly onChange: (name: string) => void;
  readonly logger: Logger;
  /** Milliseconds between two looks. */
  readonly maxAge: number;
}

export class ListingAccounts {
  private readonly ports: ListingAccountsPorts;
  /** When they were signed in to, in milliseconds since the epoch, by server; undefined for none. */
  private readonly known = new Map<string, number | undefined>();
  private timer: ReturnType<typeof setTimeout> | undefined;
  private looking: Promise<void> | undefined;
  private isFailing = false;
  private isClosed = false;

  constructor(ports: ListingAccountsPorts) {
    this.ports = ports;
  }

  /** Reads what there is, and looks for changes from then on. */
  async start(): Promise<void> {
    for (const name of this.ports.names) this.known.set(name, await this.signedInAt(name));
    this.lookLater();
  }

  async close(): Promise<void> {
    this.isClosed = true;
    clearTimeout(this.timer);
    await this.looking;
  }

  private lookLater(): void {
    if (this.isClosed || this.ports.names.length === 0) return;
    this.timer = setTimeout(() => {
      this.looking = this.look().finally(() => this.lookLater());
    }, this.ports.maxAge);
    this.timer.unref();
  }

  private async look(): Promise<void> {
    const { names, onChange, logger } = this.ports;
    try {
      for (const name of names) {
        const signedInAt = await this.signedInAt(name);
        if (this.known.get(name) === signedInAt) continue;
        this.known.set(name, signedInAt);
        onChange(name);
      }
      this.isFailing = false;
    } catch (error) {
      // Not every two seconds of an outage.
      if (!this.isFailing) logger.error('Could not read the accounts at MCP servers. It is tried again.', error);
      this.isFailing = true;
    }
  }

  private async signedInAt(name: string): Promise<number | undefined> {
    return (await this.ports.accounts.findListing(name))?.signedInAt;
  }
}
