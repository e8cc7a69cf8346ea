/** Ends what is open with sessions of the dashboard that have ended: streams, other requests and WebSockets. */
import type { Logger } from '../../business/ai/domain/interfaces/Logger';

export interface OpenSessionsPorts {
  /** Returns the given sessions that have ended. */
  readonly endedAmong: (sessionIds: readonly string[]) => Promise<readonly string[]>;
  /** The ids of the sessions with which something is open. */
  readonly open: () => ReadonlySet<string>;
  readonly end: (sessionId: string) => void;
  readonly logger: Logger;
}

/** Sessions expire, and users sign out in other processes, without a notice. */
const CHECK_EVERY_MS = 1_000;

export class OpenSessions {
  private readonly ports: OpenSessionsPorts;
  private readonly timer: ReturnType<typeof setInterval>;
  private isChecking = false;

  constructor(ports: OpenSessionsPorts) {
    this.ports = ports;
    this.timer = setInterval(() => void this.checkAll(), CHECK_EVERY_MS);
    this.timer.unref();
  }

  close(): void {
    clearInterval(this.timer);
  }

  /** One query for all of them, and none while nothing is open. */
  private async checkAll(): Promise<void> {
    const open = [...this.ports.open()];
    if (open.length === 0 || this.isChecking) return;
    this.isChecking = true;
    try {
      for (const sessionId of await this.ports.endedAmong(open)) this.ports.end(sessionId);
    } catch (error) {
      // The next check follows.
      this.ports.logger.warn('It could not be checked whether sessions of the dashboard have ended.', { error });
    } finally {
      this.isChecking = false;
    }
  }
}
