/**
 * How often somebody did something in the present window of time, counted in the store: every process counts to the
 * same number.
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
   * Counts once more, unless the window is full.
   * @param length of the window, in milliseconds
   * @returns 0, or the milliseconds until the next window
   */
  async admit(key: readonly string[], most: number, length: number): Promise<number> {
    const start = Math.floor(this.now() / length) * length;
    const _id = [...key, String(start)].map(encodeURIComponent).join('/');
    const count = (): Promise<number> => this.collection.update({ _id, count: { $lt: most } }, { $inc: { count: 1 } });
    if ((await count()) === 1) return 0;
    const found = await this.collection.findOne({ _id });
    if (found === undefined) await this.open(_id, start + length);
    // One that another opened in between may still have room.
    if ((found === undefined || found.count < most) && (await count()) === 1) return 0;
    return Math.max(start + length - this.now(), 1);
  }

  private async open(_id: string, end: number): Promise<void> {
    try {
      await this.collection.insert({ _id, count: 0, expiresAt: new Date(end) });
    } catch (error) {
      // Another has opened it in the meantime.
      if (!isLLMError(error) || error.code !== 'conflict') throw error;
    }
  }
}
