/** Usage counters in a document collection: one document per user, provider and window. */
import type { DocumentCollection } from '../../../../database/DocumentCollection';
import { FixedWindowLimiter } from '../../../../database/FixedWindowLimiter';
import type { WindowDocument } from '../../../../database/FixedWindowLimiter';
import type { Clock } from '../../domain/interfaces/Clock';
import type { UsageStore } from '../../domain/interfaces/UsageStore';

export type UsageDocument = WindowDocument<'requests' | 'tokens'>;
export type UsageCollection = DocumentCollection<UsageDocument>;

const COUNTERS = ['requests', 'tokens'] as const;

export function createUsageStore(collection: UsageCollection, clock: Clock): UsageStore {
  const limiter = new FixedWindowLimiter(collection, COUNTERS, () => clock.now());
  return {
    admit: (providerId, userId, { windowMs, ...limits }) => limiter.admit([providerId, userId], limits, windowMs),
    addTokens: (providerId, userId, tokens, windowMs) => limiter.add([providerId, userId], 'tokens', tokens, windowMs),
    removeUser: (userId) => limiter.remove(([, owner]) => owner === userId),
  };
}

/** Creates the collection's index. Idempotent. */
export function indexUsage(collection: UsageCollection): Promise<void> {
  return new FixedWindowLimiter(collection, COUNTERS).ready();
}
