/** Counters of limited providers in a document collection: one document for each user, provider and window. */
import { isLLMError } from '../../../ai/domain/errors/LLMErrors';
import type { DocumentCollection, StoredDocument } from '../../../ai/domain/interfaces/DocumentCollection';
import type { UsageStore, UsageWindow } from '../../domain/interfaces/UsageStore';

export interface UsageDocument extends StoredDocument {
  readonly requests: number;
  readonly tokens: number;
  readonly expiresAt: Date;
}

export type UsageCollection = DocumentCollection<UsageDocument>;

export function createUsageStore(collection: UsageCollection): UsageStore {
  /** Makes the window's counters unless another did. */
  const open = async (window: UsageWindow): Promise<void> => {
    try {
      await collection.insert({ _id: keyOf(window), requests: 0, tokens: 0, expiresAt: new Date(window.end) });
    } catch (error) {
      if (!isLLMError(error) || error.code !== 'conflict') throw error;
    }
  };

  return {
    async admit(window, { requests, tokens }) {
      const belowLimits = {
        _id: keyOf(window),
        ...(requests === undefined ? {} : { requests: { $lt: requests } }),
        ...(tokens === undefined ? {} : { tokens: { $lt: tokens } }),
      };
      const count = (): Promise<number> => collection.update(belowLimits, { $inc: { requests: 1 } });
      if ((await count()) === 1) return true;
      const found = await collection.findOne({ _id: belowLimits._id });
      if (found === undefined) await open(window);
      // One that another opened in between may still have room.
      else if (found.requests >= (requests ?? Infinity) || found.tokens >= (tokens ?? Infinity)) return false;
      return (await count()) === 1;
    },
    async addTokens(window, tokens) {
      await open(window);
      await collection.update({ _id: keyOf(window) }, { $inc: { tokens } });
    },
  };
}

/** Safe to call again. */
export async function indexUsage(collection: UsageCollection): Promise<void> {
  await collection.ensureIndex({ expiresAt: 1 }, { expireAfterSeconds: 0 });
}

function keyOf({ providerId, userId, start }: UsageWindow): string {
  return `${encodeURIComponent(providerId)}/${encodeURIComponent(userId)}/${start}`;
}
