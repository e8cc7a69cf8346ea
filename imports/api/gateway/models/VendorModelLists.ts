/** The models that vendors list for a user's credential, remembered for a while. */
import { LRUCache } from 'lru-cache';
import type { ILLMProvider } from '../../../business/ai/domain/interfaces/ILLMProvider';

type ListingProvider = Pick<ILLMProvider, 'listModels'>;

type List = Promise<readonly string[] | undefined>;

const TTL_MS = 10 * 60_000;
/** A vendor that does not answer is left alone for a while. */
const RETRY_MS = 30_000;
const TIMEOUT_MS = 5_000;
/** Users whose lists are remembered, for each provider. */
const MAX_USERS = 1_000;

export class VendorModelLists {
  private readonly providers = new WeakMap<ListingProvider, LRUCache<string, List>>();
  private readonly now: () => number;

  constructor(now: () => number = Date.now) {
    this.now = now;
  }

  /** @returns undefined if the vendor lists none, or does not answer in time */
  read(provider: ListingProvider, userId: string): List {
    const lists = this.providers.get(provider) ?? this.createLists();
    this.providers.set(provider, lists);
    const remembered = lists.get(userId);
    if (remembered !== undefined) return remembered;
    const list = request(provider, userId);
    lists.set(userId, list);
    void list.then((names) => {
      if (names === undefined) lists.set(userId, list, { ttl: RETRY_MS });
    });
    return list;
  }

  private createLists(): LRUCache<string, List> {
    return new LRUCache({ max: MAX_USERS, ttl: TTL_MS, ttlResolution: 0, perf: { now: this.now } });
  }
}

async function request(provider: ListingProvider, userId: string): List {
  try {
    const names = await provider.listModels?.(userId, AbortSignal.timeout(TIMEOUT_MS));
    return names === undefined || names.length === 0 ? undefined : names;
  } catch {
    // The names that are known without the vendor are listed then.
    return undefined;
  }
}
