/** The runs that this process executes, or has lately. */
import { atMost } from '../../../domain/util/atMost';
import type { DurableRuns } from './durable/DurableRuns';
import type { RunRegistry } from './RunRegistry';

export interface LocalRunsOptions {
  readonly registry: RunRegistry;
  /** Undefined: runs are not stored. */
  readonly durable: DurableRuns | undefined;
  readonly work: { readonly isDraining: boolean };
}

/** Milliseconds. */
const MAX_STORED_WAIT_MS = 1_000;

export class LocalRuns {
  private readonly options: LocalRunsOptions;

  constructor(options: LocalRunsOptions) {
    this.options = options;
  }

  /** The number of runs that this process executes or is about to execute. */
  get size(): number {
    const { durable, registry } = this.options;
    return durable?.size ?? registry.live.size;
  }

  /** Whether this process executes the run or is about to. */
  has(executionId: string): boolean {
    const { durable, registry } = this.options;
    return registry.live.has(executionId) || durable?.isRegistering(executionId) === true;
  }

  /** Whether this process is about to execute the run, or executes it and not only others are awaited. */
  isWorking(executionId: string): boolean {
    const { durable, registry } = this.options;
    return (
      durable?.isRegistering(executionId) === true || registry.live.get(executionId)?.interpreter.isAtRest === false
    );
  }

  /** Whether this process is about to execute the run, or the store may still count its takeovers. */
  isSuspected(executionId: string): boolean {
    const { durable, registry } = this.options;
    return (
      durable?.isRegistering(executionId) === true ||
      registry.live.get(executionId)?.interpreter.writer?.isSuspected === true
    );
  }

  /** Whether no other process can have taken over a run of this process, because its heartbeat was late. */
  get isLeaseCurrent(): boolean {
    const { durable } = this.options;
    return durable === undefined || durable.size === 0 || durable.isLeaseCurrent();
  }

  /** Whether the process starts no runs any more. */
  get isDraining(): boolean {
    return this.options.work.isDraining;
  }

  /**
   * Resolves when the store has what events have told so far of a run that this process executes: what is read then
   * lacks nothing that a listener was told before. In an outage of the store it resolves at once, and after a second
   * anyway.
   */
  async whenStored(executionId: string): Promise<void> {
    const journal = this.options.registry.live.get(executionId)?.interpreter.writer;
    if (journal === undefined || journal.hasStoredAll || journal.isInOutage) return;
    await atMost(MAX_STORED_WAIT_MS, journal.callsStored()).catch(() => undefined);
  }

  /** The id of the user whose run it is. Undefined for runs that are neither live nor lately finished here. */
  userIdOf(executionId: string): string | undefined {
    return this.options.registry.find(executionId)?.userId;
  }

  /** Drops what this process still holds of a user's finished runs. */
  forget(userId: string): void {
    this.options.registry.forget(userId);
  }
}
