/**
 * Decides when another process's lease to refresh has expired, without trusting any wall clock: a lease has expired
 * when its row did not change for the lease's duration, measured here.
 */
import type { StoredCredential } from '../../domain/entities/StoredCredential';
import type { Clock } from '../../domain/interfaces/Clock';

/** In milliseconds. */
export interface LeaseDurations {
  /** Before the old token is sent to the server, when a takeover is harmless. */
  readonly claimed: number;
  /** From then on. Longer than any request may take, because its response must not be lost. */
  readonly sent: number;
}

/** How far the clocks of two processes may differ. */
const MAX_CLOCK_SKEW_MS = 10 * 60_000;

export class RefreshLeaseMonitor {
  private readonly clock: Clock;
  private readonly durations: LeaseDurations;
  private observedVersion: number | undefined;
  private observedAt = 0;

  constructor(clock: Clock, durations: LeaseDurations) {
    this.clock = clock;
    this.durations = durations;
  }

  /** To be called with the row as just read, each time it is polled. */
  isHeld({ lease, version }: StoredCredential): boolean {
    if (lease === undefined) return false;
    // Expired beyond any clock skew, so there is no need to wait for a process that died long ago.
    if (this.clock.now() > lease.until + MAX_CLOCK_SKEW_MS) return false;
    if (version !== this.observedVersion) {
      this.observedVersion = version;
      this.observedAt = this.clock.elapsed();
    }
    return this.clock.elapsed() - this.observedAt < this.durations[lease.phase];
  }
}
