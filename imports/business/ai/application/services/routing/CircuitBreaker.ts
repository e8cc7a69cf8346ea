/** Leaves a host alone that failed several times in a row, and asks it again with a single request. */

/** One attempt's word on the host. The first word counts, except that `alive` may be followed by another. */
export interface CircuitPermit {
  /** The host has begun to answer. */
  responding(): void;
  succeeded(): void;
  failed(): void;
  /** The attempt ended without saying anything of the host. */
  released(): void;
}

export class CircuitBreaker {
  private readonly threshold: number;
  private readonly openFor: number;
  private readonly clock: () => number;
  private failures = 0;
  private openedAt: number | undefined;
  private probe: CircuitPermit | undefined;

  /**
   * @param threshold consecutive failures that open the circuit
   * @param openFor milliseconds until the one probe
   */
  constructor(threshold: number, openFor: number, clock: () => number) {
    this.threshold = threshold;
    this.openFor = openFor;
    this.clock = clock;
  }

  /** @returns a ticket to settle, or `undefined` while the host is left alone */
  acquire(): CircuitPermit | undefined {
    if (this.openedAt !== undefined && (this.probe !== undefined || this.remaining() > 0)) return undefined;
    const ticket = this.ticket();
    if (this.openedAt !== undefined) this.probe = ticket;
    return ticket;
  }

  /** Whether `enter` would give a ticket. */
  get admits(): boolean {
    return this.openedAt === undefined || (this.probe === undefined && this.remaining() <= 0);
  }

  /** Milliseconds until a probe may be made; 0 when it may. */
  remaining(): number {
    return this.openedAt === undefined ? 0 : Math.max(0, this.openedAt + this.openFor - this.clock());
  }

  private ticket(): CircuitPermit {
    let settled = false;
    const once = (settle: () => void) => (): void => {
      if (settled) return;
      settled = true;
      settle();
    };
    const ticket: CircuitPermit = {
      responding: () => {
        if (!settled && this.probe === ticket) this.close();
      },
      succeeded: once(() => {
        // What began before the circuit opened says nothing of the host now.
        if (this.openedAt === undefined || this.probe === ticket) this.close();
      }),
      failed: once(() => this.countFailure(ticket)),
      released: once(() => {
        if (this.probe === ticket) this.probe = undefined;
      }),
    };
    return ticket;
  }

  private close(): void {
    this.failures = 0;
    this.openedAt = undefined;
    this.probe = undefined;
  }

  private countFailure(ticket: CircuitPermit): void {
    if (this.openedAt === undefined) {
      this.failures += 1;
      if (this.failures >= this.threshold) this.openedAt = this.clock();
    } else if (this.probe === ticket) {
      this.openedAt = this.clock();
      this.probe = undefined;
    }
  }
}
