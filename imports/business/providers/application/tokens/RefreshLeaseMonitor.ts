/**
 * Tells when another process's right to refresh is over, without trusting anybody's wall clock: it is over when
 * nothing moved for its length.
 */
import type { StoredCredential } from '../../domain/entities/StoredCredential';
import type { Clock } from '../../domain/interfaces/Clock';

/** In milliseconds. */
export interface LeaseDurations {
  /** Before the old token was shown to the server: taking over is harmless. */
  readonly claimed: number;
  /** From then on: longer than any request may take, for the answer must not be lost. */
  readonly sent: number;
}

/** Clocks of hosts and of servers may be this far apart. */
const MAX_CLOCK_SKEW_MS = 10 * 60_000;

export class RefreshLeaseMonitor {
  private readonly clock: Clock;
  private readonly durations: LeaseDurations;
  private observedVersion: number | undefined;
  private observedAt = 0;

  constructor(clock: Clock, lengths: LeaseDurations) {
    this.clock = clock;
    this.durations = lengths;
  }

  /** @param row as it was just read */
  isHeld({ lease, version }: StoredCredential): boolean {
    if (lease === undefined) return false;
    // So long over that no clock can be wrong enough: nobody has to wait for a process that died yesterday.
    if (this.clock.now() > lease.until + MAX_CLOCK_SKEW_MS) return false;
    if (version !== this.observedVersion) {
      this.observedVersion = version;
      this.observedAt = this.clock.elapsed();
    }
    return this.clock.elapsed() - this.observedAt < this.durations[lease.phase];
  }
}
