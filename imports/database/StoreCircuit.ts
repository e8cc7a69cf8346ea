/**
 * The circuit breaker of a database. An operation that fails because the database cannot be reached, one that does not
 * return, or a lost heartbeat of the driver makes it send a probe. A probe without an answer opens the circuit, unless
 * operations are answered meanwhile: what waits, and what follows, fails at once. Probes go on, and the first that is
 * answered closes it.
 */
import { consoleLogger } from '../log/consoleLogger';
import { isLLMError, LLMTimeoutError, StoreUnavailableError } from '../business/ai/domain/errors/LLMErrors';
import type { Logger } from '../business/ai/domain/interfaces/Logger';
import type { StoreOutage } from './DocumentDatabase';

/** Milliseconds. */
export interface StoreCircuitTimes {
  /** After which a pending operation is a reason to send a probe. */
  readonly suspectAfter: number;
  /**
   * How long the database may be silent while a probe waits: longer than operations on a slow database, and than the
   * election of a primary.
   */
  readonly probeTimeout: number;
  /** Between the end of a failed probe and the next one. */
  readonly probeEvery: number;
  /** What clients are told to wait. */
  readonly retryAfter: number;
  /** Between two lines in the log. */
  readonly reportEvery: number;
}

export const DEFAULT_CIRCUIT_TIMES: StoreCircuitTimes = {
  suspectAfter: 1_000,
  probeTimeout: 5_000,
  probeEvery: 1_000,
  retryAfter: 5_000,
  reportEvery: 60_000,
};

export interface StoreCircuitOptions {
  /** One operation that reads from the database. */
  readonly probe: () => Promise<unknown>;
  /**
   * Connects anew; resolves when that connection has answered. Probes with the present one come first. Absent: the
   * database's driver is the app's.
   */
  readonly reconnect?: (() => Promise<void>) | undefined;
  readonly times?: Partial<StoreCircuitTimes>;
  /** Default: the console. */
  readonly logger?: Logger;
}

interface PendingOperation {
  readonly startedAt: number;
  readonly reject: (error: StoreUnavailableError) => void;
}

/** How many probes the present connection gets after the circuit has opened. */
const PROBES_BEFORE_RECONNECT = 1;

/** Silence is counted in so many parts of the time limit, one for each look, however late the process gets to it. */
const LOOKS_PER_TIMEOUT = 10;

export class StoreCircuit {
  private readonly options: StoreCircuitOptions;
  private readonly times: StoreCircuitTimes;
  private readonly logger: Logger;
  private readonly pending = new Set<PendingOperation>();
  private watchTimer: ReturnType<typeof setTimeout> | undefined;
  private probeTimer: ReturnType<typeof setTimeout> | undefined;
  private isProbing = false;
  /** Operations that the database has answered, whether they succeeded or not. */
  private answers = 0;
  private isClosed = false;
  /** Set while the circuit is open. */
  private current: (StoreOutage & { readonly startedAt: number; reportedAt: number; failedProbes: number }) | undefined;

  constructor(options: StoreCircuitOptions) {
    this.options = options;
    this.times = { ...DEFAULT_CIRCUIT_TIMES, ...options.times };
    this.logger = options.logger ?? consoleLogger;
  }

  /** Undefined unless the database is known to be unreachable. */
  get outage(): StoreOutage | undefined {
    return this.current;
  }

  /** @throws StoreUnavailableError if the database cannot be reached; whatever else the operation throws */
  run<Result>(operation: () => Promise<Result>): Promise<Result> {
    if (this.current !== undefined) return Promise.reject(this.unavailable(this.current.cause));
    return new Promise((resolve, reject) => {
      const pending: PendingOperation = { startedAt: performance.now(), reject };
      this.pending.add(pending);
      this.watch();
      operation().then(
        (result) => {
          this.pending.delete(pending);
          this.answers += 1;
          resolve(result);
        },
        (error: unknown) => {
          this.pending.delete(pending);
          reject(this.toOutage(error));
        },
      );
    });
  }

  /** Something suggests that the database cannot be reached. A probe finds out. */
  suspect(): void {
    if (this.isClosed || this.isProbing || this.current !== undefined) return;
    void this.probe();
  }

