/** Requests that were made already: a request that comes again, as clients send it after a lost connection, is the same one. */
import { createHash } from 'node:crypto';
import { ConflictError } from '../../domain/errors/LLMErrors';
import { canonicalJson } from './canonicalJson';

/** A request that was let in: known by its id at once, done later. */
export interface StartedRequest<T> {
  readonly executionId: string;
  readonly done: Promise<T>;
}

export interface RequestLedgerLimits {
  /** Finished requests that are remembered. */
  readonly requests: number;
  /** Milliseconds for which they are. */
  readonly timeToLive: number;
}

export const DEFAULT_LEDGER_LIMITS: RequestLedgerLimits = { requests: 5_000, timeToLive: 10 * 60 * 1000 };

interface Entry {
  readonly argumentsHash: string;
  readonly started: Promise<StartedRequest<unknown>>;
  /** When it was done, in milliseconds since the epoch; absent while it runs. */
  doneAt?: number;
}

export class RequestLedger {
  /** Finished ones in the order in which they finished. */
  private readonly entries = new Map<string, Entry>();
  private finished = 0;
  private readonly limits: RequestLedgerLimits;
  private readonly now: () => number;

  constructor(limits: Partial<RequestLedgerLimits> = {}, now: () => number = Date.now) {
    this.limits = { ...DEFAULT_LEDGER_LIMITS, ...limits };
    this.now = now;
  }

  /**
   * Starts the request, or gives the one that its user started under this id. One that was not let in is forgotten at once.
   * @param args JSON: what makes two requests the same
   * @throws ConflictError when the id was used with other arguments; what `start` throws
   */
  async once<T>(userId: string, requestId: string, args: unknown, start: () => Promise<StartedRequest<T>>): Promise<StartedRequest<T>> {
    this.forgetOld();
    const key = JSON.stringify([userId, requestId]);
    const argumentsHash = createHash('sha256').update(canonicalJson(args)).digest('hex');
    const known = this.entries.get(key);
    if (known !== undefined) {
      if (known.argumentsHash !== argumentsHash) throw new ConflictError(`the request id '${requestId}' was used with other arguments`, { path: 'requestId' });
      // The arguments say which operation it is, so what was started under them gives the same type.
      return known.started as Promise<StartedRequest<T>>;
    }
    const started = start();
    const entry: Entry = { argumentsHash, started };
    this.entries.set(key, entry);
    started.then(
      ({ done }) => {
        const settle = (): void => this.settle(key, entry);
        done.then(settle, settle);
      },
      () => this.entries.delete(key),
    );
    return started;
  }

  private settle(key: string, entry: Entry): void {
    entry.doneAt = this.now();
    this.entries.delete(key);
    this.entries.set(key, entry);
    this.finished += 1;
    this.forgetOld();
  }

  private forgetOld(): void {
    const oldest = this.now() - this.limits.timeToLive;
    for (const [key, { doneAt }] of this.entries) {
      if (doneAt === undefined) continue;
      if (doneAt > oldest && this.finished <= this.limits.requests) return;
      this.entries.delete(key);
      this.finished -= 1;
    }
  }
}
