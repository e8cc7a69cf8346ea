/** The server-side storage of the Responses wire: responses with their conversations, and the ids of issued items. */
import { LRUCache } from 'lru-cache';
import { growingCapacity } from '../../../business/ai/domain/util/growingCapacity';
import type { JsonObject, VendorName } from '../../../business/ai/domain/types/VendorTypes';
import { asString, objectsIn } from '../../json';
import type { ResponsesBody } from './responsesBody';

export interface StoredResponse {
  readonly response: JsonObject;
  /** The entire conversation, ending with this response's output. */
  readonly items: readonly JsonObject[];
  /** The input of this request only. */
  readonly input: readonly JsonObject[];
  /** The conversation that it was added to. */
  readonly conversation?: string;
}

export class ResponseArchive {
  private readonly responses: LRUCache<string, StoredResponse>;
  private readonly items = new Map<string, JsonObject>();
  /** By item: the reasoning item right before it. */
  private readonly reasoningByItem = new Map<string, string>();
  /** By conversation. */
  private readonly conversations = new Map<string, readonly JsonObject[]>();
  /** How often responses in the background still show as unfinished. */
  private readonly unfinished = new Map<string, number>();
  private readonly backgroundReads: number;

  /** @param backgroundReads how often a response in the background is unfinished when it is read */
  constructor(limit: number, backgroundReads = 0) {
    this.responses = new LRUCache<string, StoredResponse>({
      ...growingCapacity(limit),
      dispose: ({ response }, key, reason) => {
        if (reason === 'evict') this.removeItems(response, key);
      },
    });
    this.backgroundReads = backgroundReads;
  }

  /** The items before those of a request. */
  before(vendor: VendorName, { previous_response_id: previous, conversation }: ResponsesBody): readonly JsonObject[] {
    const id = typeof conversation === 'string' ? conversation : asString(conversation?.id);
    return this.get(vendor, previous ?? '')?.items ?? this.conversations.get(`${vendor} ${id}`) ?? [];
  }

  /** Reads a response. In the background, each read brings it closer to its end. */
  read(vendor: VendorName, id: string): JsonObject | undefined {
    const response = this.get(vendor, id)?.response;
    if (response?.background !== true) return response;
    const left = this.unfinished.get(id) ?? this.backgroundReads;
    this.unfinished.set(id, Math.max(0, left - 1));
    return left === 0 ? response : unfinishedForm(response, 'in_progress');
  }

  /** @returns undefined for a response that is not in the background */
  cancel(vendor: VendorName, id: string): JsonObject | undefined {
    const stored = this.get(vendor, id);
    if (stored?.response.background !== true) return undefined;
    const response = unfinishedForm(stored.response, 'cancelled');
    this.responses.set(`${vendor} ${id}`, { ...stored, response });
    this.unfinished.set(id, 0);
    return response;
  }

  get(vendor: VendorName, id: string): StoredResponse | undefined {
    return this.responses.get(`${vendor} ${id}`);
  }

  add(vendor: VendorName, stored: StoredResponse): void {
    this.responses.set(`${vendor} ${asString(stored.response.id)}`, stored);
    if (stored.conversation !== undefined) this.conversations.set(`${vendor} ${stored.conversation}`, stored.items);
    let before: JsonObject | undefined;
    for (const item of objectsIn(stored.response.output)) {
      const key = `${vendor} ${asString(item.id)}`;
      this.items.set(key, item);
      if (before?.type === 'reasoning') this.reasoningByItem.set(key, asString(before.id));
      before = item;
    }
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

  private removeItems(response: JsonObject, key: string): void {
    const [vendor = ''] = key.split(' ');
    for (const item of objectsIn(response.output)) {
      this.items.delete(`${vendor} ${asString(item.id)}`);
      this.reasoningByItem.delete(`${vendor} ${asString(item.id)}`);
    }
  }
}

/** A response whose output is not there yet. */
export function unfinishedForm(response: JsonObject, status: 'queued' | 'in_progress' | 'cancelled'): JsonObject {
  return { ...response, status, output: [], usage: null, completed_at: null };
}
