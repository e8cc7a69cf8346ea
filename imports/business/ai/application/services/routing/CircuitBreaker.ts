/** Stops calls to a provider after consecutive failures, and probes it with a single call after a pause. */

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
  private failures = 0;
  private openedAt: number | undefined;
  private probe: CircuitPermit | undefined;

  /**
   * @param threshold consecutive failures that open the circuit
   * @param openForMs milliseconds until the probe is allowed
   */
  constructor(threshold: number, openForMs: number, clock: () => number) {
    this.threshold = threshold;
    this.openForMs = openForMs;
    this.clock = clock;
  }

  /** @returns a permit, which must be settled, or `undefined` while the circuit is open */
  acquire(): CircuitPermit | undefined {
    if (!this.admits) return undefined;
    const permit = this.createPermit();
    if (this.openedAt !== undefined) this.probe = permit;
    return permit;
  }

  /** Whether `acquire` would return a permit. */
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

  private createPermit(): CircuitPermit {
    let settled = false;
    const once = (settle: () => void) => (): void => {
      if (settled) return;
      settled = true;
      settle();
    };
    const permit: CircuitPermit = {
      responding: () => {
        if (!settled && this.probe === permit) this.close();
      },
      succeeded: once(() => this.countResponse(permit)),
      refused: once(() => this.countResponse(permit)),
      failed: once(() => this.countFailure(permit)),
      released: once(() => {
        if (this.probe === permit) this.probe = undefined;
      }),
    };
    return permit;
  }

  private countResponse(permit: CircuitPermit): void {
    // An attempt that started before the circuit opened is no evidence about the provider's present state.
    if (this.openedAt === undefined || this.probe === permit) this.close();
  }

  private close(): void {
    this.failures = 0;
    this.openedAt = undefined;
    this.probe = undefined;
  }

  private countFailure(permit: CircuitPermit): void {
    if (this.openedAt === undefined) {
      this.failures += 1;
      if (this.failures >= this.threshold) this.openedAt = this.clock();
    } else if (this.probe === permit) {
      this.openedAt = this.clock();
      this.probe = undefined;
    }
  }
}
