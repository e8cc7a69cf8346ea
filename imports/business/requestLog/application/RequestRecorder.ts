/**
 * Writes the request log in the background: calls only put their entries into a queue, which is stored in batches. A
 * store that fails or falls behind costs entries, never calls.
 */
import { consoleLogger } from '../../../log/consoleLogger';
import type { Logger } from '../../ai/domain/interfaces/Logger';
import type { LoggedCall, RequestLog, RequestStore } from '../domain/RequestLog';
import type { RequestBodies, RequestEntry } from '../../ai/domain/types/RequestRecords';
import { runDetached } from '../../ai/application/services/shared/runDetached';

export interface RequestRecorderOptions {
  readonly store: RequestStore;
  /** Default: false. */
  readonly recordsBodies?: boolean;
  /** Called when entries of the user have been stored. */
  readonly onStored?: ((userId: string) => void) | undefined;
  /** Milliseconds between a call's end and its write. Default: 250. */
  readonly delayMs?: number;
  /** Default: the console. */
  readonly logger?: Logger;
  /** Milliseconds since the epoch. */
  readonly now?: () => number;
}

/** Entries that wait for the store. Beyond that, new ones are dropped. */
const MAX_WAITING = 10_000;
const BATCH_SIZE = 200;
const DELAY_MS = 250;
const MINUTE_MS = 60_000;

export class RequestRecorder implements RequestLog {
  readonly recordsBodies: boolean;
  private readonly options: RequestRecorderOptions;
  private readonly logger: Logger;
  private readonly now: () => number;
  private waiting: LoggedCall[] = [];
  private writing: Promise<void> | undefined;
  private timer: ReturnType<typeof setTimeout> | undefined;
  private lost = 0;
  private lastWarning = -Infinity;

  constructor(options: RequestRecorderOptions) {
    this.options = options;
    this.recordsBodies = options.recordsBodies ?? false;
    this.logger = options.logger ?? consoleLogger;
    this.now = options.now ?? Date.now;
  }

  add(entry: RequestEntry, bodies?: RequestBodies): void {
    if (this.waiting.length >= MAX_WAITING) {
      this.lose(1, new Error('Too many entries wait to be stored.'));
      return;
    }
    this.waiting.push(bodies === undefined ? { entry } : { entry, bodies });
    this.schedule();
  }

  /** Resolves when every entry so far has been stored or given up. */
  async flush(): Promise<void> {
    while (this.waiting.length > 0 || this.writing !== undefined) await this.write();
  }

  private schedule(): void {
    if (this.timer !== undefined || this.writing !== undefined) return;
    this.timer = runDetached(() => setTimeout(() => void this.write(), this.options.delayMs ?? DELAY_MS));
  }

  /** One writer at a time, so that a slow store is not sent more and more at once. */
  private write(): Promise<void> {
    clearTimeout(this.timer);
    this.timer = undefined;
    this.writing ??= runDetached(() => this.writeAll()).finally(() => {
      this.writing = undefined;
      if (this.waiting.length > 0) this.schedule();
    });
    return this.writing;
  }

  private async writeAll(): Promise<void> {
    while (this.waiting.length > 0) {
      const batch = this.waiting.slice(0, BATCH_SIZE);
      this.waiting = this.waiting.slice(BATCH_SIZE);
      try {
        await this.options.store.save(batch);
        for (const userId of new Set(batch.map(({ entry }) => entry.userId))) this.options.onStored?.(userId);
      } catch (error) {
        this.lose(batch.length, error);
      }
    }
  }

  private lose(count: number, error: unknown): void {
    this.lost += count;
    const now = this.now();
    if (now - this.lastWarning < MINUTE_MS) return;
    this.logger.error(`Could not store ${this.lost} entries of the request log.`, error);
    this.lastWarning = now;
    this.lost = 0;
  }
}
