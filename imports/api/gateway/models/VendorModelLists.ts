/** The models that vendors list for a user's credential, remembered for a while. */
import type { ILLMProvider } from '../../../business/ai/domain/interfaces/ILLMProvider';

type ListingProvider = Pick<ILLMProvider, 'listModels'>;

interface RememberedList {
  readonly names: Promise<readonly string[] | undefined>;
  /** Milliseconds since the epoch. */
  until: number;
}

const TTL_MS = 10 * 60_000;
/** A vendor that does not answer is left alone for a while. */
const RETRY_MS = 30_000;
const TIMEOUT_MS = 5_000;
/** Users whose lists are remembered, for each provider. */
const MAX_USERS = 1_000;

export class VendorModelLists {
  private readonly providers = new WeakMap<ListingProvider, Map<string, RememberedList>>();
  private readonly now: () => number;

  constructor(now: () => number = Date.now) {
    this.now = now;
  }

  /** @returns undefined if the vendor lists none, or does not answer in time */
  read(provider: ListingProvider, userId: string): Promise<readonly string[] | undefined> {
    const lists = this.providers.get(provider) ?? new Map<string, RememberedList>();
    this.providers.set(provider, lists);
    const remembered = lists.get(userId);
    if (remembered !== undefined && remembered.until > this.now()) return remembered.names;
    const list: RememberedList = { names: request(provider, userId), until: this.now() + TTL_MS };
    void list.names.then((names) => {
      if (names === undefined) list.until = this.now() + RETRY_MS;
    });
    // The oldest come first.
    lists.delete(userId);
    lists.set(userId, list);
    const [oldest] = lists.keys();
    if (lists.size > MAX_USERS && oldest !== undefined) lists.delete(oldest);
    return list.names;
  }
}

async function request(provider: ListingProvider, userId: string): Promise<readonly string[] | undefined> {
  try {
    const names = await provider.listModels?.(userId, AbortSignal.timeout(TIMEOUT_MS));
    return names === undefined || names.length === 0 ? undefined : names;
  } catch {
    // The names that are known without the vendor are listed then.
    return undefined;
  }
}
