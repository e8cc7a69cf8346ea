/**
 * Limits how often something may happen in a fixed window of time. Counts in the database, for all processes
 * together.
 */
import { isLLMError } from '../../../domain/errors/LLMErrors';
import type { DocumentCollection, StoredDocument } from '../../../domain/interfaces/DocumentCollection';

export interface WindowDocument extends StoredDocument {
  readonly count: number;
  readonly expiresAt: Date;
}

export const WINDOWS_COLLECTION = 'ai_rate_windows';

export class FixedWindowLimiter {
  private readonly collection: DocumentCollection<WindowDocument>;
  private readonly now: () => number;

  /** @param now milliseconds since the epoch */
  constructor(collection: DocumentCollection<WindowDocument>, now: () => number = Date.now) {
    this.collection = collection;
    this.now = now;
  }

  /** Safe to call again. */
  async ready(): Promise<void> {
    await this.collection.ensureIndex({ expiresAt: 1 }, { expireAfterSeconds: 0 });
  }

  /**
   * Counts one more, unless the window is full.
   * @returns 0 if admitted, else the milliseconds until the next window
   */
  async admit(key: readonly string[], limit: number, windowMs: number): Promise<number> {
    const start = Math.floor(this.now() / windowMs) * windowMs;
    const _id = [...key, String(start)].map(encodeURIComponent).join('/');
    const count = (): Promise<number> => this.collection.update({ _id, count: { $lt: limit } }, { $inc: { count: 1 } });
    if ((await count()) === 1) return 0;
    const found = await this.collection.findOne({ _id });
    if (found === undefined) await this.open(_id, start + windowMs);
    // A window that another process opened in between may still have room.
    if ((found === undefined || found.count < limit) && (await count()) === 1) return 0;
    return Math.max(start + windowMs - this.now(), 1);
  }

  private async open(_id: string, end: number): Promise<void> {
    try {
      await this.collection.insert({ _id, count: 0, expiresAt: new Date(end) });
    } catch (error) {
      // Another process opened it in the meantime.
      if (!isLLMError(error) || error.code !== 'conflict') throw error;
    }
  }
}