  /** Sends no more probes. Operations fail with the errors of the driver. */
  close(): void {
    this.isClosed = true;
    this.current = undefined;
    clearTimeout(this.watchTimer);
    clearTimeout(this.probeTimer);
  }

  private toOutage(error: unknown): Error {
    const isAnswer = !isUnreachable(error);
    if (isAnswer) this.answers += 1;
    // Collections throw errors.
    if (this.isClosed || isAnswer) return error as Error;
    this.suspect();
    return this.unavailable(error);
  }

  private unavailable(cause: unknown): StoreUnavailableError {
    return new StoreUnavailableError(MESSAGE, { cause, retryAfterMs: this.times.retryAfter });
  }

  /** One timer, for as long as operations are pending. */
  private watch(): void {
    if (this.watchTimer !== undefined || this.isClosed) return;
    this.watchTimer = setTimeout(() => {
      this.watchTimer = undefined;
      // In the order in which they started.
      const [oldest] = this.pending;
      if (oldest === undefined) return;
      if (performance.now() - oldest.startedAt >= this.times.suspectAfter) this.suspect();
      this.watch();
    }, this.times.suspectAfter);
    this.watchTimer.unref();
  }

  private async probe(): Promise<void> {
    this.isProbing = true;
    const { reconnect, probe } = this.options;
    const isReconnecting = (this.current?.failedProbes ?? 0) > PROBES_BEFORE_RECONNECT;
    try {
      await this.untilSilent(isReconnecting && reconnect !== undefined ? reconnect() : probe());
      if (!this.isClosed) this.onAnswer();
    } catch (error) {
      // Any other error is an answer.
      if (this.isClosed) return;
      if (isUnreachable(error)) this.onNoAnswer(error);
      else this.onAnswer();
    } finally {
      this.isProbing = false;
    }
  }

  private onAnswer(): void {
    const { current } = this;
    if (current === undefined) return;
    this.current = undefined;
    this.logger.warn(`The database can be reached again, after ${secondsSince(current.startedAt)} s.`);
  }

  private onNoAnswer(cause: unknown): void {
    const now = performance.now();
    if (this.current === undefined) {
      this.current = { since: Date.now(), cause, startedAt: now, reportedAt: now, failedProbes: 0 };
      this.logger.error(`The database cannot be reached. What needs it fails until it can: ${reasonOf(cause)}`);
      for (const { reject } of this.pending) reject(this.unavailable(cause));
      this.pending.clear();
    }
    const { current } = this;
    current.failedProbes += 1;
    if (now - current.reportedAt >= this.times.reportEvery) {
      current.reportedAt = now;
      this.logger.error(
        `The database has not been reached for ${secondsSince(current.startedAt)} s: ${reasonOf(cause)}`,
      );
    }
    this.probeTimer = setTimeout(() => void this.probe(), this.times.probeEvery);
    this.probeTimer.unref();
  }

  /**
   * A probe of a busy process waits for a connection like any other operation, so its answer may take longer than the
   * time limit. A process that stood still itself has not listened, so that time counts as one look.
   */
  private async untilSilent(answer: Promise<unknown>): Promise<void> {
    let timer: ReturnType<typeof setInterval> | undefined;
    let { answers } = this;
    let silentLooks = 0;
    const silence = new Promise<never>((_resolve, reject) => {
      timer = setInterval(() => {
        silentLooks = this.answers === answers ? silentLooks + 1 : 0;
        answers = this.answers;
        if (silentLooks < LOOKS_PER_TIMEOUT) return;
        reject(new LLMTimeoutError(`It did not answer within ${this.times.probeTimeout} ms.`));
      }, this.times.probeTimeout / LOOKS_PER_TIMEOUT);
      timer.unref();
    });
    try {
      await Promise.race([answer, silence]);
    } finally {
      clearInterval(timer);
    }
  }
}

const MESSAGE = 'The database cannot be reached. Try again later.';

/** Tells whether a database error means that the database gave no answer. */
export function isUnreachable(error: unknown): boolean {
  return isLLMError(error) && (error.code === 'connection-failed' || error.code === 'timeout');
}

function secondsSince(startedAt: number): number {
  return Math.round((performance.now() - startedAt) / 1_000);
}

/** Returns the driver's message if there is one, since the stores' own errors name only the collection. */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return error.cause instanceof Error ? error.cause.message : error.message;
}
