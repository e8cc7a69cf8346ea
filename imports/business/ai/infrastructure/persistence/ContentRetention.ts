/**
 * Periodically removes conversations that are older than the operator wants. Databases remove them after 30 days by
 * themselves; this is for shorter times, which can be changed at any time.
 */
import { consoleLogger } from '../../../../log/consoleLogger';
import type { Logger } from '../../domain/interfaces/Logger';
import type { RetentionTime, StoredCollection } from '../../../../database/StoredCollection';
import type { DocumentDatabase } from '../../../../database/DocumentDatabase';

export interface ContentRetentionOptions {
  /** Milliseconds since the last use: of a response or conversation, a recorded one, which may be a day older. */
  readonly times: Partial<Record<RetentionTime, number>>;
  /** Milliseconds since the epoch. */
  readonly now?: () => number;
  /** Default: the console. */
  readonly logger?: Pick<Logger, 'error'>;
}

const HOUR = 3_600_000;

export class ContentRetention {
  private readonly database: Pick<DocumentDatabase, 'collection'>;
  private readonly collections: readonly StoredCollection[];
  private readonly options: ContentRetentionOptions;
  private timer: ReturnType<typeof setInterval> | undefined;
  private lastSweep: Promise<void> = Promise.resolve();

  constructor(
    database: Pick<DocumentDatabase, 'collection'>,
    collections: readonly StoredCollection[],
    options: ContentRetentionOptions,
  ) {
    this.database = database;
    this.collections = collections;
    this.options = options;
  }

  /** Sweeps now and every hour, unless no time is set. Several processes may do so at the same time. */
  start(): void {
    if (Object.keys(this.options.times).length === 0) return;
    const sweep = (): void => {
      this.lastSweep = this.lastSweep
        .then(() => this.sweep())
        .catch((error: unknown) =>
          (this.options.logger ?? consoleLogger).error('Could not remove old conversations.', error),
        );
    };
    sweep();
    this.timer = setInterval(sweep, HOUR);
    this.timer.unref();
  }

  /** Resolves once a sweep in progress has ended. */
  async stop(): Promise<void> {
    clearInterval(this.timer);
    await this.lastSweep;
  }

  async sweep(): Promise<void> {
    const { times, now = Date.now } = this.options;
    for (const { name, kept } of this.collections) {
      const time = kept && times[kept.by];
      if (kept === undefined || time === undefined) continue;
      await this.database.collection(name).remove({ [kept.field]: { $lt: new Date(now() - time) } });
    }
  }
}
