/** What a Responses host keeps: stored responses with the conversation before them, and the items that it gave out. */
import type { JsonObject, VendorName } from '../../../business/ai/domain/types/VendorTypes';
import { asString, objectsIn } from '../../json';

export interface StoredResponse {
  readonly response: JsonObject;
  /** The whole conversation: everything that was sent before, then this response's output. */
  readonly items: readonly JsonObject[];
  /** The input of this request alone. */
  readonly input: readonly JsonObject[];
}

export class ResponseArchive {
  private readonly responses = new Map<string, StoredResponse>();
  private readonly itemIds = new Set<string>();
  /** Item → the reasoning that stood right before it. */
  private readonly reasoningBefore = new Map<string, string>();
  private readonly remember: number;

  constructor(remember: number) {
    this.remember = remember;
  }

  get(vendor: VendorName, id: string): StoredResponse | undefined {
    return this.responses.get(`${vendor} ${id}`);
  }

  keep(vendor: VendorName, stored: StoredResponse): void {
    this.responses.set(`${vendor} ${asString(stored.response.id)}`, stored);
    let before: JsonObject | undefined;
    for (const item of objectsIn(stored.response.output)) {
      const key = `${vendor} ${asString(item.id)}`;
      this.itemIds.add(key);
      if (before?.type === 'reasoning') this.reasoningBefore.set(key, asString(before.id));
      before = item;
    }
    if (this.responses.size > this.remember) this.forgetOldest();
  }

  remove(vendor: VendorName, id: string): boolean {
    return this.responses.delete(`${vendor} ${id}`);
  }

  holdsItem(vendor: VendorName, id: string): boolean {
    return this.itemIds.has(`${vendor} ${id}`);
  }

  reasoningOf(vendor: VendorName, itemId: string): string | undefined {
    return this.reasoningBefore.get(`${vendor} ${itemId}`);
  }

  private forgetOldest(): void {
    for (const [key, { response }] of this.responses) {
      this.responses.delete(key);
      const [vendor = ''] = key.split(' ');
      for (const item of objectsIn(response.output)) {
        this.itemIds.delete(`${vendor} ${asString(item.id)}`);
        this.reasoningBefore.delete(`${vendor} ${asString(item.id)}`);
      }
      return;
    }
  }
}
