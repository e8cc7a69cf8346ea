/** The server-side storage of the Responses wire: responses with their conversations, and the ids of issued items. */
import type { JsonObject, VendorName } from '../../../business/ai/domain/types/VendorTypes';
import { asString, objectsIn } from '../../json';

export interface StoredResponse {
  readonly response: JsonObject;
  /** The entire conversation, ending with this response's output. */
  readonly items: readonly JsonObject[];
  /** The input of this request only. */
  readonly input: readonly JsonObject[];
}

export class ResponseArchive {
  private readonly responses = new Map<string, StoredResponse>();
  private readonly items = new Map<string, JsonObject>();
  /** By item: the reasoning item right before it. */
  private readonly reasoningByItem = new Map<string, string>();
  private readonly limit: number;

  constructor(limit: number) {
    this.limit = limit;
  }

  get(vendor: VendorName, id: string): StoredResponse | undefined {
    return this.responses.get(`${vendor} ${id}`);
  }

  add(vendor: VendorName, stored: StoredResponse): void {
    this.responses.set(`${vendor} ${asString(stored.response.id)}`, stored);
    let before: JsonObject | undefined;
    for (const item of objectsIn(stored.response.output)) {
      const key = `${vendor} ${asString(item.id)}`;
      this.items.set(key, item);
      if (before?.type === 'reasoning') this.reasoningByItem.set(key, asString(before.id));
      before = item;
    }
    if (this.responses.size > this.limit) this.removeOldest();
  }

  remove(vendor: VendorName, id: string): boolean {
    return this.responses.delete(`${vendor} ${id}`);
  }

  hasItem(vendor: VendorName, id: string): boolean {
    return this.items.has(`${vendor} ${id}`);
  }

  /** The item that a reference stands for, or the item itself. */
  resolve<I extends JsonObject>(vendor: VendorName, item: I): I {
    if (item.type !== 'item_reference') return item;
    // The cast is safe: the archived items went through this wire.
    return (this.items.get(`${vendor} ${asString(item.id)}`) ?? item) as I;
  }

  reasoningBefore(vendor: VendorName, itemId: string): string | undefined {
    return this.reasoningByItem.get(`${vendor} ${itemId}`);
  }

  private removeOldest(): void {
    for (const [key, { response }] of this.responses) {
      this.responses.delete(key);
      const [vendor = ''] = key.split(' ');
      for (const item of objectsIn(response.output)) {
        this.items.delete(`${vendor} ${asString(item.id)}`);
        this.reasoningByItem.delete(`${vendor} ${asString(item.id)}`);
      }
      return;
    }
  }
}
