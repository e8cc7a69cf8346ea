/**
 * Stops calls to a provider after consecutive failures, and probes it with a single call after a pause. One user's
 * failures stop that user's calls only, since they may be caused by that user's requests: it takes the failures of
 * several users to stop everybody's.
 */
import { FailuresInARow } from '../../../domain/util/FailuresInARow';

interface OpenCircuit {
  /** When a probe is allowed, on the breaker's clock. */
  until: number;
  probe?: CircuitPermit | undefined;
  /** The user whose probe failed last. */
  failedProber?: string;
}

const NO_CIRCUITS: readonly OpenCircuit[] = [];

export class CircuitBreaker {
  private readonly openForMs: number;
  private readonly clock: () => number;
  /** Since the last response. */
  private readonly failures: FailuresInARow;
  /** Open for everyone. */
  private shared: OpenCircuit | undefined;
  /** Open for one user each. */
  private readonly own = new Map<string, OpenCircuit>();

  /**
   * @param threshold consecutive failures that open the circuit: of one user for that user, of several for everyone,
   *   about half of them at most of the same user
   * @param openForMs milliseconds until the probe is allowed
   */
  constructor(threshold: number, openForMs: number, clock: () => number) {
    this.failures = new FailuresInARow(threshold);
    this.openForMs = openForMs;
    this.clock = clock;
  }

  /**
   * @param onSuccess called when the attempt succeeds
   * @returns a permit, which must be settled, or `undefined` while the circuit is open for the user
   */
  acquire(userId: string, onSuccess?: () => void): CircuitPermit | undefined {
    if (!this.admits(userId)) return undefined;
    const permit = new CircuitPermit(this, userId, onSuccess);
    for (const circuit of this.circuitsOf(userId)) circuit.probe = permit;
    return permit;
  }

  /** Whether `acquire` would return a permit for the user. */
  admits(userId: string): boolean {
    return this.circuitsOf(userId).every(({ probe, until }) => probe === undefined && until <= this.clock());
  }

  /** Milliseconds until a probe of the user is allowed, at least 0. */
  remaining(userId: string): number {
    return Math.max(0, ...this.circuitsOf(userId).map(({ until }) => until - this.clock()));
  }

  /** Whether it is open for everyone. */
  get isOpenForAll(): boolean {
    return this.shared !== undefined;
  }

  /** The state for everyone or, if it is closed, for the user for whom it is open. */
  get state(): 'closed' | 'open' | 'probing' {
    const { shown } = this;
    if (shown === undefined) return 'closed';
    return shown.probe === undefined ? 'open' : 'probing';
  }

  /** Milliseconds until the circuit that `state` shows allows a probe, at least 0. */
  get opensIn(): number {
    return Math.max(0, (this.shown?.until ?? 0) - this.clock());
  }

  private get shown(): OpenCircuit | undefined {
    return this.shared ?? this.own.values().next().value;
  }

  private circuitsOf(userId: string): readonly OpenCircuit[] {
    if (this.shared === undefined && this.own.size === 0) return NO_CIRCUITS;
    return [this.shared, this.own.get(userId)].filter((circuit) => circuit !== undefined);
  }

  /** For permits. */
  onResponding(permit: CircuitPermit, userId: string): void {
    if (this.circuitsOf(userId).some(({ probe }) => probe === permit)) this.close();
  }

  /** For permits. */
  onReleased(permit: CircuitPermit, userId: string): void {
    for (const circuit of this.circuitsOf(userId)) if (circuit.probe === permit) circuit.probe = undefined;
  }

  /** For permits. */
  onResponse(permit: CircuitPermit, userId: string): void {
    // An attempt that started before the circuit opened is no evidence about the provider's present state.
    if (this.circuitsOf(userId).every(({ probe }) => probe === permit)) this.close();
  }

  private close(): void {
    this.failures.clear();
    this.own.clear();
    this.shared = undefined;
  }

  /** For permits. */
  onFailure(permit: CircuitPermit, userId: string): void {
    const until = this.clock() + this.openForMs;
    const circuits = this.circuitsOf(userId);
    for (const circuit of circuits) {
      if (circuit.probe !== permit) continue;
      circuit.probe = undefined;
      // Otherwise one user could keep the circuit open for everyone by probing it again and again.
      if (circuit !== this.shared || circuit.failedProber !== userId) circuit.until = until;
      circuit.failedProber = userId;
    }
    if (circuits.length > 0) return;
    this.failures.add(userId);
    if (this.failures.isReachedFor(userId)) this.own.set(userId, { until });
    if (this.failures.isReachedForAll) this.shared = { until };
  }
}

/** Reports how one attempt ended. Only the first report counts, except that `responding` may precede another. */
export class CircuitPermit {
  private readonly breaker: CircuitBreaker;
  private readonly userId: string;
  private readonly onSuccess: (() => void) | undefined;
  private isSettled = false;

  constructor(breaker: CircuitBreaker, userId: string, onSuccess: (() => void) | undefined) {
    this.breaker = breaker;
    this.userId = userId;
    this.onSuccess = onSuccess;
  }

  /** The provider has started to respond. */
  responding(): void {
    if (!this.isSettled) this.breaker.onResponding(this, this.userId);
  }

  succeeded(): void {
    this.onSuccess?.();
    if (this.settle()) this.breaker.onResponse(this, this.userId);
  }

  /** The provider refused the request, which shows that it is there. */
  refused(): void {
    if (this.settle()) this.breaker.onResponse(this, this.userId);
  }

  failed(): void {
    if (this.settle()) this.breaker.onFailure(this, this.userId);
  }

  /** The attempt ended without evidence for or against the provider. */
  released(): void {
    if (this.settle()) this.breaker.onReleased(this, this.userId);
  }

  /** @returns false if it was settled before */
  private settle(): boolean {
    if (this.isSettled) return false;
    this.isSettled = true;
    return true;
  }
}
