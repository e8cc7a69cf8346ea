/**
 * Periodically removes conversations that are older than the operator wants. Databases remove them after 30 days by
 * themselves; this is for shorter times, which can be changed at any time.
 */
import { consoleLogger } from '../../domain/consoleLogger';
import type { Logger } from '../../domain/interfaces/Logger';
import { MESSAGES } from './conversations/DocumentConversationStore';
import type { DocumentDatabase } from '../../../../database/DocumentDatabase';
import { CONVERSATION_ITEMS, CONVERSATIONS } from './responses/DocumentResponseConversations';
import { RESPONSES } from './responses/DocumentResponseStore';

/** Milliseconds since the last use: of a response or conversation, a recorded one, which may be a day older. */
export interface ContentTimes {
  readonly responses: number;
  readonly conversations: number;
  readonly messages: number;
  readonly chats: number;
}

/** A collection, and the field with the time from which its documents are kept. */
export type RetainedCollection = readonly [name: string, field: string];

export interface ContentRetentionOptions {
  readonly times: Partial<ContentTimes>;
  /** Where chats are stored, which is not here. */
  readonly chats: RetainedCollection;
  /** Milliseconds since the epoch. */
  readonly now?: () => number;
  /** Default: the console. */
  readonly logger?: Pick<Logger, 'error'>;
}

const HOUR = 3_600_000;

export class ContentRetention {
  private readonly database: Pick<DocumentDatabase, 'collection'>;
  private readonly options: ContentRetentionOptions;
  private timer: ReturnType<typeof setInterval> | undefined;
  private lastSweep: Promise<void> = Promise.resolve();

  constructor(database: Pick<DocumentDatabase, 'collection'>, options: ContentRetentionOptions) {
    this.database = database;
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
    const { times, chats, now = Date.now } = this.options;
    const collections: Readonly<Record<keyof ContentTimes, readonly RetainedCollection[]>> = {
      responses: [[RESPONSES, 'usedAt']],
      conversations: [
        [CONVERSATIONS, 'usedAt'],
        [CONVERSATION_ITEMS, 'usedAt'],
      ],
      messages: [[MESSAGES, 'storedAt']],
      chats: [chats],
    };
    for (const [kind, time] of Object.entries(times) as [keyof ContentTimes, number][])
      for (const [name, field] of collections[kind])
        await this.database.collection(name).remove({ [field]: { $lt: new Date(now() - time) } });
  }
}
