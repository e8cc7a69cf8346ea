/** The responses as one WebSocket sees them: its latest response, even if it is not stored, and all stored ones. */
import type { ResponseStore, StoredResponse } from '../../../../business/ai/domain/interfaces/ResponseStore';
import type { InputItem, Item } from '../../../../business/ai/domain/types/ResponsesAPITypes';

export class ConnectionResponseStore implements ResponseStore {
  private readonly store: ResponseStore;
  private latest: StoredResponse | undefined;

  /** @param store holds all other responses */
  constructor(store: ResponseStore) {
    this.store = store;
  }

  get maxResponseBytes(): number {
    return this.store.maxResponseBytes ?? Infinity;
  }

  /**
   * @param history the items before the turn. They are saved with it, since the responses that hold them may be
   *   deleted.
   */
  async saveTurn(stored: StoredResponse, history: readonly InputItem[], isStored: boolean): Promise<void> {
    const { previousId: _, conversation: __, ...turn } = stored;
    this.latest = { ...turn, input: [...history, ...stored.input] };
    if (isStored) await this.store.save(stored);
  }

  /** Removes the latest response after a continuation of it has failed. */
  evict(id: string): void {
    if (this.latest?.id === id) this.latest = undefined;
  }

  save(stored: StoredResponse): Promise<void> {
    return this.store.save(stored);
  }

  replace(stored: StoredResponse): Promise<boolean> {
    return this.store.replace(stored);
  }

  find(userId: string, id: string): Promise<StoredResponse | undefined> {
    return this.latest?.id === id && this.latest.userId === userId
      ? Promise.resolve(this.latest)
      : this.store.find(userId, id);
  }

  async findItem(
    userId: string,
    itemId: string,
  ): Promise<{ readonly item: Item; readonly stored: StoredResponse } | undefined> {
    const { latest: stored } = this;
    const item =
      stored?.userId === userId
        ? [...stored.input, ...stored.response.output].find(({ id }) => id === itemId)
        : undefined;
    return stored === undefined || item === undefined ? this.store.findItem(userId, itemId) : { item, stored };
  }

  remove(userId: string, id: string): Promise<boolean> {
    this.evict(id);
    return this.store.remove(userId, id);
  }
}
