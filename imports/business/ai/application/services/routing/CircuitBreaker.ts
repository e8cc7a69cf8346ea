/**
 * Stops calls to a provider after consecutive failures, and probes it with a single call after a pause. Where several
 * users call it, one user's failures alone never stop it for the others: they may be caused by that user's requests.
 */

/** Reports how one attempt ended. Only the first report counts, except that `responding` may precede another. */
export interface CircuitPermit {
  /** The provider has started to respond. */
  responding(): void;
  succeeded(): void;
  /** The provider refused the request, which shows that it is there. */
  refused(): void;
  failed(): void;
  /** The attempt ended without evidence for or against the provider. */
  released(): void;
}

export class CircuitBreaker {
  private readonly threshold: number;
  private readonly openForMs: number;
  private readonly clock: () => number;
  /** By user, since the last response. */
  private readonly failures = new Map<string, number>();
  private firstUser: string | undefined;
  /** Whether a second user has called. */
  private isShared = false;
  private openedAt: number | undefined;
  private probe: CircuitPermit | undefined;
  /** Whose probe failed last. */
  private failedProber: string | undefined;

  /**
   * @param threshold consecutive failures that open the circuit, at most half of them of one user of several
   * @param openForMs milliseconds until the probe is allowed
   */
  constructor(threshold: number, openForMs: number, clock: () => number) {
    this.threshold = threshold;
    this.openForMs = openForMs;
    this.clock = clock;
  }

  /**
   * @param onSuccess called when the attempt succeeds
   * @returns a permit, which must be settled, or `undefined` while the circuit is open
   */
  acquire(userId: string, onSuccess?: () => void): CircuitPermit | undefined {
    if (!this.admitsUser(userId)) return undefined;
    const permit = new Permit(this, userId, onSuccess);
    if (this.openedAt !== undefined) this.probe = permit;
    return permit;
  }

  /** Whether `acquire` would return a permit for the user. */
  admitsUser(userId: string): boolean {
    this.firstUser ??= userId;
    if (userId !== this.firstUser && !this.isShared) {
      this.isShared = true;
      // The failures that have opened it were one user's alone, and count for half from now on.
      this.openedAt = undefined;
      this.probe = undefined;
    }
    return this.admits;
  }

  /** Whether `acquire` would return a permit for a user who has called before. */
  get admits(): boolean {
    return this.openedAt === undefined || (this.probe === undefined && this.remaining() <= 0);
  }

  get state(): 'closed' | 'open' | 'probing' {
    if (this.openedAt === undefined) return 'closed';
    return this.probe === undefined ? 'open' : 'probing';
  }

  /** Milliseconds until a probe is allowed, at least 0. */
  remaining(): number {
    return this.openedAt === undefined ? 0 : Math.max(0, this.openedAt + this.openForMs - this.clock());
  }

  /** For permits. */
  onResponding(permit: CircuitPermit): void {
    if (this.probe === permit) this.close();
  }

  /** For permits. */
  onReleased(permit: CircuitPermit): void {
    if (this.probe === permit) this.probe = undefined;
  }

  /** For permits. */
  onResponse(permit: CircuitPermit): void {
    // An attempt that started before the circuit opened is no evidence about the provider's present state.
    if (this.openedAt === undefined || this.probe === permit) this.close();
  }

  private close(): void {
    this.failures.clear();
    this.openedAt = undefined;
    this.probe = undefined;
    this.failedProber = undefined;
  }

  /** For permits. */
  onFailure(permit: CircuitPermit, userId: string): void {
    if (this.openedAt === undefined) {
      this.failures.set(userId, (this.failures.get(userId) ?? 0) + 1);
      if (this.countedFailures() >= this.threshold) this.openedAt = this.clock();
    } else if (this.probe === permit) {
      this.probe = undefined;
      // Otherwise one user could keep the circuit open by probing it again and again.
      if (!this.isShared || this.failedProber !== userId) this.openedAt = this.clock();
      this.failedProber = userId;
    }
  }

  /** At most half of the failures that open a shared circuit are one user's. */
  private countedFailures(): number {
    const most = this.isShared ? Math.ceil(this.threshold / 2) : this.threshold;
    let counted = 0;
    for (const failures of this.failures.values()) counted += Math.min(failures, most);
    return counted;
  }
}

class Permit implements CircuitPermit {
  private readonly breaker: CircuitBreaker;
  private readonly userId: string;
  private readonly onSuccess: (() => void) | undefined;
  private isSettled = false;

  constructor(breaker: CircuitBreaker, userId: string, onSuccess: (() => void) | undefined) {
    this.breaker = breaker;
    this.userId = userId;
    this.onSuccess = onSuccess;
  }

  responding(): void {
    if (!this.isSettled) this.breaker.onResponding(this);
  }

  succeeded(): void {
    this.onSuccess?.();
    if (this.settle()) this.breaker.onResponse(this);
  }

  refused(): void {
    if (this.settle()) this.breaker.onResponse(this);
  }

  failed(): void {
    if (this.settle()) this.breaker.onFailure(this, this.userId);
  }

  released(): void {
    if (this.settle()) this.breaker.onReleased(this);
  }

  /** @returns false if it was settled before */
  private settle(): boolean {
    if (this.isSettled) return false;
    this.isSettled = true;
    return true;
  }
}
